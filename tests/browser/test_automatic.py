"""Automatic leaderboards, galleries and competitions in a browser: accessible, in width, with every picture loaded."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from ranking.fitting import fit_run
from tests.ranking.answered_run import make_answered_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pixels():
    run = make_answered_run(attempts=1)
    fit_run(run)
    return run


@pytest.fixture
def birds():
    run = make_answered_run("science-birds", prompts=["A", "C"], attempts=2)
    fit_run(run)
    return run


def load_pictures(page):
    """Lazy pictures too: each is scrolled to, and says whether it could be shown."""
    for picture in page.locator("main img:visible").all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("image => image.naturalWidth") > 0


def test_pixel_art_pages(page, live_server, pixels, axe):
    page.goto(f"{live_server.url}/runs/{pixels.code}/leaderboard/")
    expect(page.locator("svg.parts")).to_have_count(5)
    assert axe() == []

    page.get_by_role("navigation", name="Leaderboard").get_by_role("link", name="Drawings", exact=True).click()
    expect(page.locator(".shelf")).to_have_count(7)
    load_pictures(page)
    assert axe() == []

    page.locator("a.tile").last.click()
    expect(page.get_by_text("Points earned and lost")).to_be_visible()
    assert axe() == []


def test_a_competition_down_to_the_fall_of_a_level(page, live_server, birds, axe):
    page.goto(f"{live_server.url}/runs/{birds.code}/leaderboard/")
    page.get_by_text("What each letter weighs").click()
    assert axe() == []

    page.get_by_role("link", name="rows-first").first.click()
    load_pictures(page)
    assert axe() == []

    page.locator("a.before-after").first.click()
    page.locator("details.replay summary").click()
    load_pictures(page)
    assert page.locator("details.replay img").get_attribute("src").endswith("?variant=replay")
    assert axe() == []


def test_pages_are_accessible_and_keep_to_the_width(page, live_server, birds, pixels, look):
    program = birds.entrants.get(name="rows-first")
    paths = [
        "/",
        f"/runs/{pixels.code}/leaderboard/",
        f"/runs/{pixels.code}/gallery/",
        f"/gallery/{pixels.samples.last().code}/",
        f"/runs/{birds.code}/leaderboard/",
        f"/runs/{birds.code}/programs/{program.code}/",
        f"/gallery/{birds.samples.filter(verdict='valid').first().code}/",
    ]

    for path in paths:
        page.goto(live_server.url + path)
        if path == "/":
            expect(
                page.get_by_role("link", name=re.compile("^Mario from Super Mario Bros by Demo (Master|Journeyman)$"))
            ).to_be_visible()
        assert look() == [], path
        page.set_viewport_size({"width": 1024, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 1024, path
