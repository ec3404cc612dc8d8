from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks.numbers.simulation import World, population_ratings, simulate_votes
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.intervals import Spread, arena_rank, clip_eigenvalues, rank_ranges, wilson
from ranking.statistics.ratings.scopes import Settings, fit_categories, fit_overall
from ranking.statistics.votes import make_votes, tally_votes
from tests.ranking.statistics.make_votes import simulate
from tests.ranking.statistics.ratings.test_bradley_terry import CLOSED, vector


def fit(votes, **settings):
    return fit_overall(tally_votes(votes), Settings(**settings))


def sandwich_by_hand(votes, theta):
    """The two-way sandwich written out vote by vote, from its definition."""
    size = len(theta)
    design = np.zeros((len(votes), size))
    rows = np.arange(len(votes))
    design[rows, votes.left] += 1
    design[rows, votes.right] -= 1
    p = 1 / (1 + np.exp(-design @ theta))
    score = np.array([1, 0, 0.5, 0.5])[votes.outcome] - p
    bread = np.linalg.pinv(design.T @ (design * (p * (1 - p))[:, None]))
    each = design * score[:, None]
    meats = [each.T @ each]
    for cluster in (votes.judge, votes.prompt):
        sums = np.array([each[cluster == g].sum(0) for g in np.unique(cluster)])
        meats.append(sums.T @ sums * len(sums) / (len(sums) - 1))
    iid, judge, prompt = (bread @ meat @ bread for meat in meats)
    return iid, judge, prompt, judge + prompt - iid


def test_two_way_sandwich_equals_its_definition():
    votes = simulate(900, judge_sd=0.5, prompt_sd=0.4, seed=2)
    found = fit(votes)
    iid, judge, prompt, both = sandwich_by_hand(votes, found.theta)
    assert found.spread.iid_covariance == pytest.approx(iid, abs=1e-9)
    assert found.spread.judge_covariance == pytest.approx(judge, abs=1e-9)
    assert found.spread.prompt_covariance == pytest.approx(prompt, abs=1e-9)
    assert found.spread.covariance == pytest.approx(both, abs=1e-9)
    assert (found.spread.variance >= np.maximum(np.diag(judge), np.diag(prompt)) - 1e-12).all()
    assert (found.spread.method, found.spread.df) == ("two-way", 7)


@pytest.mark.parametrize("case", CLOSED["cases"])
def test_independent_sandwich_follows_the_closed_form(case):
    outcome = np.repeat([0, 1, 2], [case["wins_a"], case["wins_b"], case["ties"]])
    zeros = np.zeros(len(outcome), int)
    found = fit(make_votes(entrants=("a", "b"), left=zeros, right=zeros + 1, outcome=outcome))
    variance = found.spread.iid_covariance
    gap_se = np.sqrt(variance[0, 0] + variance[1, 1] - 2 * variance[0, 1])
    assert gap_se == pytest.approx(case["se_sandwich"], rel=1e-6)
    gap = ELO * (found.theta[0] - found.theta[1])
    half = ELO * stats.norm.ppf(0.975) * gap_se
    assert [gap - half, gap + half] == pytest.approx(case["ci95_elo_gap_sandwich"], rel=1e-4)


def test_unknown_judges_each_count_as_their_own_cluster():
    votes = simulate(400, seed=3)
    nameless = replace(votes, judge=np.full(400, -1))
    own = replace(votes, judge=np.arange(400), judges=tuple(map(str, range(400))))
    assert fit(nameless).spread.covariance == pytest.approx(fit(own).spread.covariance, abs=1e-12)
    assert fit(nameless).spread.judges == 400


def test_one_judge_is_clustered_by_prompt_only_and_one_of_each_not_at_all():
    votes = simulate(300, seed=4)
    one = fit(replace(votes, judge=np.zeros(300, int)))
    assert (one.spread.method, one.spread.df) == ("prompt", 7)
    both = fit(replace(votes, judge=np.zeros(300, int), prompt=np.zeros(300, int)))
    assert both.spread.method == "iid"
    assert both.spread.covariance == pytest.approx(both.spread.iid_covariance)
    assert both.spread.quantile() == pytest.approx(1.959964, abs=1e-6)


def test_half_weight_for_all_leaves_ratings_and_clustered_variance():
    votes = simulate(500, judge_sd=0.4, seed=5)
    plain = fit(votes)
    halved = fit_overall(tally_votes(votes, weights=dict.fromkeys(votes.judges, 0.5)), Settings())
    assert halved.theta == pytest.approx(plain.theta, abs=1e-8)
    assert halved.spread.covariance == pytest.approx(plain.spread.covariance, abs=1e-9)


