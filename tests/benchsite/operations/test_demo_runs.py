"""What a new site shows: demo runs, drawn, judged by simulated judges, ranked and published."""

from __future__ import annotations

import json
from base64 import b64encode
from random import Random

import pytest
from django.conf import settings

from benchsite.front.practice import practice_of
from benchsite.operations import demo_runs
from benchsite.operations.accounts import create_first_logins
from generation.demo.judges import Habits, finish_of, judge_pictures
from generation.drawing.pictures import SIDE
from generation.runs.lifecycle import start_run
from generation.suites.demo_sizes import load_demo
from ranking.simulated.judges import make_finish
from ranking.simulated.model_judges import add_simulated_model_judges
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


def test_two_simulated_model_judges_look_at_it_too_and_are_added_once(run):
    demo_runs.show_demo_run(run)
    add_simulated_model_judges(run, wanted=5)

    judges = run.model_judges.all()
    assert sorted(judge.models.get().model_id for judge in judges) == ["demo/critic", "demo/flatterer"]
    assert all(judge.is_demo and judge.visibility == "private" for judge in judges)


def test_simulated_people_and_model_judges_see_the_same_finish(run):
    """What both go by belongs to a picture, and evens out for each entrant: the ranking stays the players' own."""
    finish = make_finish(run, 2.0)
    samples = {sample.pk: sample for sample in run.samples.judgeable()}
    assert finish.keys() == samples.keys()
    by_entrant = {}
    for pk, value in finish.items():
        by_entrant.setdefault(samples[pk].entrant_id, []).append(value)
    assert all(abs(sum(values)) < 1e-9 for values in by_entrant.values())

    pictures = {pk: run.drawing_format.png(sample.drawing, side=SIDE) for pk, sample in samples.items()}
    one, other = sorted(pictures, key=lambda pk: finish_of(pictures[pk]))[:: len(pictures) - 1]
    shown = ["data:image/png;base64," + b64encode(pictures[pk]).decode() for pk in (one, other)]
    answers = [
        json.loads(judge_pictures(Habits(skill=1.0), pair, Random(1)))["answer"] for pair in (shown, shown[::-1])
    ]
    assert answers == ["B", "A"]  # the better finished one, wherever it stands


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


def test_a_run_that_is_meant_to_be_finished_shows_its_drawings_from_the_start(run, client):
    assert load_demo(settings.SUITES_DIR / "demo.yaml").size_of("svg-arena").finished
    run.suite = "svg-arena"
    run.save(update_fields=["suite"])

    demo_runs.show_demo_run(run)

    run.refresh_from_db()
    assert (run.visibility, run.judging_state) == ("published", "closed")
    assert not run.seats.filter(is_simulated=False).exists(), "judges have nothing to do there"
    assert client.get(f"/runs/{run.code}/gallery/").status_code == 200
    assert practice_of({}).pair.run == run
