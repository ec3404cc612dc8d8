from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.numbers.simulation import World, population_ratings, simulate_votes
from benchmarks.numbers.worlds import FieldWorld, simulate_field, true_ratings
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import activity_class, tally_votes
from ranking.statistics.votes import make_votes
from tests.ranking.statistics.make_votes import simulate
from tests.ranking.statistics.ratings.slow_recipe import SlowRecipe


def fit(votes, **settings):
    return fit_overall(tally_votes(votes), Settings(**settings))


WORLDS = {
    "even": FieldWorld(theta=(0.6, 0.1, -0.2, -0.5), votes=300, judges=6, prompts=5),
    "one busy judge": FieldWorld(theta=(0.6, 0.1, -0.2, -0.5), votes=400, judges=7, prompts=6, busiest=0.6),
    "zipf": FieldWorld(theta=(0.9, 0.4, 0.0, -0.4, -0.9), votes=500, judges=15, prompts=8, zipf=1.3),
    "two judges": FieldWorld(theta=(0.5, 0.0, -0.5), votes=200, judges=2, prompts=4),
    "judges alike": FieldWorld(theta=(0.5, 0.0, -0.5), votes=300, judges=8, prompts=4, judge_sd=0, prompt_sd=0),
    "categories": FieldWorld(theta=(0.5, 0.0, -0.5), votes=300, judges=5, prompts=8, categories=2, category_sd=0.8),
    "specialists": FieldWorld(
        theta=(0.5, 0.0, -0.5), votes=300, judges=8, prompts=6, categories=2, category_sd=0.8, specialists=True
    ),
}


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_the_fast_form_equals_the_slow_one(world):
    votes = simulate_field(world, seed=1).votes
    score = np.array([1, 0, 0.5, 0.5])[votes.outcome]
    columns = (votes.left, votes.right, score, votes.judge, votes.prompt)

    judges = {j: j % 2 if world.specialists else 0 for j in range(world.judges)}
    kinds = {3: judges, 4: {p: p % world.categories for p in range(world.prompts)}}

    fast = fit(votes)
    slow = SlowRecipe(list(zip(*(column.tolist() for column in columns), strict=True)), len(world.theta), kinds)

    assert fast.theta == pytest.approx(slow.theta, abs=1e-8)
    for name, variance in slow.variance.items():
        fast_variance = fast.spread.variance[name] if isinstance(name, int) else fast.spread.pair_variance[name]
        df = fast.spread.df[name] if isinstance(name, int) else fast.spread.pair_df[name]
        assert fast_variance == pytest.approx(variance, rel=1e-7)
        assert df == pytest.approx(slow.df[name], rel=1e-6)


@pytest.mark.parametrize("specialists", [False, True])
def test_what_distinguishes_categories_is_no_chance(specialists):
    world = FieldWorld(categories=4, category_sd=1.0, specialists=specialists)
    votes = simulate_field(world, seed=5).votes
    unnamed = replace(votes, categories=("all",), category=np.zeros(len(votes), int))

    known, unknown = fit(votes), fit(unnamed)

    assert known.theta == pytest.approx(unknown.theta, abs=1e-9)
    assert known.spread.prompt_component.variance < 0.3 * unknown.spread.prompt_component.variance
    assert (known.spread.judge_component.variance < 0.6 * unknown.spread.judge_component.variance) is specialists
    assert known.spread.variance.mean() < 0.7 * unknown.spread.variance.mean()


def test_categories_of_one_prompt_each_cannot_be_told_from_prompts():
    votes = simulate_field(FieldWorld(prompts=6, categories=4, category_sd=0.5), seed=2).votes
    unnamed = replace(votes, categories=("all",), category=np.zeros(len(votes), int))

    assert fit(votes).spread.variance == pytest.approx(fit(unnamed).spread.variance, rel=1e-9)


def test_a_busy_judge_weighs_less_a_vote_and_the_heaviest_weight_is_one():
    fitted = fit(simulate_field(FieldWorld(judges=12, busiest=0.6), seed=3).votes)

    assert fitted.weights[0] == min(fitted.weights) < 0.5
    assert max(fitted.weights) == 1


def test_judges_who_do_not_differ_keep_nearly_full_weight():
    world = FieldWorld(judges=12, busiest=0.6, judge_sd=0, prompt_sd=0)
    least = [min(fit(simulate_field(world, seed=seed).votes).weights) for seed in range(10)]

    assert np.median(least) > 0.5


def test_even_activity_can_be_asked_for():
    votes = simulate_field(FieldWorld(judges=12, busiest=0.6), seed=3).votes

    even = fit(votes, activity="even")

    assert (even.weights == 1).all()
    assert np.abs(even.theta - fit(votes).theta).max() > 1e-3


def test_judges_of_one_class_leave_the_plain_ratings():
    votes = simulate(800, judge_sd=0.5, seed=2)
    assert len(set(activity_class(np.bincount(votes.judge)))) == 1

    assert fit(votes).theta == pytest.approx(fit(votes, activity="even").theta, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "worst"), [("one busy judge", 0.87), ("zipf", 0.89), ("late", 0.87), ("two judges", 0.88)]
)
def test_intervals_hold_where_judges_are_unequal_or_few(name, worst):
    small = {"theta": (0.6, 0.3, 0.0, -0.3, -0.6), "votes": 1500}
    world = {
        "one busy judge": FieldWorld(judges=12, busiest=0.6, **small),
        "zipf": FieldWorld(judges=40, zipf=1.2, **small),
        "late": FieldWorld(judges=40, late=1, late_judges=3, **small),
        "two judges": FieldWorld(judges=2, **small),
    }[name]
    truth = true_ratings(world)

    held = []
    for seed in range(60):
        fitted = fit(simulate_field(world, seed=seed).votes)
        held.append((np.abs(fitted.theta - truth) <= fitted.spread.reach()).mean())

    assert worst < np.mean(held)


