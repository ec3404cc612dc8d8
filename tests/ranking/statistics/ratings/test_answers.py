"""The rating of the answers: the formula, its edges, and whether its intervals cover."""

from __future__ import annotations

import numpy as np
import pytest

from ranking.statistics.ratings.answers import fit_answers
from ranking.statistics.ratings.bradley_terry import expected_scores, fit_ratings
from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.verdicts.paired import judge_gaps

THETA = np.array([0.5, 0.1, -0.6])
NOTHING = np.zeros((3, 3))


def test_where_all_answers_are_valid_the_two_ratings_are_one():
    answers = np.full((3, 4), 2)

    fit = fit_answers(THETA, NOTHING, np.inf, answers, answers)

    assert fit.theta == pytest.approx(THETA - THETA.mean(), abs=1e-6)
    assert fit.variance == pytest.approx(0, abs=1e-12)


def test_scores_are_those_of_the_formula():
    answers, valid = np.full((2, 2), 2), np.array([[2, 1], [2, 2]])

    fit = fit_answers(np.array([0.4, -0.4]), np.zeros((2, 2)), np.inf, answers, valid)

    p = 1 / (1 + np.exp(-0.8))
    expected = np.mean([p, 0.5 * p])  # v_i v_j p + v_i (1 - v_j) + half of (1 - v_i)(1 - v_j), on two prompts
    assert fit.theta[0] - fit.theta[1] == pytest.approx(np.log(expected / (1 - expected)), abs=1e-6)


def test_the_best_drawings_lose_where_half_the_answers_are_empty():
    answers = np.full((3, 20), 1)
    valid = np.ones((3, 20), int)
    valid[0, ::2] = 0

    fit = fit_answers(THETA, NOTHING, np.inf, answers, valid)

    assert fit.theta.argmax() == 1
    assert fit.variance[0] > 0, "valid rates vary by prompt"


def test_an_entrant_without_a_valid_answer_is_last_and_has_no_lower_limit():
    answers = np.full((3, 20), 1)
    valid = np.ones((3, 20), int)
    valid[2] = 0

    fit = fit_answers(np.array([0.5, -0.5, 0.0]), NOTHING, np.inf, answers, valid)

    assert fit.theta.argmin() == 2
    assert fit.connected.no_lower.tolist() == [False, False, True]
    assert np.isfinite(fit.theta).all()


def test_one_prompt_gives_no_interval():
    fit = fit_answers(THETA, NOTHING, np.inf, np.full((3, 1), 4), np.array([[4], [3], [2]]))

    assert np.isinf(fit.variance).all()
    assert not judge_gaps(fit.gaps, margin=0.1).ahead.any()


def population_ratings(theta, rates):
    chance, both = expected_scores(theta), rates @ rates.T / rates.shape[1]
    own = np.broadcast_to(rates.mean(1)[:, None], both.shape)
    score = both * chance + (own - both) + 0.5 * (1 - own - own.T + both)
    np.fill_diagonal(score, 0)
    return fit_ratings(100 * score)


def test_intervals_cover_the_ratings_of_all_prompts():
    rng, hits, gap_hits, false = np.random.default_rng(11), [], [], 0
    for _ in range(60):
        theta = rng.normal(0, 0.4, 6)
        theta -= theta.mean()
        rates = 1 / (
            1 + np.exp(-(rng.normal(1.5, 1, (6, 1)) + rng.normal(0, 0.7, 2000) + rng.normal(0, 0.7, (6, 2000))))
        )
        truth = population_ratings(theta, rates)
        covariance = (np.eye(6) - 1 / 6) * 0.15**2
        valid = rng.binomial(2, rates[:, rng.integers(0, 2000, 20)])
        noisy = theta + rng.multivariate_normal(np.zeros(6), covariance)
        fit = fit_answers(noisy, covariance, 30.0, np.full(valid.shape, 2), valid)
        hits.append(np.abs(fit.theta - truth) <= t_quantile(fit.df, 0.975) * np.sqrt(fit.variance))
        verdicts, gaps = judge_gaps(fit.gaps, margin=0.1), truth[:, None] - truth[None, :]
        gap_hits.append(np.abs(verdicts.gap - gaps) <= verdicts.reach)
        false += bool((verdicts.ahead & (gaps <= 0)).any())

    assert 0.9 < np.mean(hits) < 0.99
    assert np.mean(gap_hits) > 0.9
    assert false <= 6
