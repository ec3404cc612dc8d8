"""The judge's page in a real browser: keys, prefetch, undo, tabs, lost connections, no script, a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from generation.models import Run, Sample
from judging.models import Matchup, Report, Vote
from judging.serving import take_seat
from judging.tallies import differences
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db(transaction=True)
KEYS = {"a": "left", "d": "right", "s": "tie", "f": "fail"}


@pytest.fixture
def seat(log_in):
    run = make_run(entrants=4, prompts=6, attempts=2)
    seat = make_seat(run, "alice", quota=40)
    take_seat(seat.pk)
    log_in(seat.judge)
    return seat


@pytest.fixture
def judge_url(seat, live_server):
    return f"{live_server.url}/judge/{seat.run.code}/"


def on_screen(page):
    return page.locator(".pair").get_attribute("data-code")


def ready(page):
    """The script runs, and the pair is drawn."""
    expect(page.locator("main.scripted button[value=left]")).to_be_enabled()


def press(page, key):
    """Press a key once the pair is drawn, and wait for the next pair; votes 300 ms apart, as the server asks."""
    before = on_screen(page)
    ready(page)
    page.wait_for_timeout(320)
    page.keyboard.press(key)
    expect(page.locator(".pair")).not_to_have_attribute("data-code", before)
    return before


def settle(page, count):
    expect(page.locator("#count")).to_have_text(f"{count} of 40")


def test_four_keys_vote_on_what_is_shown(page, judge_url, seat, complaints, axe):
    page.goto(judge_url)
    assert axe() == []
    said = {}
    for number, key in enumerate("adsf", start=1):
        said[press(page, key)] = KEYS[key]
        settle(page, number)

    votes = Vote.objects.select_related("matchup")
    assert {vote.matchup.code: vote.outcome for vote in votes} == said
    assert all(0 < vote.response_ms < 60_000 for vote in votes)
    expect(page.locator("#said")).to_have_text("Voted both bad")
    assert complaints == []
    assert differences(seat.run) == 0


def test_the_next_pair_is_there_in_the_same_frame(page, judge_url, seat):
    """Prefetched: with the network cut, the next pair still appears before the next frame is painted."""
    page.goto(judge_url)
    press(page, "a")
    settle(page, 1)
    ready(page)
    page.route("**/judge/vote/", lambda route: route.abort())

    changed = page.evaluate(
        """() => {
            const before = document.querySelector(".pair").dataset.code;
            document.querySelector("button[value=left]").click();
            return new Promise((done) => requestAnimationFrame(
                () => done(document.querySelector(".pair").dataset.code !== before)));
        }"""
    )

    assert changed is True


def test_undo_goes_back_and_forward_again(page, judge_url, seat):
    page.goto(judge_url)
    first, second = press(page, "a"), press(page, "d")
    settle(page, 2)

    page.keyboard.press("z")
    expect(page.locator(".pair")).to_have_attribute("data-code", second)
    page.keyboard.press("z")
    expect(page.locator(".pair")).to_have_attribute("data-code", first)
    settle(page, 0)
    assert press(page, "f") == first
    assert press(page, "f") == second
    settle(page, 2)

    assert list(Vote.objects.filter(withdrawn_at=None).values_list("outcome", flat=True)) == ["fail", "fail"]
    assert Vote.objects.count() == 4


def test_two_tabs_show_the_same_pair_and_count_it_once(page, judge_url, seat):
    page.goto(judge_url)
    other = page.context.new_page()
    other.goto(judge_url)
    shown = on_screen(page)
    assert on_screen(other) == shown

    press(page, "a")
    settle(page, 1)
    ready(other)
    other.keyboard.press("d")

    expect(other.locator("#notice")).to_contain_text("You voted “left is better” on that pair")
    expect(other.locator("#said")).to_have_text("Voted left")
    expect(other.locator(".pair")).to_have_attribute("data-code", on_screen(page))
    assert Vote.objects.get().outcome == "left"


def test_a_lost_connection_keeps_the_vote_and_sends_it_once(page, judge_url, seat):
    page.goto(judge_url)
    page.wait_for_load_state("networkidle")
    page.route("**/judge/vote/", lambda route: route.abort())
    shown = press(page, "a")
    expect(page.locator("#notice")).to_contain_text("No connection. Your vote is kept")
    assert Vote.objects.count() == 0

    page.unroute("**/judge/vote/")

    settle(page, 1)
    expect(page.locator("#notice")).to_be_hidden()
    assert Vote.objects.get().matchup.code == shown


def test_an_answer_lost_on_its_way_back_does_not_double_the_vote(page, judge_url, seat):
    page.goto(judge_url)
    page.wait_for_load_state("networkidle")
    lost = []

    def lose_the_answer(route):
        if not lost:
            lost.append(route.fetch())  # the server takes the vote in; the page never hears of it
            route.abort()
        else:
            route.continue_()

    page.route("**/judge/vote/", lose_the_answer)
    press(page, "a")

    settle(page, 1)
    assert lost[0].status == 200
    assert Vote.objects.count() == 1


def test_key_repeat_modifiers_and_typing_do_not_vote(page, judge_url, seat):
    page.goto(judge_url)
    ready(page)
    for combination in ("Control+a", "Alt+d", "Meta+s", "Shift+F"):
        page.keyboard.press(combination)
    page.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'a', repeat: true, bubbles: true}))")
    page.keyboard.press("x")
    page.locator("#report [name=note]").fill("")
    page.locator("#report [name=note]").press_sequentially("adsf")

    page.wait_for_timeout(200)
    assert Vote.objects.count() == 0
    assert page.locator("#report [name=note]").input_value() == "adsf"


def test_reports_and_marks_by_keyboard(page, judge_url, seat):
    page.goto(judge_url)
    ready(page)
    reported = on_screen(page)
    page.keyboard.press("x")
    page.locator("#report [name=reason]").select_option("signed")
    page.locator("#report button").click()
    expect(page.locator(".pair")).not_to_have_attribute("data-code", reported)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("2")
    page.keyboard.press("3")
    press(page, "a")
    settle(page, 1)

    assert Report.objects.get().matchup.code == reported
    assert (Vote.objects.get().left_breaks, Vote.objects.get().right_breaks) == (0, 0b110)
    assert page.locator("#marks input:checked").count() == 0


def test_help_and_zoom(page, judge_url, seat):
    page.goto(judge_url)
    ready(page)
    size = "parseFloat(getComputedStyle(document.querySelector('.art')).fontSize)"
    before = page.evaluate(size)

    page.keyboard.press("+")
    assert page.evaluate(size) > before
    page.keyboard.press("?")
    expect(page.get_by_text("A tie: both are good")).to_be_visible()


def test_voting_unlocks_only_when_both_sides_are_drawn(page, live_server, log_in):
    run = make_run(format="svg")
    picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="{}"/></svg>'
    for sample in Sample.objects.all():
        Sample.objects.filter(pk=sample.pk).update(drawing=picture.format(sample.pk))
    seat = make_seat(run, "alice", quota=40)
    take_seat(seat.pk)
    log_in(seat.judge)
    held = []
    page.route("**/judge/pair/*/right/", lambda route: held.append(route))
    page.goto(f"{live_server.url}/judge/{run.code}/", wait_until="domcontentloaded")
    expect(page.locator("main.scripted")).to_be_visible()

    page.wait_for_timeout(300)
    expect(page.locator("button[value=left]")).to_be_disabled()
    page.keyboard.press("a")
    for route in held:
        route.continue_()
    page.unroute("**/judge/pair/*/right/")

    ready(page)
    assert Vote.objects.count() == 0
    press(page, "a")
    settle(page, 1)


def test_both_sides_get_one_scale_and_three_faces(page, judge_url, seat):
    Sample.objects.filter(pk__in=Matchup.objects.filter(state="open").values("left_sample")).update(
        drawing="\n".join(["#" * 150] * 50)
    )
    page.goto(judge_url)
    ready(page)

    sizes = page.evaluate("[...document.querySelectorAll('.art')].map((art) => getComputedStyle(art).fontSize)")
    widths = page.evaluate(
        "[...document.querySelectorAll('[data-side=left] .art')].map((art) => art.scrollWidth / 150)"
    )
    tops = page.evaluate("[...document.querySelectorAll('.art')].map((art) => art.getBoundingClientRect().top)")

    assert len(set(sizes)) == 1
    assert max(widths) - min(widths) < 0.1
    assert tops[:3] == tops[3:]
    assert page.evaluate("[...document.fonts].filter((face) => face.status === 'loaded').length") >= 3


def test_a_run_closed_while_looking_says_so(page, judge_url, seat):
    page.goto(judge_url)
    ready(page)
    page.wait_for_load_state("networkidle")
    Run.objects.update(judging_state="closed")

    page.keyboard.press("a")

    expect(page.get_by_text("Judging of this run is closed")).to_be_visible()
    assert Vote.objects.count() == 0


def test_without_script_the_forms_do_it_all(browser, live_server, client, seat, judge_url):
    client.force_login(seat.judge)
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.goto(judge_url)
    first = on_screen(page)

    page.locator("summary", has_text="Breaks in a font?").click()
    page.locator("[name=left_breaks][value='1']").check()
    page.get_by_role("button", name="left", exact=False).first.click()
    settle(page, 1)
    page.get_by_role("button", name="Undo").click()
    assert on_screen(page) == first
    page.locator("summary", has_text="Report this pair").click()
    page.get_by_role("button", name="Report and go on").click()
    expect(page.get_by_text("Curators will look at it")).to_be_visible()

    assert on_screen(page) != first
    assert Vote.objects.get().left_breaks == 1
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_cut_off(page, judge_url, seat, axe, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(judge_url)
    ready(page)

    left, right = (page.locator(f".half[data-side={side}]").bounding_box() for side in ("left", "right"))
    bar = page.locator(".ballot").bounding_box()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert right["y"] >= left["y"] + left["height"]
    assert bar["y"] + bar["height"] == 740
    assert all(box["height"] >= 44 for box in (b.bounding_box() for b in page.locator(".keys button").all()))
    assert axe() == []
    page.get_by_role("button", name="both bad").click()
    settle(page, 1)
