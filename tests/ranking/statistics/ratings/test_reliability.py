from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.numbers.worlds import BASE, simulate_field
from ranking.statistics.leaderboard import fit_counts
from ranking.statistics.ratings.reliability import separation_reliability
from ranking.statistics.tallies import tally_votes

WORLD = replace(BASE, votes=2000)


def fitted(world, seed=1):
    return fit_counts(tally_votes(simulate_field(world, seed=seed).votes))


def test_separation_reliability_is_the_share_that_is_not_error():
    theta = np.array([1.0, 0.0, -1.0])

    assert separation_reliability(theta, np.full(3, 0.25)) == pytest.approx(0.75)
    assert separation_reliability(theta, np.full(3, 4.0)) == 0
    assert separation_reliability(theta, np.full(3, np.inf)) is None


def test_halves_of_a_panel_agree_where_entrants_differ_and_not_where_they_are_equal():
    assert fitted(WORLD).checks.split_half > 0.9
    assert fitted(replace(WORLD, theta=(0.0,) * 8)).checks.split_half < 0.7
    assert fitted(replace(WORLD, judges=3)).checks.split_half is None


def test_groups_that_never_met_have_no_scale_in_common():
    votes = simulate_field(WORLD, seed=1).votes
    apart = votes.take(np.flatnonzero(votes.left // 4 == votes.right // 4))
    checks = fit_counts(tally_votes(apart)).checks

    assert (checks.separation, checks.split_half) == (None, None)


def test_infit_is_one_on_average_and_high_for_a_judge_who_presses_keys_at_random():
    votes = simulate_field(replace(WORLD, theta=tuple(np.linspace(2, -2, 8)), ties=0.0, fails=0.0), seed=1).votes
    random = np.random.default_rng(1).integers(0, 2, len(votes)).astype(votes.outcome.dtype)
    infit = fit_counts(
        tally_votes(replace(votes, outcome=np.where(votes.judge == 0, random, votes.outcome)))
    ).checks.judge_infit

    assert infit[0] == infit.max()
    assert infit[0] > 1.3
    assert infit.mean() == pytest.approx(1, abs=0.1)


def test_a_camp_of_the_opposite_taste_is_described_and_not_flagged():
    world = replace(WORLD, opposed=0.25, theta=tuple(np.linspace(1.2, -1.2, 8)), judge_sd=0.3)
    fits = fitted(world).judge_fits

    assert fits.opposite[:5].all()
    assert not fits.opposite[5:].any()
