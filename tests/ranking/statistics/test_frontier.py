from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ranking.statistics.frontier import frontier_chances, independent, on_frontier
from ranking.statistics.ratings.best import chance_of_best
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.precision import no_precision


def test_on_the_frontier_is_whom_nobody_as_cheap_beats():
    quality, cost = np.array([1200.0, 1100, 1150, 900, 900]), np.array([10.0, 5, 8, 1, 2])

    # Equal quality at a higher price is not beaten, only not needed.
    assert on_frontier(quality, cost).tolist() == [True, True, True, True, True]
    assert on_frontier(quality - [0, 0, 60, 0, 1], cost).tolist() == [True, True, False, True, False]
    assert on_frontier(np.array([1.0, 2.0]), np.array([3.0, 3.0])).tolist() == [False, True]


def test_only_those_who_met_are_held_against_each_other():
    quality, cost = np.array([1100.0, 1000, 1050, 900]), np.array([1.0, 2, 2, 3])
    groups = np.array([0, 0, 1, 1])
    same = groups[:, None] == groups[None, :]
    covariance = np.where(same, np.eye(4), np.nan)

    assert on_frontier(quality, cost, same).tolist() == [True, False, True, False]
    assert on_frontier(quality, cost).tolist() == [True, False, False, False]
    assert frontier_chances(quality, covariance, cost, unit=ELO) == pytest.approx([1, 0, 1, 0], abs=0.01)


def test_chances_follow_the_joint_uncertainty():
    quality, cost = np.array([1000.0, 1030.0]), np.array([2.0, 1.0])  # the first is dearer and a little worse
    alone = np.diag([400.0, 400.0])
    together = np.array([[400.0, 396.0], [396.0, 400.0]])

    apart, joint = (frontier_chances(quality, matrix, cost, unit=ELO) for matrix in (alone, together))

    # The gap's standard deviation is 28.3 alone and 2.8 together. By the normal law the first would be better in 0.145 of
    # draws; gaps of entrants that may lie close are smaller than they look.
    assert 0.145 < apart[0] < 0.4
    assert joint[0] < 0.01
    assert apart[1] == joint[1] == 1


def test_who_is_likely_the_best_is_as_likely_on_the_frontier():
    theta, spread = np.array([0.2, 0.1, 0.0, -0.3]), 0.02 * (np.eye(4) - 0.25)
    precision = replace(no_precision(4), variance=np.diag(spread), covariance=spread)

    best = chance_of_best(theta, precision, island=np.zeros(4, int), draws=4000)
    frontier = frontier_chances(ELO * theta, ELO**2 * spread, np.array([4.0, 3, 2, 1]), unit=ELO)

    # The dearest is on the frontier exactly when it is the best, and the cheapest always is; 4000 draws each.
    assert frontier[0] == pytest.approx(best[0], abs=0.03)
    assert (frontier > best - 0.03).all()
    assert frontier[3] == 1


def test_an_interval_gives_its_standard_deviation():
    assert independent(np.array([0.0]), np.array([2 * 1.959964 * 3])).tolist() == [[pytest.approx(9.0)]]
