from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.intervals import arena_rank, wilson
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import make_votes
from tests.ranking.statistics.ratings.test_bradley_terry import CLOSED, vector


@pytest.mark.parametrize("case", CLOSED["cases"])
def test_independent_sandwich_follows_the_closed_form(case):
    outcome = np.repeat([0, 1, 2], [case["wins_a"], case["wins_b"], case["ties"]])
    zeros = np.zeros(len(outcome), int)
    votes = make_votes(entrants=("a", "b"), left=zeros, right=zeros + 1, outcome=outcome)
    fitted = fit_overall(tally_votes(votes), Settings())
    variance = fitted.spread.iid_covariance
    gap_se = np.sqrt(variance[0, 0] + variance[1, 1] - 2 * variance[0, 1])
    assert gap_se == pytest.approx(case["se_sandwich"], rel=1e-6)
    gap = ELO * (fitted.theta[0] - fitted.theta[1])
    half = ELO * stats.norm.ppf(0.975) * gap_se
    assert [gap - half, gap + half] == pytest.approx(case["ci95_elo_gap_sandwich"], rel=1e-4)


def test_arena_rank_follows_its_definition():
    data = vector("rank_ub_definition")
    assert arena_rank(data["lower"], data["upper"]).tolist() == data["rank_ub"]


def test_wilson_known_values():
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson(0, 0) == (None, None)
