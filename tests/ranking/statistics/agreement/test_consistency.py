from __future__ import annotations

import numpy as np
import pytest

from ranking.statistics.agreement.consistency import NOTHING, score_consistency, vote_consistency
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from tests.ranking.statistics.make_votes import simulate
from tests.ranking.statistics.ratings.test_bradley_terry import vector


def test_pooled_variance_of_the_worked_example():
    data = vector("consistency_variance_synthetic")
    scores = np.array(data["scores_prompt_by_attempt"])
    scored = score_consistency(scores)
    assert scored.variance == pytest.approx(data["pooled_var"])
    assert scored.sd == pytest.approx(data["pooled_sd"])
    assert scored.icc == pytest.approx(data["icc1"])
    assert scored.prompts == 8
    assert scored.low < scored.variance < scored.high


def test_missing_attempts_are_left_out_and_single_ones_say_nothing():
    scores = np.array([[1.0, 3.0, np.nan], [5.0, np.nan, np.nan]])
    assert score_consistency(scores).variance == pytest.approx(2)
    assert score_consistency(np.array([[1.0], [2.0]])) == NOTHING
    assert score_consistency(np.zeros((0, 3))) == NOTHING


def test_identical_attempts_have_variance_zero():
    assert score_consistency(np.full((4, 5), 7.0)).variance == 0


def found_in(votes):
    fit = fit_overall(tally_votes(votes), Settings())
    return vote_consistency(votes, fit.theta)


def test_votes_find_the_variance_between_attempts():
    steady = found_in(simulate(30_000, prompts=10, attempt_sd=0.0, seed=1))
    uneven = found_in(simulate(30_000, prompts=10, attempt_sd=1.0, seed=1))
    assert all(c.variance < 0.002 for c in steady)
    # A strength of sd 1 in log-odds moves a 0.85-decided vote by about 0.2 in probability.
    assert all(0.01 < c.variance < 0.08 for c in uneven)
    assert all(c.low <= c.variance <= c.high for c in uneven)


def test_noise_of_single_votes_is_not_taken_for_variance():
    """Averaged over many simulated runs of equal attempts the raw component is 0, not the noise of a vote (0.2)."""
    found = [c.high for seed in range(20) for c in found_in(simulate(1500, prompts=10, seed=seed))]
    assert np.median(found) < 0.05


def test_votes_without_attempts_say_nothing():
    votes = simulate(100)
    votes.left_attempt[:] = -1
    votes.right_attempt[:] = -1
    assert all(c.variance is None for c in found_in(votes))
