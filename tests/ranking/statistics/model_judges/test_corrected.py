"""Votes corrected by model judges: people's ratings, less noise, whatever the judge thinks of an entrant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import root
from scipy.special import expit

from benchmarks.numbers.model_worlds import SimulatedModel, simulate_judged
from benchmarks.numbers.worlds import BASE, WORLDS
from ranking.statistics.model_judges.corrected import (
    NO_USE,
    NOT_SHARED,
    TOO_FEW,
    _counted,
    _refit,
    correct_votes,
)
from ranking.statistics.model_judges.pairing import SCORES, pair_up
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes

WORLD = replace(BASE, votes=800)


def corrected(judged, settings=None):
    settings = settings or Settings()
    fit = fit_overall(tally_votes(judged.people, weights=settings.weights), settings)
    return fit, correct_votes(pair_up(judged.people, judged.models), fit, settings)


@pytest.fixture(scope="module")
def judged():
    return simulate_judged(WORLD, (SimulatedModel(0.8),), seed=7, times=5)


def test_the_rating_solves_the_equation_of_the_recipe(judged):
    settings = Settings(activity="even")
    fit, result = corrected(judged, settings)
    paired, people = pair_up(judged.people, judged.models), judged.people
    # The recipe again, vote by vote: y - λ (f - mean f of the two entrants), with plain loops.
    f, means = {}, {}
    for unit, (i, j) in enumerate(zip(paired.first, paired.second, strict=True)):
        f[unit] = paired.score[unit, 0]
        means.setdefault((i, j), []).append(f[unit])
    net = []
    for row in range(len(people)):
        unit, sign = paired.unit[row], paired.sign[row]
        pair = (paired.first[unit], paired.second[unit])
        net.append(SCORES[people.outcome[row]] - result.trust[0] * sign * (f[unit] - np.mean(means[pair])))

    def score(theta):
        residual = np.array(net) - expit(theta[people.left] - theta[people.right])
        sums = np.bincount(people.left, residual, len(theta)) - np.bincount(people.right, residual, len(theta))
        return sums + theta.mean()

    assert result.trust[0] > 0.3
    assert result.fit.theta == pytest.approx(root(score, fit.theta, tol=1e-10).x, abs=1e-6)


def test_intervals_become_shorter_and_say_by_how_many_votes(judged):
    fit, result = corrected(judged)

    assert result.reason == ""
    widths = [float((each.spread.reach() ** 2).sum()) for each in (result.fit, fit)]
    assert result.saved == pytest.approx(1 - widths[0] / widths[1])
    assert 0 < result.saved < 0.6
    assert result.worth == pytest.approx(len(judged.people) * (1 / (1 - result.saved) - 1))
    assert (result.votes, result.shared) == (len(judged.people), len(judged.people))


def test_what_a_judge_thinks_of_an_entrant_cancels_out(judged):
    """A judge who adds a constant to every score of one entrant changes nothing."""
    paired = pair_up(judged.people, judged.models)
    fit = fit_overall(tally_votes(judged.people), Settings())
    loved = paired.score + 0.4 * (paired.first == 0)[:, None] - 0.4 * (paired.second == 0)[:, None]

    plain, biased = (correct_votes(each, fit, Settings()) for each in (paired, replace(paired, score=loved)))

    assert biased.fit.theta == pytest.approx(plain.fit.theta, abs=1e-9)
    assert biased.trust == pytest.approx(plain.trust)


def test_a_judge_who_is_always_wrong_is_read_backwards():
    judged = simulate_judged(WORLD, (SimulatedModel(0.2),), seed=7, times=5)
    _, result = corrected(judged)
    assert result.trust[0] < -0.3
    assert result.saved > 0.05


def test_several_judges_together_save_more_than_one():
    one, three = (
        corrected(simulate_judged(WORLD, (SimulatedModel(0.75),) * n, seed=3, times=5))[1].saved for n in (1, 3)
    )
    assert three > one > 0


def test_a_judge_of_no_use_leaves_peoples_ratings_as_they_are():
    judged = simulate_judged(WORLD, (SimulatedModel(0.5),), seed=11, times=5)
    fit, result = corrected(judged)
    assert result.reason == NO_USE
    assert result.fit is fit
    assert (result.saved, result.worth) == (0, 0)


def test_pairs_that_nobody_else_saw_teach_nothing(judged):
    """Where models judged only what people judged, their means hold no news, and nothing is claimed to be saved."""
    seen = np.isin(judged.models.left_attempt, judged.people.left_attempt)
    _, result = corrected(replace(judged, models=judged.models.take(seen)))
    assert result.saved < 0.02


def test_models_that_judged_other_pairs_correct_nothing(judged):
    unseen = ~np.isin(judged.models.left_attempt, judged.people.left_attempt)
    _, result = corrected(replace(judged, models=judged.models.take(unseen)))
    assert result.reason == NOT_SHARED


def test_too_few_votes_are_not_corrected(judged):
    few = replace(judged, people=judged.people.take(np.arange(6)))
    _, result = corrected(few)
    assert result.reason == TOO_FEW


def test_a_judge_left_out_and_dropped_ties_do_not_count(judged):
    settings = Settings(ties="drop", weights={judged.people.judges[0]: 0.0})
    _, result = corrected(judged, settings)
    left_out = (judged.people.judge == 0) | (judged.people.outcome == 2)
    assert result.votes == int((~left_out).sum())
    assert result.saved > 0


@pytest.mark.parametrize("name", ["judges alike, one casts 60 %", "Zipf activity, 50 judges"])
def test_without_a_correction_intervals_are_those_of_people(name):
    judged = simulate_judged(WORLDS[name], (SimulatedModel(0.75),), seed=11, times=3)
    paired, settings = pair_up(judged.people, judged.models), Settings()
    fit = fit_overall(tally_votes(judged.people), settings)

    moved = _refit(paired, _counted(paired, fit, settings), fit, np.zeros(1))

    assert moved.theta == pytest.approx(fit.theta, abs=1e-6)
    assert moved.spread.variance == pytest.approx(fit.spread.variance, rel=0.01)


def test_what_sets_categories_apart_is_no_chance_with_model_judges_either():
    """Prompts are compared with those of their own category, as for people alone; else a good judge would save next to nothing."""
    world = WORLDS["specialists by category"]
    saved = []
    for seed in range(6):
        fit, result = corrected(simulate_judged(world, (SimulatedModel(0.85),), seed=seed))
        assert fit.pull.prompts.strata is not None
        saved.append(result.saved)
    assert np.mean(saved) > 0.15
