"""What a stranger meets: a pair to vote on at once, drawings in the first screen, and pages that are light."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from judging.models import Vote
from tests.browser.pages.test_content_policy import pages_of
from tests.browser.pages.words import DRAWINGS

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

PAGE_BYTES, SCRIPT_BYTES = 200_000, 30_000  # without pictures, before compression
SCREENS = {"desk": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}


def vote_count() -> int:
    return Vote.objects.count()


def test_a_stranger_votes_by_keyboard_and_sees_who_drew_it(page, live_server, world):
    before = vote_count()
    page.goto(live_server.url)
    first = page.locator("#practice-prompt").inner_text()
    expect(page.locator("#practice figcaption")).to_have_count(0)

    page.keyboard.press("a")

    expect(page.locator("#practice figcaption")).to_have_count(2)
    expect(page.locator("#practice-answer")).to_contain_text("You said: left.", use_inner_text=True)
    expect(page.locator("#practice .tile.chosen")).to_have_count(1)
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Both good")).to_be_visible()
    page.go_back()
    expect(page.locator("#practice-answer")).to_be_visible()
    page.go_back()
    expect(page.locator("#practice-prompt")).to_have_text(first)
    assert vote_count() == before


def test_a_double_click_does_not_skip_the_answer(page, live_server, world, two_frames):
    page.goto(live_server.url)
    page.get_by_role("button", name="Left is better").click()
    box = page.get_by_role("link", name="Next pair").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    page.mouse.down(click_count=2)  # the second click of two
    page.mouse.up(click_count=2)
    two_frames()

    expect(page.locator("#practice-answer")).to_be_visible()
    page.get_by_role("link", name="Next pair").click()
    expect(page.get_by_role("button", name="Left is better")).to_be_visible()


def test_going_back_counts_even_while_the_next_pair_is_on_its_way(page, live_server, world, two_frames):
    page.goto(live_server.url)
    prompt, held = page.locator("#practice-prompt").inner_text(), []
    page.get_by_role("button", name="Left is better").click()
    expect(page.locator("#practice-answer")).to_be_visible()
    page.route("**/?pair=*", lambda route: held.append(route))
    with page.expect_request("**/?pair=*"):
        page.keyboard.press("Space")

    page.evaluate("history.back()")
    expect(page.get_by_role("button", name="Left is better")).to_be_visible()
    with page.expect_response("**/?pair=*"):
        held[0].continue_()
    two_frames()

    assert page.locator("#practice-prompt").inner_text() == prompt
    expect(page.get_by_role("button", name="Left is better")).to_be_visible()


def test_keys_do_nothing_while_a_field_or_a_large_drawing_has_them(page, live_server, world):
    page.goto(live_server.url)
    page.get_by_role("button", name="Enlarge the left drawing").click()
    expect(page.get_by_role("dialog")).to_be_visible()

    page.keyboard.press("a")

    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Both good")).to_be_visible()


def test_a_phone_says_top_and_bottom_and_shows_no_keys(page, live_server, world):
    page.set_viewport_size(SCREENS["phone"])
    page.goto(live_server.url)

    expect(page.get_by_role("button", name="Top is better")).to_be_visible()
    expect(page.locator(".keys kbd").first).to_be_hidden()
    page.get_by_role("button", name="Bottom is better").click()
    expect(page.locator("#practice-answer")).to_contain_text("You said: bottom.", use_inner_text=True)
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("link", name="About the numbers").first).to_be_visible()


def test_it_works_without_script(browser, live_server, world):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(live_server.url)

    page.get_by_role("button", name="Both bad").click()

    expect(page.locator("#practice-answer")).to_contain_text("You said: both bad.")
    page.get_by_role("link", name="Next pair").click()
    expect(page.get_by_role("button", name="Both bad")).to_be_visible()
    context.close()


def test_the_chosen_theme_stays_and_drawings_keep_their_paper(page, live_server, world):
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(live_server.url)
    paper = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    light, stage = page.evaluate(paper.format("body")), page.evaluate(paper.format(".two .tile"))

    page.get_by_role("button", name="Switch to dark").click()
    page.reload()

    assert page.evaluate(paper.format("body")) != light
    assert page.evaluate(paper.format(".two .tile")) == stage == "rgb(255, 255, 255)"
    expect(page.get_by_role("button", name="Switch to light")).to_be_visible()


def weigh(page, url: str) -> dict[str, int]:
    page.goto(url)
    return loaded_bytes(page)


def loaded_bytes(page) -> dict[str, int]:
    """What the page has loaded, by kind, as it is before compression; pictures are left out."""
    weights: dict[str, int] = {}
    for entry in page.evaluate(
        """[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
           .map((entry) => [entry.initiatorType, entry.name.split("?")[0], entry.decodedBodySize])"""
    ):
        kind, name, size = entry
        if not (kind == "img" or name.endswith((".png", ".svg", "/picture/", "/left/", "/right/"))):
            weights["script" if name.endswith(".js") else "page"] = (
                weights.get("script" if name.endswith(".js") else "page", 0) + size
            )
    return weights


@pytest.mark.parametrize(("role", "number"), [("anonymous", 0), ("judge", 1)])
def test_no_page_is_heavy(page, live_server, log_in, world, role, number):
    if world["users"][role]:
        log_in(world["users"][role])
    weights = {name: weigh(page, live_server.url + path) for name, path in pages_of(number, world).items()}

    assert {name: sizes for name, sizes in weights.items() if sizes.get("script", 0) > SCRIPT_BYTES} == {}
    assert {name: sizes for name, sizes in weights.items() if sum(sizes.values()) > PAGE_BYTES} == {}
    assert all(sizes["page"] > 5_000 for sizes in weights.values()), "it was measured"


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_drawing_is_in_the_first_screen(page, live_server, world, screen):
    page.set_viewport_size(SCREENS[screen])
    addresses = ["home", "drawings", "ranking:leaderboards"]
    paths = [reverse(name) for name in addresses] + [
        reverse("gallery:gallery", args=[world["closed"]]),
        reverse("gallery:sample", args=[world["closed_sample"]]),
        reverse("ranking:embed", args=[world["closed"]]),
    ]
    below = {}
    for path in paths:
        page.goto(live_server.url + path)
        box = page.locator(DRAWINGS).first.bounding_box()
        if box is None or box["y"] >= SCREENS[screen]["height"]:
            below[path] = box

    assert below == {}