def test_weight_zero_equals_never_having_voted():
    votes = simulate(500, seed=6)
    without = fit(votes.take(votes.judge != 2))
    weighted = fit_overall(tally_votes(votes, weights={votes.judges[2]: 0.0}), Settings())
    assert weighted.theta == pytest.approx(without.theta, abs=1e-12)
    assert weighted.spread.covariance == pytest.approx(without.spread.covariance, abs=1e-12)


def test_categories_are_fitted_on_their_own_votes():
    votes = simulate(800, seed=7)
    for number, found in enumerate(fit_categories(tally_votes(votes), Settings())):
        alone = fit(votes.take(votes.category == number))
        assert found.theta == pytest.approx(alone.theta, abs=1e-9)
        assert found.spread.covariance == pytest.approx(alone.spread.covariance, abs=1e-9)


def test_intervals_cover_the_truth_with_judge_and_prompt_effects():
    world = World((0.8, 0.4, 0.1, -0.2, -0.4, -0.7), judges=15, prompts=15, judge_sd=0.5, prompt_sd=0.5)
    truth = population_ratings(world)
    runs, two_way, iid = 400, 0.0, 0.0
    for seed in range(runs):
        found = fit(simulate_votes(world, 1200, seed=seed))
        error = np.abs(found.theta - truth)
        two_way += (error <= found.spread.quantile() * np.sqrt(found.spread.variance)).mean() / runs
        iid += (error <= 1.96 * np.sqrt(np.diag(found.spread.iid_covariance))).mean() / runs
    assert 0.93 <= two_way <= 0.975
    assert iid < 0.85


def test_clipped_root_gives_back_a_good_covariance_and_mends_a_bad_one():
    good = np.array([[2.0, 0.5], [0.5, 1.0]])
    root = clip_eigenvalues(good)
    assert root @ root.T == pytest.approx(good)
    bad = clip_eigenvalues(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert np.linalg.eigvalsh(bad @ bad.T).min() >= -1e-12


def spread_with(covariance, df=np.inf):
    return Spread(covariance, covariance, covariance, covariance, df, "two-way", 10, 10)


def test_rank_ranges_are_points_when_sure_and_all_when_not():
    theta, island = np.array([1.0, 0.0, -1.0]), np.zeros(3, int)
    sure = rank_ranges(theta, spread_with(1e-6 * np.eye(3)), island=island)
    assert (sure.low.tolist(), sure.high.tolist()) == ([1, 2, 3], [1, 2, 3])
    assert sure.p_best.tolist() == [1, 0, 0]
    unsure = rank_ranges(theta, spread_with(100 * np.eye(3)), island=island)
    assert (unsure.low.tolist(), unsure.high.tolist()) == ([1, 1, 1], [3, 3, 3])
    assert unsure.p_best.sum() == pytest.approx(1)


def test_rank_range_uses_the_simultaneous_quantile():
    # For independent entrants of one variance max |z| over pairs is the studentised range over sqrt(2).
    size, island = 6, np.zeros(6, int)
    critical = stats.studentized_range.ppf(0.95, size, np.inf) / np.sqrt(2)
    for factor, apart in ((0.93, False), (1.07, True)):
        theta = np.array([factor * critical * np.sqrt(2), 0, 0, 0, 0, 0])
        found = rank_ranges(theta, spread_with(np.eye(size)), island=island, draws=4000)
        assert (found.high[0] == 1) == apart


def test_ranks_are_never_compared_across_islands():
    found = rank_ranges(np.array([2.0, 1.0, 0.5, -3.0]), spread_with(1e-6 * np.eye(4)), island=np.array([0, 0, 1, 1]))
    assert found.rank.tolist() == [1, 2, 1, 2]
    assert found.high.tolist() == [1, 2, 1, 2]
    assert found.p_best.tolist() == [1, 0, 1, 0]


def test_arena_rank_follows_its_definition():
    data = vector("rank_ub_definition")
    assert arena_rank(data["lower"], data["upper"]).tolist() == data["rank_ub"]


def test_wilson_known_values():
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson(0, 0) == (None, None)


def test_a_few_clusters_that_agree_exactly_are_not_certainty():
    # One judge, three prompts, the same share of wins in each: between prompts nothing varies at all.
    prompt = np.repeat([0, 1, 2], 4)
    zeros = np.zeros(12, int)
    outcome = np.tile([0, 0, 0, 1], 3)
    names = {"entrants": ("a", "b"), "judges": ("j",), "prompts": ("p", "q", "r")}
    votes = make_votes(**names, left=zeros, right=zeros + 1, outcome=outcome, judge=zeros, prompt=prompt)

    spread = fit(votes).spread

    assert np.diag(spread.prompt_covariance) == pytest.approx(0, abs=1e-12)
    assert spread.variance == pytest.approx(np.diag(spread.iid_covariance))
    assert spread.pair_variance[0, 1] > 0.1
