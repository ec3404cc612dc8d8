from __future__ import annotations

import numpy as np
import pytest

from ranking.statistics.frontier import frontier_chances, independent, on_frontier


def test_on_the_frontier_is_whom_nobody_as_cheap_beats():
    quality, cost = np.array([1200.0, 1100, 1150, 900, 900]), np.array([10.0, 5, 8, 1, 2])

    # Equal quality at a higher price is not beaten, only not needed.
    assert on_frontier(quality, cost).tolist() == [True, True, True, True, True]
    assert on_frontier(quality - [0, 0, 60, 0, 1], cost).tolist() == [True, True, False, True, False]
    assert on_frontier(np.array([1.0, 2.0]), np.array([3.0, 3.0])).tolist() == [False, True]


def test_chances_follow_the_joint_uncertainty():
    quality, cost = np.array([1000.0, 1010.0]), np.array([2.0, 1.0])  # the first is dearer and a little worse
    alone = np.diag([400.0, 400.0])
    together = np.array([[400.0, 396.0], [396.0, 400.0]])

    apart, joint = (frontier_chances(quality, matrix, cost) for matrix in (alone, together))

    # P(first > second) by the normal law: the gap's standard deviation is 28.3 alone and 2.8 together.
    assert apart[0] == pytest.approx(0.362, abs=0.03)
    assert joint[0] < 0.01
    assert apart[1] == joint[1] == 1


def test_an_interval_gives_its_standard_deviation():
    assert independent(np.array([0.0]), np.array([2 * 1.959964 * 3])).tolist() == [[pytest.approx(9.0)]]
