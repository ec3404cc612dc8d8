from __future__ import annotations

import numpy as np
import pytest

from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.ratings.stability import adjacent_pairs, sequence_quantile, votes_needed
from ranking.statistics.votes import tally_votes
from tests.ranking.statistics.make_votes import simulate


def pairs_of(theta, error, **changes):
    variance = np.full((len(theta), len(theta)), (error / ELO) ** 2)
    options = {"votes": 1000, "df": np.inf, "margin": 35.0, "island": np.zeros(len(theta), int)} | changes
    return adjacent_pairs(np.array(theta) / ELO, variance, **options)


def test_bound_is_wider_than_a_single_look_and_widest_early():
    assert sequence_quantile(1000) == pytest.approx(3.03, abs=0.05)
    assert sequence_quantile(30) > sequence_quantile(1000) > 1.96
    assert sequence_quantile(1000, df=5) > sequence_quantile(1000)


def test_pairs_are_apart_tied_or_open():
    apart, tied, still_open = pairs_of([200, 100, 98, 60], 5.0)
    assert (apart.status, apart.votes_needed) == ("separated", 0)
    assert (tied.status, tied.votes_needed) == ("tied", 0)
    assert still_open.status == "separated"
    (wide,) = pairs_of([100, 60], 40.0)
    assert wide.status == "open"
    assert wide.votes_needed > 1000


def test_votes_needed_are_enough_and_not_too_many():
    more = votes_needed(20.0, 15.0, votes=1000, df=np.inf, alpha=0.05)
    for total, enough in ((1000 + more, True), (1000 + more * 0.97, False)):
        half = 15.0 * np.sqrt(1000 / total) * sequence_quantile(total, alpha=0.05)
        assert (half <= 20.0 * 1.0001) == enough


def test_islands_are_not_neighbours():
    found = pairs_of([100, 50, 20, 0], 5.0, island=np.array([0, 1, 0, 1]))
    assert [(pair.upper, pair.lower) for pair in found] == [(0, 2), (1, 3)]


def test_looking_every_25_votes_separates_equals_seldom():
    """Two equal entrants, looked at 19 times: 1.96 errs often, the sequence hardly ever."""
    runs, naive, sequence = 60, 0, 0
    for seed in range(runs):
        votes = simulate(500, entrants=2, spread=0.0, judges=300, prompts=300, seed=seed)
        outside = np.zeros(2, bool)
        for seen in range(50, 501, 25):
            fit = fit_overall(tally_votes(votes.take(np.arange(500) < seen)), Settings())
            z = abs(fit.theta[0] - fit.theta[1]) / np.sqrt(fit.spread.iid_covariance[0, 0] * 4)
            outside |= [z > 1.96, z > sequence_quantile(seen)]
        naive, sequence = naive + outside[0], sequence + outside[1]
    assert naive >= 10
    assert sequence <= 3
