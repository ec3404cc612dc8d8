"""The leaderboard in a browser: it fits narrow screens, keeps the content policy, and speaks to everybody."""

from __future__ import annotations

import pytest
from django.urls import reverse

from generation.models import Run
from ranking.fitting import fit_run
from tests.judging.make import make_curator
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db(transaction=True)
PAGES = ("leaderboard", "judges", "history", "versus")


@pytest.fixture
def run():
    run = make_voted_run(votes=126)
    Run.objects.update(visibility=Run.Visibility.PUBLISHED)
    entrant = run.entrants.first()
    entrant.label = "A model with a very long name indeed, of sixty letters or so"
    entrant.save(update_fields=["label"])
    fit_run(run)
    return run


def address(live_server, name, run):
    return live_server.url + reverse(f"ranking:{name}", args=[run.code])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_and_draws_within_the_content_policy(page, live_server, run, axe, complaints, scheme):
    page.emulate_media(color_scheme=scheme)
    for name in PAGES:
        page.goto(address(live_server, name, run))
        assert axe() == [], name
    assert complaints == []


@pytest.mark.parametrize("width", [360, 1024])
def test_no_page_is_wider_than_the_screen(page, live_server, run, width):
    page.set_viewport_size({"width": width, "height": 800})
    for name in PAGES:
        page.goto(address(live_server, name, run))
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_intervals_are_drawn_in_their_rows(page, live_server, run):
    page.goto(address(live_server, "leaderboard", run))

    boxes = [dot.bounding_box() for dot in page.locator(".leaderboard .dot").all()]
    rows = [row.bounding_box() for row in page.locator(".leaderboard tbody tr").all()]
    assert len(boxes) == len(rows) == 4
    for dot, row in zip(boxes, rows, strict=True):
        middle = dot["y"] + dot["height"] / 2
        assert row["y"] < middle < row["y"] + row["height"]
    assert boxes[0]["x"] > boxes[-1]["x"]  # the best stands furthest to the right


def test_a_curator_freezes_a_leaderboard_and_gets_its_link(page, live_server, run, log_in):
    log_in(make_curator())
    page.goto(address(live_server, "leaderboard", run))

    page.get_by_text("Freeze and publish under a link of its own").click()
    page.get_by_label("Title").fill("Midterm")
    page.get_by_role("button", name="Freeze these numbers").click()

    page.wait_for_url("**/leaderboards/*/")
    assert page.get_by_role("heading", name="Midterm").is_visible()