@pytest.mark.long
def test_intervals_cover_the_truth_with_judge_and_prompt_effects():
    world = World((0.8, 0.4, 0.1, -0.2, -0.4, -0.7), judges=15, prompts=15, judge_sd=0.5, prompt_sd=0.5)
    truth = population_ratings(world)
    runs, both, iid = 300, 0.0, 0.0
    for seed in range(runs):
        fitted = fit(simulate_votes(world, 1200, seed=seed))
        error = np.abs(fitted.theta - truth)
        both += (error <= fitted.spread.reach()).mean() / runs
        iid += (error <= 1.96 * np.sqrt(np.diag(fitted.spread.iid_covariance))).mean() / runs
    assert 0.93 <= both <= 0.975
    assert iid < 0.85


# Edges


def test_unknown_judges_each_count_as_a_judge_of_their_own():
    votes = simulate(400, seed=3)
    nameless = replace(votes, judge=np.full(400, -1))
    own = replace(votes, judge=np.arange(400), judges=tuple(map(str, range(400))))

    assert fit(nameless).spread.variance == pytest.approx(fit(own).spread.variance, rel=0.05)
    assert fit(nameless).spread.judges == 400


def test_some_unknown_judges_among_known_ones():
    votes = simulate(600, judge_sd=0.4, seed=3)
    mixed = fit(replace(votes, judge=np.where(np.arange(600) % 4 == 0, -1, votes.judge)))

    assert mixed.spread.judges == 8 + 150
    assert (mixed.spread.variance > 0).all()
    assert np.isfinite(mixed.spread.variance).all()


def test_one_judge_speaks_by_prompts_only_and_one_of_each_by_votes():
    votes = simulate(300, seed=4)
    one = fit(replace(votes, judge=np.zeros(300, int)))
    both = fit(replace(votes, judge=np.zeros(300, int), prompt=np.zeros(300, int)))

    assert one.spread.method == "prompt"
    assert one.spread.df.max() < np.inf
    assert both.spread.method == "iid"
    assert both.spread.variance == pytest.approx(np.diag(both.spread.iid_covariance))
    assert both.spread.reach() == pytest.approx(1.959964 * np.sqrt(both.spread.variance), rel=1e-6)


def test_no_decided_vote_has_no_interval():
    votes = make_votes(entrants=("a", "b"), left=[0] * 6, right=[1] * 6, outcome=[2, 3, 2, 2, 3, 2])

    assert np.isinf(fit(votes).spread.variance).all()


def test_entrants_without_votes_stay_outside_all_sums():
    votes = simulate(400, entrants=4, seed=5)
    more = replace(votes, entrants=(*votes.entrants, "unseen"))

    fitted, plain = fit(more), fit(votes)

    assert fitted.theta[:4] == pytest.approx(plain.theta, abs=1e-12)
    assert fitted.spread.variance[:4] == pytest.approx(plain.spread.variance, rel=1e-9)
    assert np.isinf(fitted.spread.variance[4])


def test_islands_and_the_undefeated_have_finite_variances_with_the_ridge_in_them():
    rows = np.array([[0, 1, 0]] * 4 + [[1, 0, 0]] * 2 + [[2, 3, 0]] * 3)
    judge, prompt = np.arange(9) % 3, np.arange(9) % 2
    votes = make_votes(
        entrants=("a", "b", "c", "d"),
        judges=("x", "y", "z"),
        prompts=("p", "q"),
        left=rows[:, 0],
        right=rows[:, 1],
        outcome=rows[:, 2],
        judge=judge,
        prompt=prompt,
    )

    fitted = fit(votes)

    assert fitted.connected.islands == 2
    assert np.isfinite(fitted.spread.variance).all()
    assert (fitted.spread.variance >= np.diag(0.5 * fitted.pull.inverse @ fitted.pull.inverse) - 1e-12).all()


def test_half_weight_for_all_leaves_ratings_and_variances():
    votes = simulate(500, judge_sd=0.4, seed=5)
    halved = fit_overall(tally_votes(votes, weights=dict.fromkeys(votes.judges, 0.5)), Settings())

    assert halved.theta == pytest.approx(fit(votes).theta, abs=1e-8)
    assert halved.spread.variance == pytest.approx(fit(votes).spread.variance, rel=1e-6)


def test_weight_zero_equals_never_having_voted():
    votes = simulate(500, seed=6)
    without = fit(votes.take(votes.judge != 2))
    weighted = fit_overall(tally_votes(votes, weights={votes.judges[2]: 0.0}), Settings())

    assert weighted.theta == pytest.approx(without.theta, abs=1e-12)
    assert weighted.spread.variance == pytest.approx(without.spread.variance, rel=1e-9)


def test_a_few_clusters_that_agree_exactly_are_not_certainty():
    # One judge, three prompts, the same share of wins in each: between prompts nothing varies at all.
    prompt = np.repeat([0, 1, 2], 4)
    zeros = np.zeros(12, int)
    outcome = np.tile([0, 0, 0, 1], 3)
    names = {"entrants": ("a", "b"), "judges": ("j",), "prompts": ("p", "q", "r")}
    votes = make_votes(**names, left=zeros, right=zeros + 1, outcome=outcome, judge=zeros, prompt=prompt)

    spread = fit(votes).spread

    assert (spread.variance >= np.diag(spread.iid_covariance) - 1e-12).all()
    assert spread.pair_variance[0, 1] > 0.1
