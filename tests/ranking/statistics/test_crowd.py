"""Weights of an uninvited crowd, and what a tenth of planted judges can do to its ranks: the short form of `script/bench arena`."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.numbers.arena import KINDS, moved, plant
from ranking.statistics.judges.crowd import crowd_weights


@pytest.mark.parametrize("kind", KINDS)
def test_a_tenth_of_planted_judges_moves_no_rank_out_of_its_range(kind):
    seen = moved(kind, seed=3)

    assert seen["with weights"] == 0
    assert seen["kept"] > 0.9 and seen["planted"] < seen["kept"] - 0.3


def test_checks_alone_can_take_a_judge_out_and_nobody_weighs_more_than_one():
    votes, checks, honest = plant("clickers", seed=5)
    failed = honest[0]

    weights = crowd_weights(votes, checks={**checks, failed: 25.0})

    assert weights[failed] == 0.0
    assert set(weights) == set(votes.judges) and max(weights.values()) == pytest.approx(1.0)
    assert np.mean([weights[name] == 0.0 for name in honest]) < 0.03
