from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit

from benchmarks.numbers.worlds import BASE, simulate_field
from ranking.statistics.ratings.joint import fit_joint
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes

WORLD = replace(BASE, fails=0.15, fail_by_rating=1.0)


def joint(world, seed=1):
    tallies = tally_votes(simulate_field(world, seed=seed).votes)
    overall = fit_overall(tallies, Settings(activity="even"))
    return fit_joint(tallies, overall), overall


def loss(x, counts):
    theta, (tie, level, slope) = x[:-3] - x[:-3].mean(), x[-3:]
    gap, total = np.subtract.outer(theta, theta), np.add.outer(theta, theta)
    whole = np.log(np.exp(gap / 2) + np.exp(-gap / 2) + np.exp(tie))
    eta = level - slope * total
    parts = [gap / 2 - whole, -gap / 2 - whole, tie - whole]
    chances = np.stack([part + log_expit(-eta) for part in parts] + [log_expit(eta)], axis=-1)
    return -(counts * chances).sum()


def test_it_is_the_maximum_of_the_joint_likelihood():
    fit, overall = joint(WORLD)

    best = minimize(loss, np.zeros(11), args=(overall.counts,), options={"gtol": 1e-3})

    assert fit.theta == pytest.approx(best.x[:-3] - best.x[:-3].mean(), abs=1e-4)
    assert fit.slope == pytest.approx(best.x[-1], abs=1e-4)


def test_the_slope_is_nothing_where_fails_have_nothing_to_do_with_ratings():
    fit, _ = joint(replace(BASE, fails=0.15))

    assert abs(fit.slope) < 3 * fit.slope_error


def test_few_fails_or_none_decided_give_no_joint_rating():
    assert joint(replace(BASE, fails=0.01))[0] is None
    assert joint(replace(BASE, fails=1.0))[0] is None


def test_two_entrants_have_no_joint_rating():
    assert joint(replace(WORLD, theta=(0.3, -0.3)))[0] is None


def test_intervals_know_of_small_panels_as_those_of_half_wins_do():
    for judges in (2, 3, 20):
        fit, overall = joint(replace(WORLD, judges=judges))
        stretch = np.std(fit.theta) / np.std(overall.theta)
        assert np.median(fit.reach()) == pytest.approx(stretch * np.median(overall.spread.reach()), rel=0.25)


def test_both_bad_speaks_against_both_drawings():
    fit, _ = joint(WORLD)
    left, right = fit.drawing_scores

    assert (left[..., 3] < 0).all()
    assert (right[..., 3] < 0).all()
    assert (left[..., 0] > 0).all()
