"""What a new site shows: demo runs, drawn, judged by simulated judges, ranked and published."""

from __future__ import annotations

import pytest

from benchsite.operations import demo_runs
from benchsite.operations.accounts import create_first_logins
from generation.runs.lifecycle import start_run
from tests.generation.drawing_room import draw_some, make_suite

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(demo, tmp_path, settings):
    settings.DEMO_VOTES = 6
    settings.DEMO_JUDGES = 2
    demo()
    create_first_logins(tmp_path / "logins.txt")
    run = start_run(make_suite())
    draw_some(run)
    return run


def test_a_drawn_demo_run_is_judged_ranked_and_published(run):
    assert demo_runs.still_drawing([run]) == 0

    assert demo_runs.show_demo_run(run)

    run.refresh_from_db()
    assert (run.visibility, run.judging_state) == ("published", "open")
    assert run.votes.filter(seat__is_simulated=True).count() == 6
    assert run.fits.filter(protocol="pairwise").exists()


def test_the_first_judges_can_vote_at_once(run):
    demo_runs.show_demo_run(run)

    people = run.seats.filter(is_simulated=False).values_list("judge__username", flat=True)
    assert sorted(people) == ["judge1", "judge2", "judge3"]


def test_it_happens_once_so_that_a_curators_changes_stay(run):
    demo_runs.show_demo_run(run)
    run.visibility = "private"
    run.save(update_fields=["visibility"])

    assert not demo_runs.show_demo_run(run)

    run.refresh_from_db()
    assert run.visibility == "private"
