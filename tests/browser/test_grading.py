"""Grading in a browser: a whole stage by keyboard, saving as one goes, resuming, aligning; and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from judging.grades.grading import standing_values
from judging.grades.sheets import next_item
from judging.models import Grade, GradeSheet
from tests.browser.test_judge import ring_overlap
from tests.judging.graded import grade_all, make_rubric_run, seat_with_list

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def judge(log_in):
    seat = seat_with_list(make_rubric_run(entrants=2, subjects=2, attempts=1))
    log_in(seat.judge)
    return seat


def stage_values(seat, stage):
    items = seat.grade_items.filter(stage=stage).order_by("order")
    return [[standing_values(item)[key] for key in sorted(standing_values(item))] for item in items]


def test_a_whole_stage_is_graded_by_keyboard(page, live_server, judge, axe):
    page.goto(f"{live_server.url}/judge/{judge.run.code}/grades/")
    expect(page.locator("#slide-geometry")).to_be_focused()
    assert axe() == []

    for number in range(4):
        expect(page.locator("#count")).to_have_text(f"{number} of 12")
        expect(page.locator("#slide-geometry")).to_be_focused()
        page.keyboard.press("7")
        page.keyboard.press("Enter")
        page.keyboard.press("1")
        page.keyboard.press("0")
        page.keyboard.press("Tab")
        expect(page.locator("#slide-impression")).to_be_focused()
        page.keyboard.press("4")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")

    expect(page.locator(".stage-name")).to_have_text("Stage 2: signature and proportion")
    assert stage_values(judge, "s1") == [[10.0, 7.0, 4.5]] * 4  # color, geometry, impression


def test_what_was_typed_is_there_again_after_a_reload_and_can_be_undone(page, live_server, judge):
    page.goto(f"{live_server.url}/judge/{judge.run.code}/grades/")
    here = page.url
    page.keyboard.press("6")
    expect(page.locator("#saved")).to_have_text("Saved")

    page.reload()

    expect(page.locator("#value-geometry")).to_have_value("6")
    expect(page.locator("#slide-color")).to_be_focused()
    page.keyboard.press("z")
    expect(page.locator("#value-geometry")).to_have_value("")
    assert page.url == here
    assert Grade.objects.filter(withdrawn_at=None).count() == 0


def test_the_score_is_hidden_until_asked_for(page, live_server, judge):
    page.goto(f"{live_server.url}/judge/{judge.run.code}/grades/")
    expect(page.locator("#score")).to_be_hidden()
    for digit in "745":
        page.keyboard.press(digit)
        page.keyboard.press("Tab")

    page.keyboard.press("s")

    expect(page.locator("#score")).to_have_text("5.60 of 10")


def test_a_question_mark_opens_the_keys_and_its_ring_is_clear_of_them(page, live_server, judge):
    page.goto(f"{live_server.url}/judge/{judge.run.code}/grades/")
    expect(page.locator("#slide-geometry")).to_be_focused()

    page.keyboard.press("?")

    expect(page.locator("#keys-box kbd").first).to_be_visible()
    assert ring_overlap(page, "#keys-box") <= 0


@pytest.mark.provokes("net::ERR_INTERNET_DISCONNECTED")
def test_grades_wait_for_the_connection(page, live_server, judge):
    page.goto(f"{live_server.url}/judge/{judge.run.code}/grades/")
    page.context.set_offline(True)
    page.keyboard.press("8")
    expect(page.locator("#notice")).to_contain_text("No connection")

    page.context.set_offline(False)

    expect(page.locator("#saved")).to_have_text("Saved")
    assert standing_values(next_item(judge)) == {"geometry": 8.0}


def test_align_regrades_at_once(page, live_server, judge, axe):
    grade_all(judge, lambda item, key: 5.0)
    page.goto(f"{live_server.url}/judge/{judge.run.code}/grades/align/s1/")
    expect(page.locator(".cards li")).to_have_count(4)
    assert axe() == []
    brand, title = (page.locator(part).bounding_box() for part in (".masthead .brand", "main h1"))
    assert abs(brand["x"] - title["x"]) < 1, "it lines up with the masthead"
    card = page.locator(".cards li").first

    card.get_by_label("Geometry").fill("9")
    with page.expect_response("**/save/"):
        card.get_by_label("Geometry").press("Tab")

    expect(card.locator(".total")).to_have_text("6.60")
    expect(page.locator("#undo input[name=step]")).to_have_value(str(GradeSheet.objects.get().steps))
    assert Grade.objects.exclude(withdrawn_at=None).count() == 1


@pytest.mark.parametrize("width", [360, 1024])
def test_pages_do_not_scroll_sideways_and_the_form_works_without_script(browser, live_server, judge, client, width):
    context = browser.new_context(java_script_enabled=False, viewport={"width": width, "height": 740})
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{live_server.url}/judge/{judge.run.code}/grades/")
    for name in ("Geometry", "Colour", "Impression"):
        page.get_by_role("spinbutton", name=name).fill("3.5")

    page.get_by_role("button", name="Save and next").click()

    expect(page.locator("#count")).to_have_text("1 of 12")
    context.close()
    scripted = browser.new_context(viewport={"width": width, "height": 740})
    scripted.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = scripted.new_page()
    for path in (f"/judge/{judge.run.code}/grades/", f"/judge/{judge.run.code}/grades/align/s1/", "/judge/"):
        page.goto(live_server.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    scripted.close()
