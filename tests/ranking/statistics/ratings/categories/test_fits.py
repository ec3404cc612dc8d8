from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.numbers.worlds import BASE, simulate_field
from ranking.statistics.ratings.categories.fits import fit_categories
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes

WORLD = replace(BASE, categories=8, prompts=40, category_sd=0.0)


def fit(world, seed=1):
    drawn = simulate_field(world, seed=seed)
    tallies = tally_votes(drawn.votes)
    return drawn, fit_categories(tallies, fit_overall(tallies, Settings()), Settings())


@pytest.mark.parametrize("votes", [250, 750])
def test_one_reversed_category_leaves_the_others_alone(votes):
    _, alike = fit(WORLD)
    drawn, of_categories = fit(replace(WORLD, reversed_category=votes / 4000))

    usual = np.median([np.diag(each.covariance) for each in alike])
    assert np.median([np.diag(each.covariance) for each in of_categories[1:]]) == pytest.approx(usual, rel=0.2)
    assert of_categories[0].strength < 0.1 * min(each.strength for each in of_categories[1:])
    # They are drawn to ratings without it.
    others = drawn.votes.take(drawn.votes.category > 0)
    alone = fit_overall(tally_votes(others), Settings()).theta
    assert np.mean([each.theta for each in of_categories[1:]], axis=0) == pytest.approx(alone, abs=0.02)


def test_categories_that_all_differ_are_all_drawn_alike():
    _, of_categories = fit(replace(WORLD, category_sd=0.6), seed=2)

    strongest = max(each.strength for each in of_categories)
    assert sum(each.strength > 0.95 * strongest for each in of_categories) >= 4  # whose own votes ask for hardly more
    assert all(1 / each.strength > 0.05 for each in of_categories)


def test_half_of_the_categories_may_be_the_reverse_of_the_others():
    votes = simulate_field(replace(WORLD, theta=(0.6, 0.2, -0.2, -0.6)), seed=3).votes
    other = votes.category < 4
    turned = np.where(other & (votes.outcome < 2), 1 - votes.outcome, votes.outcome)
    tallies = tally_votes(replace(votes, outcome=turned))

    of_categories = fit_categories(tallies, fit_overall(tallies, Settings()), Settings())

    assert [bool(each.theta[0] > each.theta[-1]) for each in of_categories] == [False] * 4 + [True] * 4
