"""The rubric's leaderboard in a browser: readable by everybody, on a phone too, and a point leads to its picture."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from generation.models import Run
from ranking.fitting import fit_run
from tests.ranking.graded_run import make_graded_run

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_board_is_accessible_fits_a_phone_and_leads_to_pictures(page, live_server, axe):
    run = make_graded_run(subjects=1)
    Run.objects.update(visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED)
    fit_run(run)
    page.goto(f"{live_server.url}/runs/{run.code}/leaderboard/")
    assert axe() == []
    expect(page.locator("svg.chart title").first).to_have_text("Anchors against visual score")

    page.get_by_role("heading", name="Anchors against visual score").click()
    assert axe() == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("svg.chart a").last.click()

    expect(page.locator("main img").first).to_be_visible()
