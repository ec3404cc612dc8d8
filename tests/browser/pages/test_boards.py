"""The four kinds of boards, as a visitor meets them: a table first, few words, and a drawing in the first screen."""

from __future__ import annotations

import pytest
from django.urls import reverse

from generation.models import Run
from ranking.fitting import fit_run
from tests.browser.pages.test_face import SCREENS
from tests.browser.pages.words import COUNT, DRAWINGS
from tests.ranking.answered_run import make_answered_run
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

WORDS = 150  # with a letter in them, within the first screen; what is folded or in a closed list is not in it
BOARDS = {
    "pairwise": lambda: make_voted_run(votes=126),
    "rubric": lambda: make_graded_run(subjects=1),
    "automatic": lambda: make_answered_run(attempts=1),
    "competition": lambda: make_answered_run("science-birds", prompts=["A", "C"], attempts=2),
}


@pytest.fixture(params=BOARDS)
def board(request):
    run = BOARDS[request.param]()
    Run.objects.update(visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED)
    run.refresh_from_db()
    fit_run(run)
    return run


def test_a_board_has_few_words_and_a_drawing_above_the_fold(page, live_server, board):
    wordy, below = {}, {}
    for screen, size in SCREENS.items():
        page.set_viewport_size(size)
        page.goto(live_server.url + reverse("ranking:leaderboard", args=[board.code]))
        words = page.evaluate(COUNT)
        if not 20 < len(words) <= WORDS:
            wordy[screen] = (len(words), words)
        box = page.locator(f".leaderboard :is({DRAWINGS})").first.bounding_box()
        if box["y"] + box["height"] > size["height"]:
            below[screen] = box

    assert (wordy, below) == ({}, {})


@pytest.mark.parametrize("screen", SCREENS)
def test_every_page_of_a_finished_run_shows_a_drawing_at_once(page, live_server, screen):
    run = make_voted_run(votes=126)
    Run.objects.update(visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED)
    run.refresh_from_db()
    fit_run(run)
    page.set_viewport_size(SCREENS[screen])
    entrant, prompt = run.entrants.first(), run.prompts.first()
    below, charts = {}, []
    for path in (
        *(reverse(f"ranking:{name}", args=[run.code]) for name in ("versus", "history", "judges")),
        reverse("ranking:frontier", args=[run.code, "pairwise"]),
        reverse("ranking:votes", args=[run.code]),
        reverse("ranking:entrant", args=[run.code, entrant.code]),
        reverse("gallery:prompts", args=[run.code]),
        reverse("gallery:prompt", args=[run.code, prompt.code]),
    ):
        page.goto(live_server.url + path)
        box = page.locator(f"main :is({DRAWINGS})").first.bounding_box()
        if box["y"] >= SCREENS[screen]["height"]:
            below[path] = box
        charts += [chart.bounding_box()["width"] for chart in page.locator(".tips > svg.chart:visible").all()]

    assert below == {}
    assert len(charts) >= 1 and max(charts) <= SCREENS[screen]["width"], "no chart is wider than the phone"


def test_a_long_title_keeps_clear_of_the_drawings_beside_it(page, live_server):
    run = make_voted_run(votes=126)
    Run.objects.update(
        title="A title of some sixty characters, which needs a second line",
        visibility=Run.Visibility.PUBLISHED,
        judging_state=Run.Judging.CLOSED,
    )
    run.refresh_from_db()
    fit_run(run)
    page.set_viewport_size(SCREENS["desk"])
    page.goto(live_server.url + reverse("ranking:history", args=[run.code]))

    state, strip = (page.locator(one).first.bounding_box() for one in ("h1 .tag", ".head-strip"))

    assert state["x"] + state["width"] < strip["x"]
