"""The planner on pages: sensible defaults, a plain form, the same numbers as the command."""

from __future__ import annotations

import pytest
from django.urls import reverse

from ranking.fitting import fit_run
from ranking.statistics.verdicts.planner import Study, plan_study
from tests.judging.make import make_curator, make_run
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db

STUDY = {"entrants": 8, "judges": 20, "votes": 100, "prompts": 20, "seconds": 10, "spread": 280}


@pytest.fixture
def curator(client):
    client.force_login(make_curator())
    return client


def text_of(response):
    return " ".join(response.content.decode().split())


def test_the_page_says_what_the_formulas_say(curator):
    page = text_of(curator.get(reverse("ranking:plan"), STUDY))

    outlook = plan_study(Study(entrants=8, judges=20, votes_each=100, prompts=20))
    assert f"<strong>±{outlook.width / 2:.0f} points</strong>" in page
    assert f"<strong>{100 * outlook.separates:.0f}%</strong>" in page
    assert "2,000 votes take about" in page and "twice the judges" in page
    assert "costs up to" not in page


def test_costs_follow_entrants_prompts_and_attempts(curator):
    page = text_of(curator.get(reverse("ranking:plan"), STUDY | {"attempts": 2, "answer_nano": 10**7}))

    assert "Drawing 320 answers costs up to US$3.20, at US$0.0100 each." in page


def test_a_part_is_the_outlook_alone(curator):
    page = text_of(curator.get(reverse("ranking:plan"), STUDY | {"part": "outlook"}))

    assert "data-outlook" in page and "<form" not in page and "<html" not in page


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [("entrants", 1, "greater than or equal to 2"), ("judges", "many", "whole number"), ("spread", "nan", "a number")],
)
def test_what_is_no_study_is_named(curator, field, value, words):
    page = text_of(curator.get(reverse("ranking:plan"), STUDY | {field: value}))

    assert "There is no plan for these numbers" in page and words in page


def test_more_votes_than_pairs_and_one_judge_are_pointed_out(curator):
    page = text_of(curator.get(reverse("ranking:plan"), STUDY | {"entrants": 2, "prompts": 3, "judges": 1}))

    assert "there are only 3 pairs of drawings: nobody can cast 100 votes" in page
    assert "holds for that judge only" in page


def test_the_start_page_plans_its_suite(curator):
    page = text_of(curator.get(reverse("generation:start", args=["ascii"])))

    assert "Plan the judging" in page and "costs up to US$" in page and "There is no plan" not in page


def test_a_suite_that_nobody_votes_on_has_no_planner(curator):
    assert "Plan the judging" not in text_of(curator.get(reverse("generation:start", args=["pixel-art-lite"])))


def test_the_judging_page_plans_from_the_run(curator):
    run = make_voted_run(votes=600, judges=6)
    fit_run(run)

    page = text_of(curator.get(reverse("judging:overview", args=[run.code])))

    fit = run.fits.filter(kind="full").latest("read_at")
    ratings = [row["rating"] for row in fit.result["overall"]]
    assert f'name="entrants" value="{len(ratings)}"' in page
    assert 'name="judges" value="6"' in page and 'name="votes" value="101"' in page  # a repeat each
    assert f'name="spread" value="{max(ratings) - min(ratings):.0f}"' in page


def test_a_run_without_votes_has_a_plan_too(curator):
    run = make_run(entrants=3, prompts=4, attempts=2)

    page = text_of(curator.get(reverse("judging:overview", args=[run.code])))

    assert 'name="entrants" value="3"' in page and 'name="judges" value="10"' in page and "points</strong>" in page
