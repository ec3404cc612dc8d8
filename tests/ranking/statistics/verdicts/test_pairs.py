from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks.numbers.worlds import FieldWorld, simulate_field
from ranking.statistics.ratings.best import chance_of_best
from ranking.statistics.ratings.bradley_terry import Connectivity
from ranking.statistics.ratings.precision import no_precision
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.verdicts.pairs import AHEAD, SETTLED, TIED, UNDECIDED, judge_pairs
from tests.ranking.statistics.make_votes import simulate

FIT = fit_overall(tally_votes(simulate(200, entrants=2)), Settings())


def fit_with(theta, covariance, *, island=None, votes=1000.0, df=np.inf):
    """A fit whose ratings and covariance are given."""
    size = len(theta)
    own = np.diag(covariance)
    nobody = np.zeros(size, bool)
    island = np.zeros(size, int) if island is None else np.array(island)
    counts = np.zeros((size, size, 4))
    counts[0, 1, 0] = votes
    spread = replace(
        no_precision(size),
        variance=own,
        df=np.full(size, df),
        pair_variance=own[:, None] + own[None, :] - 2 * covariance,
        pair_df=np.full((size, size), df),
        covariance=covariance,
    )
    connected = Connectivity(island, island, nobody, nobody)
    return replace(FIT, theta=np.array(theta, float), counts=counts, spread=spread, connected=connected)


def verdicts(theta, covariance, *, draws=2000, **options):
    return judge_pairs(fit_with(theta, covariance, **options), Settings(draws=draws))


def test_rank_ranges_are_points_when_sure_and_all_when_not():
    sure = verdicts([1.0, 0.0, -1.0], 1e-6 * np.eye(3))
    unsure = verdicts([1.0, 0.0, -1.0], 100 * np.eye(3))

    assert (sure.rank_low.tolist(), sure.rank_high.tolist()) == ([1, 2, 3], [1, 2, 3])
    assert (sure.state[0, 1], unsure.state[0, 1]) == (SETTLED, UNDECIDED)
    assert (unsure.rank_low.tolist(), unsure.rank_high.tolist()) == ([1, 1, 1], [3, 3, 3])


def test_rank_range_uses_the_simultaneous_quantile():
    # For independent entrants of one variance max |z| over pairs is the studentised range over sqrt(2).
    critical = stats.studentized_range.ppf(0.95, 6, np.inf) / np.sqrt(2)
    for factor, apart in ((0.93, False), (1.07, True)):
        verdict = verdicts([factor * critical * np.sqrt(2), 0, 0, 0, 0, 0], np.eye(6), draws=4000)
        assert (verdict.rank_high[0] == 1) == apart


def test_a_gap_between_the_two_bounds_is_ahead_but_may_still_change():
    verdict = verdicts([0.29, 0.0], 0.005 * np.eye(2))

    assert verdict.state[0, 1] == AHEAD
    assert verdict.look[0, 1] < 0.29 < verdict.bound[0, 1]


def test_a_gap_surely_within_the_margin_is_tied():
    assert verdicts([0.01, 0.0], 1e-4 * np.eye(2)).state[0, 1] == TIED


def test_entrants_are_never_compared_across_islands():
    verdict = verdicts([2.0, 1.0, 0.5, -3.0], 1e-6 * np.eye(4), island=[0, 0, 1, 1])

    assert verdict.rank.tolist() == [1, 2, 1, 2]
    assert verdict.rank_high.tolist() == [1, 2, 1, 2]
    assert verdict.name(0, 2) == "apart"
    assert verdict.neighbours(np.array([0, 0, 1, 1])) == [(0, 1), (2, 3)]


def test_brackets_join_what_is_not_ahead_of_each_other():
    verdict = verdicts([0.5, 0.25, 0.0, -5.0], 0.01 * np.eye(4))

    assert verdict.brackets([0, 1, 2, 3]) == [(0, 1), (1, 2)]
    for first, last in verdict.brackets([0, 1, 2, 3]):
        assert not verdict.ahead[first : last + 1, first : last + 1].any()


def test_ranges_follow_from_pairs():
    fit = fit_overall(tally_votes(simulate(900, judge_sd=0.3, seed=2)), Settings())
    verdict = judge_pairs(fit, Settings())

    assert (verdict.rank_low == 1 + verdict.ahead.sum(0)).all()
    assert (verdict.rank_low <= verdict.rank).all()
    assert (verdict.rank <= verdict.rank_high).all()


def test_more_votes_never_settle_what_two_judges_cannot():
    few = fit_overall(tally_votes(simulate(6000, judges=2, judge_sd=0.8, seed=4)), Settings())

    assert (judge_pairs(few, Settings()).state != SETTLED).any()


# The chance of being best


def test_chances_of_best_are_points_when_sure_and_add_up():
    sure, unsure = (fit_with([1.0, 0.0, -1.0], c * np.eye(3)) for c in (1e-6, 100.0))

    best = [chance_of_best(f.theta, f.spread, island=f.connected.island) for f in (sure, unsure)]

    assert best[0].tolist() == [1, 0, 0]
    assert best[1].sum() == pytest.approx(1)
    assert best[1].max() < 0.5


def test_chances_are_of_an_island_each():
    fit = fit_with([2.0, 1.0, 0.5, -3.0], 1e-6 * np.eye(4), island=[0, 0, 1, 1])

    assert chance_of_best(fit.theta, fit.spread, island=fit.connected.island).tolist() == [1, 0, 1, 0]


def test_without_a_decided_vote_all_chances_are_equal():
    chances = chance_of_best(np.zeros(4), no_precision(4), island=np.zeros(4, int))

    assert chances.tolist() == [0.25] * 4


@pytest.mark.long
def test_chance_of_best_is_calibrated():
    stated, right = [], []
    for seed in range(150):
        truth = np.random.default_rng(seed).normal(0, 0.3, 6)
        votes = simulate_from(truth, seed)
        fit = fit_overall(tally_votes(votes), Settings())
        chances = chance_of_best(fit.theta, fit.spread, island=fit.connected.island, draws=500)
        stated.append(chances.max())
        right.append(chances.argmax() == truth.argmax())

    assert np.mean(stated) == pytest.approx(np.mean(right), abs=0.09)


def simulate_from(truth, seed):
    world = FieldWorld(theta=tuple(truth), votes=600, judges=10, prompts=10)
    return simulate_field(world, seed=seed).votes


def test_the_only_pair_is_ahead_where_its_own_interval_excludes_0():
    for gap in np.linspace(0.2, 0.6, 41):
        only = verdicts([gap / 2, -gap / 2], 0.02 * np.eye(2), draws=50)

        assert (only.state[0, 1] <= AHEAD) == (only.gap[0, 1] > only.reach[0, 1])
