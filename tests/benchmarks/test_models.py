"""Simulated model judges do what they are said to do, and one study has every figure of the table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.numbers.model_worlds import SimulatedModel, simulate_judged
from benchmarks.numbers.models import study, summary
from benchmarks.numbers.worlds import BASE
from ranking.statistics.model_judges.agreement import agreement_with_people
from ranking.statistics.model_judges.pairing import pair_up

WORLD = replace(BASE, votes=1500)


@pytest.mark.parametrize("agreement", [0.55, 0.75])
def test_a_simulated_model_agrees_with_people_as_often_as_asked(agreement):
    judged = simulate_judged(WORLD, (SimulatedModel(agreement),), seed=1, times=4)

    measured = agreement_with_people(pair_up(judged.people, judged.models), 0).decided

    assert measured.value == pytest.approx(agreement, abs=0.03)
    assert measured.low < agreement < measured.high


def test_a_good_judge_saves_votes_and_a_useless_one_widens_nothing():
    good, useless = (summary([study(WORLD, (SimulatedModel(a),), seed=s) for s in range(4)]) for a in (0.85, 0.5))

    assert good["saved"] > 0.15
    assert good["wider"] == useless["wider"] == 0
    assert useless["saved"] == pytest.approx(0, abs=0.02)
    assert np.isfinite(list(good.values())).all()
