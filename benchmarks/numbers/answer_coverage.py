"""Ratings of answers and paired differences of scores, in worlds whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from benchmarks.figures.table import Row
from benchmarks.numbers.ranking_coverage import FIRST_SEED
from ranking.statistics.ratings.answers import AnswerFit, fit_answers
from ranking.statistics.ratings.bradley_terry import ELO, expected_scores, fit_ratings
from ranking.statistics.ratings.intervals import clustered_mean
from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.verdicts.paired import judge_gaps, paired_gaps

Array = NDArray[Any]
POPULATION = 5000  # prompts that a study's are taken from
BETWEEN_PROMPTS, BETWEEN_MODELS = 0.15, 0.077  # sd of scores


@dataclass(frozen=True)
class AnswerWorld:
    """Valid rates vary by entrant (sd 1 log-odds), prompt and both (sd 0.7); `error` is that of the drawings' ratings."""

    name: str
    entrants: int
    prompts: int
    attempts: int
    valid: float  # log-odds of the usual valid rate
    error: float


ANSWER_WORLDS = (
    AnswerWorld("20 prompts x 2, about 75 % valid", 8, 20, 2, 1.5, 0.1),
    AnswerWorld("35 prompts x 2, few votes", 8, 35, 2, 1.5, 0.3),
    AnswerWorld("20 prompts x 1, about 90 % valid", 8, 20, 1, 3.0, 0.1),
    AnswerWorld("6 entrants, 5 prompts x 2, about 68 % valid", 6, 5, 2, 1.0, 0.1),
)


def answer_table(*, runs: int) -> list[Row]:
    return [answer_row(world, runs) for world in ANSWER_WORLDS]


def answer_row(world: AnswerWorld, runs: int) -> Row:
    rng, hits, gap_hits, false, width = np.random.default_rng(FIRST_SEED), 0.0, 0.0, 0, 0.0
    for _ in range(runs):
        truth, fit = simulate_answers(world, rng)
        reach = t_quantile(fit.df, 0.975) * np.sqrt(fit.variance)
        verdicts, gaps = judge_gaps(fit.gaps, margin=35 / ELO), truth[:, None] - truth[None, :]
        hits += (np.abs(fit.theta - truth) <= reach).mean()
        gap_hits += (np.abs(verdicts.gap - gaps) <= verdicts.reach)[np.triu_indices(len(truth), 1)].mean()
        false += bool((verdicts.ahead & (gaps <= 0)).any())
        width += ELO * float(np.median(2 * reach))
    shares = {"rating": hits / runs, "gap": gap_hits / runs, "false_rank": false / runs}
    return {
        "world": world.name,
        "runs": runs,
        **{k: round(float(v), 3) for k, v in shares.items()},
        "width": round(width / runs),
    }


def simulate_answers(world: AnswerWorld, rng: np.random.Generator) -> tuple[Array, AnswerFit]:
    """The ratings of answers that all prompts would give, and those of one study."""
    size = world.entrants
    theta = rng.normal(0, 0.4, size)
    theta -= theta.mean()
    usual = rng.normal(world.valid, 1.0, size)
    rates = expit(usual[:, None] + rng.normal(0, 0.7, POPULATION) + rng.normal(0, 0.7, (size, POPULATION)))
    valid = rng.binomial(world.attempts, rates[:, rng.integers(0, POPULATION, world.prompts)])
    covariance = (np.eye(size) - 1 / size) * world.error**2
    noisy = theta + rng.multivariate_normal(np.zeros(size), covariance)
    return population_ratings(theta, rates), fit_answers(
        noisy, covariance, 30.0, np.full(valid.shape, world.attempts), valid
    )


def population_ratings(theta: Array, rates: Array) -> Array:
    both, chance = rates @ rates.T / rates.shape[1], expected_scores(theta)
    own = np.broadcast_to(rates.mean(1)[:, None], both.shape)
    score = both * chance + (own - both) + 0.5 * (1 - own - own.T + both)
    np.fill_diagonal(score, 0)
    return fit_ratings(100 * score)


def paired_table(*, runs: int) -> list[Row]:
    shapes = [(2, 35, 0.0), (2, 35, 0.05), (2, 35, 0.10), (6, 35, 0.0), (6, 35, 0.05), (6, 35, 0.10), (8, 5, 0.0)]
    return [paired_row(*shape, runs=runs) for shape in shapes]


def paired_row(models: int, prompts: int, gap: float, *, runs: int) -> Row:
    """`before` is the power of 95% intervals that do not overlap."""
    rng, false, power, before, cover = np.random.default_rng(FIRST_SEED), 0, 0.0, 0.0, 0.0
    truth = gap * np.arange(models)[::-1]
    gaps = truth[:, None] - truth[None, :]
    upper, lower = np.arange(models - 1), np.arange(1, models)
    for _ in range(runs):
        common = rng.normal(0, BETWEEN_PROMPTS, prompts)
        cells = truth[:, None] + common + rng.normal(0, BETWEEN_MODELS, (models, prompts))
        verdicts = judge_gaps(paired_gaps(cells), margin=0.02)
        false += bool((verdicts.ahead & (gaps <= 0)).any())
        power += verdicts.ahead[upper, lower].mean()
        cover += (np.abs(verdicts.gap - gaps) <= verdicts.reach)[np.triu_indices(models, 1)].mean()
        mean, half = cells.mean(1), stdtrit(prompts - 1, 0.975) * cells.std(1, ddof=1) / np.sqrt(prompts)
        before += (mean[upper] - half[upper] > mean[lower] + half[lower]).mean()
    shares = {"power": power / runs, "before": before / runs, "false_lead": false / runs, "gap_cover": cover / runs}
    return {"models": models, "prompts": prompts, "gap": gap, "runs": runs} | {
        key: round(float(value), 3) for key, value in shares.items()
    }


# The score of a prompt where it is not perfect, and the share of prompts where it is.
SCORES = {
    "0.995 perfect, else 0": (0.995, 0.0),
    "0.97 perfect, else 0": (0.97, 0.0),
    "0.97 perfect, else 0 to 1": (0.97, None),
    "0.9 perfect, else 0": (0.9, 0.0),
    "0.9 perfect, else 0 to 1": (0.9, None),
    "0.7 perfect, else 0.5": (0.7, 0.5),
    "none perfect, 0 to 1": (0.0, None),
}


def mean_table(*, runs: int) -> list[Row]:
    """Means of automatic scores, many of them at the upper end; `before`: Student's t alone. `least`: the shortest interval."""
    return [mean_row(name, *shape, prompts, runs=runs) for prompts in (10, 35) for name, shape in SCORES.items()]


def mean_row(name: str, perfect: float, rest: float | None, prompts: int, *, runs: int) -> Row:
    rng = np.random.default_rng(FIRST_SEED)
    truth = perfect + (1 - perfect) * (0.5 if rest is None else rest)
    held, before, width = [], [], []
    for _ in range(runs):
        scores = np.where(rng.random(prompts) < perfect, 1.0, rng.random(prompts) if rest is None else rest)
        mean, low, high = clustered_mean(scores, np.arange(prompts))
        half = stdtrit(prompts - 1, 0.975) * scores.std(ddof=1) / np.sqrt(prompts)
        held.append(low <= truth <= high)
        before.append(abs(mean - truth) <= half)
        width.append(high - low)
    shares = {"mean": float(np.mean(held)), "before": float(np.mean(before))}
    widths = {"width": float(np.median(width)), "least": min(width)}
    return {"scores": name, "prompts": prompts, "runs": runs, **shares, **widths}
