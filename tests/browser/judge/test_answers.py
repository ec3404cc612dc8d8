"""Skip, reveal, marks and enlarging on the judge's page in a real browser: keyboard, touch, double click, back, two tabs, no script."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from generation.models import Entrant
from judging.models import Matchup, Vote
from tests.browser.judge.conftest import sit
from tests.browser.test_judge import on_screen, press, ready, settle

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_waiting")]


@pytest.fixture
def telling_url(log_in, live_server):
    """The page of a run that shows names after each vote."""
    return sit(log_in, live_server, reveal="after_vote")


def skipped():
    return list(Matchup.objects.filter(state="skipped").order_by("skipped_at").values_list("code", flat=True))


def test_space_skips_and_undo_brings_the_pair_back(page, judge_url):
    page.goto(judge_url)
    first = press(page, "a")
    second = press(page, " ")
    expect(page.locator("#said")).to_have_text("Skipped the last pair.")
    settle(page, 1)
    assert skipped() == [second]

    page.keyboard.press("z")
    expect(page.locator(".pair")).to_have_attribute("data-code", second)
    expect(page.locator("#said")).to_have_text("The skipped pair is back. Before it you voted left.")
    page.keyboard.press("z")
    expect(page.locator(".pair")).to_have_attribute("data-code", first)

    assert skipped() == []
    assert Vote.objects.filter(withdrawn_at=None).count() == 0


@pytest.mark.provokes("409 (Conflict)")
def test_a_stacked_page_says_top_where_the_server_says_left(page, judge_url):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(judge_url)
    ready(page)
    other = page.context.new_page()
    other.goto(judge_url)
    ready(other)
    press(page, "a")
    settle(page, 1)

    other.set_viewport_size({"width": 390, "height": 844})
    other.keyboard.press("d")

    expect(other.locator("#notice")).to_contain_text("You already voted differently on that pair")
    expect(other.locator("#said")).to_have_text("Voted top on the last pair.")


def test_space_skips_once_after_a_click_and_presses_a_button_chosen_by_keyboard(page, judge_url):
    page.goto(judge_url)
    ready(page)
    before = on_screen(page)
    page.locator("button[value=left]").click()
    expect(page.locator(".pair")).not_to_have_attribute("data-code", before)
    settle(page, 1)
    passed = press(page, " ")  # the button that was clicked has the focus
    expect(page.locator("#said")).to_have_text("Skipped the last pair.")
    assert skipped() == [passed]

    ready(page)
    page.keyboard.press("Tab")
    page.locator("button[value=right]").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    voted = press(page, " ")
    settle(page, 2)

    assert Vote.objects.get(matchup__code=voted).outcome == "right"


@pytest.mark.provokes("409 (Conflict)")
def test_the_limit_is_said_and_the_pair_stays(page, judge_url):
    page.goto(judge_url)
    for _ in range(5):
        ready(page)
        press(page, " ")
        expect(page.locator("#said")).to_have_text("Skipped the last pair.")
    ready(page)
    page.wait_for_load_state("networkidle")
    stays = on_screen(page)
    page.keyboard.press(" ")

    expect(page.locator("#notice")).to_contain_text("You can skip 5 pairs, and one more for every 5 votes")
    expect(page.locator(".pair")).to_have_attribute("data-code", stays)
    ready(page)
    assert len(skipped()) == 5


@pytest.mark.provokes("409 (Conflict)")
def test_a_pair_skipped_in_another_tab_is_not_voted_on(page, judge_url):
    page.goto(judge_url)
    other = page.context.new_page()
    other.goto(judge_url)
    gone = press(page, " ")
    expect(page.locator("#said")).to_have_text("Skipped the last pair.")
    ready(other)
    other.keyboard.press("a")

    expect(other.locator("#notice")).to_contain_text("You skipped this pair")
    expect(other.locator(".pair")).to_have_attribute("data-code", on_screen(page))
    assert (skipped(), Vote.objects.count()) == ([gone], 0)


def test_marks_of_a_vote_that_was_undone_are_there_again(page, judge_url):
    page.goto(judge_url)
    ready(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("2")
    voted = press(page, "a")
    settle(page, 1)
    assert page.locator("#marks input:checked").count() == 0

    page.keyboard.press("z")

    expect(page.locator(".pair")).to_have_attribute("data-code", voted)
    expect(page.locator("#marks input:checked")).to_have_count(1)
    expect(page.locator("#marks [name=right_breaks][value='2']")).to_be_checked()


def test_names_are_shown_on_the_drawings_and_space_goes_on(page, telling_url, axe):
    page.goto(telling_url)
    ready(page)
    shown = on_screen(page)
    page.keyboard.press("d")
    names = page.locator(".drawn-by")
    expect(names).to_have_count(2)
    page.keyboard.press("q")  # any key stays

    matchup = Matchup.objects.get(code=shown)
    assert names.all_text_contents() == [matchup.left.label, matchup.right.label]
    assert page.locator(".half.voted").get_attribute("data-side") == "right"
    assert on_screen(page) == shown
    assert axe() == []
    page.keyboard.press("a")  # no vote on a pair that was voted on
    page.keyboard.press(" ")

    expect(page.locator(".pair")).not_to_have_attribute("data-code", shown)
    expect(names).to_have_count(0)
    expect(page.locator("#undo")).to_be_hidden()
    assert Vote.objects.count() == 1


def test_the_next_pair_follows_by_itself_and_a_skip_tells_no_name(page, telling_url):
    page.goto(telling_url)
    passed = press(page, " ")
    expect(page.locator("#said")).to_have_text("Skipped the last pair.")
    assert page.locator(".drawn-by").count() == 0
    labels = Entrant.objects.values_list("label", flat=True)
    assert [label for label in labels if label in page.content()] == []

    press(page, "a")  # waits for the next pair, which comes after two seconds
    settle(page, 1)

    assert skipped() == [passed]
    assert Vote.objects.get().unblind


def test_a_click_shows_a_drawing_alone_and_no_key_votes_meanwhile(page, judge_url):
    page.goto(judge_url)
    ready(page)
    shown = on_screen(page)
    left, right = (page.locator(f".half[data-side={side}] .art").first for side in ("left", "right"))
    left.click()
    alone = page.locator("dialog .art")
    expect(alone).to_have_text(left.text_content())
    page.keyboard.press("a")
    page.keyboard.press("ArrowRight")
    expect(alone).to_have_text(right.text_content())
    page.keyboard.press(" ")

    expect(page.locator("dialog")).to_be_hidden()
    assert on_screen(page) == shown
    assert (Vote.objects.count(), skipped()) == (0, [])


def test_on_a_phone_words_say_top_and_bottom_and_a_tap_skips(browser, judge_url, page):
    phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone.add_cookies(page.context.cookies())
    screen = phone.new_page()
    screen.goto(judge_url)
    ready(screen)
    keys = screen.locator(".keys button:visible")
    assert [text.strip() for text in keys.all_inner_texts()] == [
        "Top is better",
        "Both good",
        "Bottom is better",
        "Both bad",
        "Skip",
    ]
    screen.get_by_role("button", name="Help").tap()
    screen.get_by_role("button", name="Report", exact=True).tap()
    expect(screen.get_by_text("A tie: both are good")).to_be_visible()
    assert screen.locator("kbd:visible").count() == 0
    assert screen.get_by_label("Which drawing").locator("option").all_inner_texts() == ["top", "bottom", "both"]
    assert screen.evaluate("document.documentElement.scrollWidth") <= 390
    before = on_screen(screen)

    screen.get_by_role("button", name="Skip").tap()
    expect(screen.locator(".pair")).not_to_have_attribute("data-code", before)
    ready(screen)
    screen.get_by_role("button", name="Top is better").tap()
    settle(screen, 1)

    expect(screen.locator("#said")).to_have_text("Voted top on the last pair.")
    assert skipped() == [before]
    assert Vote.objects.get().outcome == "left"
    phone.close()


def test_without_script_a_pair_can_be_skipped_and_taken_up_again(browser, judge_url, page):
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies(page.context.cookies())
    screen = plain.new_page()
    screen.goto(judge_url)
    before = on_screen(screen)

    screen.get_by_role("button", name="Skip").click()
    expect(screen.locator("#said")).to_have_text("Skipped the last pair.")
    assert skipped() == [before]
    screen.get_by_role("button", name="Undo (the last answer)").click()

    expect(screen.locator(".pair")).to_have_attribute("data-code", before)
    plain.close()


def test_on_a_phone_both_pictures_are_above_the_keys(page, picture_url):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(picture_url)
    ready(page)
    lower, keys = (page.locator(place).bounding_box() for place in (".half[data-side=right] img", ".ballot"))

    assert lower["height"] >= 200
    assert lower["y"] + lower["height"] <= keys["y"]
