from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from benchmarks.numbers.ranking_coverage import study_of
from benchmarks.numbers.worlds import FieldWorld, simulate_field
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.verdicts.planner import plan_study

WORLDS = {
    "20 judges": FieldWorld(),
    "5 judges, 5 prompts": FieldWorld(judges=5, prompts=5),
    "few votes": FieldWorld(votes=600),
    "3 judges": FieldWorld(judges=3),
    "12 entrants": FieldWorld(theta=tuple(np.linspace(0.8, -0.8, 12)), votes=3000, judges=30),
}


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_realised_widths_are_within_a_tenth_of_the_plan(world):
    planned = plan_study(study_of(world)).width

    widths = []
    for seed in range(40):
        fit = fit_overall(tally_votes(simulate_field(world, seed=seed).votes), Settings())
        widths.append(np.median(2 * ELO * fit.spread.reach()))

    assert np.median(widths) == pytest.approx(planned, rel=0.1)


def test_more_judges_narrow_what_more_votes_cannot():
    plan = study_of(WORLDS["5 judges, 5 prompts"])

    now, votes, judges = (
        plan_study(p).width for p in (plan, replace(plan, votes_each=10 * plan.votes_each), replace(plan, judges=50))
    )

    assert judges < votes < now
    assert votes > 0.8 * now


def test_the_command_says_width_chance_and_hours(capsys):
    call_command("plan_study", entrants=8, judges=20, votes=100, prompts=20)

    output = capsys.readouterr().out
    assert "2,000 votes, about 5.6 hours of judging" in output
    assert "points wide" in output and "chance of" in output


def test_the_command_says_what_drawing_costs_and_takes_assumptions(capsys):
    study = {"entrants": 8, "judges": 20, "votes": 100, "prompts": 20}
    call_command("plan_study", **study, attempts=2, answer_cost=0.01)
    usual = capsys.readouterr().out
    call_command("plan_study", **study, judge_sd=200.0)
    unlike = capsys.readouterr().out

    assert "320 answers, about US$3.20." in usual
    widths = [int(text.split("about ")[-1].split(" points wide")[0]) for text in (usual, unlike)]
    assert "160 answers.\n" in unlike and widths[0] < widths[1]


def test_the_command_refuses_a_study_of_one_entrant():
    with pytest.raises(CommandError, match="--entrants 1"):
        call_command("plan_study", entrants=1, judges=20, votes=100, prompts=20)
