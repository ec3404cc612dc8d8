"""Judges one by one: own rankings drawn to the common one, and how far votes follow the other judges'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, ndtri

from ranking.statistics.judges.rankings import own_rankings, own_strength, usual_taste
from ranking.statistics.ratings.bradley_terry import RIDGE, connectivity, half_wins, information, map_ratings
from ranking.statistics.ratings.groups import BATCH_CELLS
from ranking.statistics.ratings.scopes import ScopeFit, Settings
from ranking.statistics.votes import Tallies

Array = NDArray[Any]
PRIOR_SLOPE, PRIOR_SD = 1.0, 0.5
SLIGHT = 0.01
OPPOSED = float(-ndtri(0.02))


@dataclass(frozen=True)
class JudgeFits:
    """Per judge (first axis, in the order of the name table).

    - `outcomes` [J, 4] counts votes by key; `tallies` [J, K, 4] each entrant's wins, losses, ties and fails.
    - `theta`, `variance` [J, K]: own ratings drawn to the common ones with one `strength`, their variances, and `df` [J].
    - `slope`, `slope_se` [J]: reliability; 1 is the average judge, 0 clicks at random.
    - `without` [J, K]: everybody's ratings when this judge's votes are left out.
    - `random_keys`, `one_entrant` [J]: log-odds of two odd habits against judging by those ratings (`odd_habits`).
    - `accord` [J]: how well votes follow those ratings, standard normal for an honest judge (`accord`).
    - `opposite` [J]: whether votes follow the reverse of those ratings, which no clicker's do: a taste, not a fault.
    """

    outcomes: Array
    tallies: Array
    theta: Array
    variance: Array
    strength: float
    df: Array
    slope: Array
    slope_se: Array
    without: Array
    random_keys: Array
    one_entrant: Array
    accord: Array
    opposite: Array

    @property
    def votes(self) -> Array:
        return self.outcomes.sum(1)


def fit_judges(tallies: Tallies, overall: ScopeFit, settings: Settings) -> JudgeFits:
    """All judges from tallies; work and memory in batches of judges."""
    judges, size = len(tallies.judges), len(tallies.entrants)
    outcomes, record = np.zeros((judges, 4)), np.zeros((judges, size, 4))
    theta, variance = np.tile(overall.theta, (judges, 1)), np.zeros((judges, size))
    df = np.full(judges, np.inf)
    slope, slope_se = np.ones(judges), np.full(judges, PRIOR_SD)
    without = np.tile(overall.theta, (judges, 1))
    random_keys, one_entrant, accords = np.zeros(judges), np.zeros(judges), np.zeros(judges)
    opposite = np.zeros(judges, bool)
    component = overall.spread.judge_component
    taste = usual_taste(component)
    for here, counts in judge_batches(tallies):
        outcomes[here] = counts.sum((1, 2))
        record[here] = entrant_record(counts)
        wins = half_wins(counts, **settings.halves)
        own = own_rankings(counts, overall, settings, overall.weights[here])
        theta[here], variance[here], df[here] = own.theta, own.variance, own.df
        without[here], unsure = leave_out(overall, wins * overall.weights[here, None, None])
        slope[here], slope_se[here] = reliability(wins, without[here])
        opposite[here] = follows_reverse(wins, without[here])
        own_way = np.where(opposite[here, None], -1.0, 1.0) * without[here]
        random_keys[here], one_entrant[here] = odd_habits(wins, own_way)
        accords[here] = accord(wins, without[here], unsure, taste)
    habits = (random_keys, one_entrant, accords, opposite)
    known = (own_strength(component), df)
    return JudgeFits(outcomes, record, theta, variance, *known, slope, slope_se, without, *habits)


def judge_batches(tallies: Tallies) -> Any:
    """(judge numbers, counts [B, K, K, 4]) of as many judges at a time as the processor's cache holds; those without votes too."""
    cells, size = tallies.by_judge, len(tallies.entrants)
    order = np.argsort(cells.cluster, kind="stable")
    ordered = cells.cluster[order]
    each = max(1, BATCH_CELLS // max(size, 1) ** 2)
    for first in range(0, len(tallies.judges), each):
        here = np.arange(first, min(first + each, len(tallies.judges)))
        rows = order[np.searchsorted(ordered, here[0]) : np.searchsorted(ordered, here[-1], side="right")]
        code = cells.cluster[rows].astype(np.int64) - first
        for column, base in ((cells.left, size), (cells.right, size), (cells.outcome, 4)):
            code = code * base + column[rows]
        n = None if cells.n is None else cells.n[rows]
        counts = np.bincount(code, n, len(here) * size * size * 4).reshape(len(here), size, size, 4)
        yield here, counts.astype(np.float64)


def entrant_record(counts: Array) -> Array:
    """Wins, losses, ties and fails [..., K, 4] of each entrant, from counts [..., K, K, 4]."""
    as_left, as_right = counts.sum(-2), counts.sum(-3)
    return as_left + as_right[..., [1, 0, 2, 3]]


def leave_out(overall: ScopeFit, wins: Array) -> tuple[Array, Array]:
    """Ratings [G, K] without each of the given shares of the votes, W [G, K, K], by Newton from the full fit; and their covariance."""
    rest = np.maximum(overall.wins - wins, 0)
    result = np.empty(rest.shape[:2])
    whole, edges = overall.connected.components == 1, rest > 0
    # Who took points from whom seldom hangs on one judge: only then must it be looked at again.
    changed = (edges != (overall.wins > 0)).any((1, 2))
    broken = np.full(len(rest), not whole)
    broken[changed] = [connectivity(table).components > 1 for table in rest[changed]]
    for ridge, rows in ((1e-9, ~broken), (RIDGE, broken)):
        if rows.any():
            fitted = map_ratings(rest[rows], ridge=ridge, start=overall.theta)
            result[rows] = fitted - fitted.mean(1, keepdims=True)
    # The slight pull bounds what votes leave open; the common shift cancels in every gap.
    return result, np.linalg.inv(information(rest, result) + SLIGHT * np.eye(rest.shape[-1]))


def reliability(wins: Array, theta: Array) -> tuple[Array, Array]:
    """Slope of each judge's votes W [G, K, K] on ratings theta [G, K] made without it; prior N(1, ½²); and its SE."""
    gaps = theta[:, :, None] - theta[:, None, :]
    slope = np.full(len(wins), PRIOR_SLOPE)
    precision = np.full(len(wins), PRIOR_SD**-2)
    for _ in range(30):
        p = expit(slope[:, None, None] * gaps)
        gradient = (wins * gaps * (1 - p)).sum((1, 2)) - (slope - PRIOR_SLOPE) / PRIOR_SD**2
        precision = (wins * gaps**2 * p * (1 - p)).sum((1, 2)) + PRIOR_SD**-2
        step = np.clip(gradient / precision, -1, 1)
        slope = slope + step
        if np.abs(step).max(initial=0) < 1e-9:
            break
    return slope, precision**-0.5


def follows_reverse(wins: Array, theta: Array) -> Array:
    """[G]: whether votes W [G, K, K] go against ratings theta [G, K] more than random keys would in 1 of 50 cases."""
    gaps = theta[:, :, None] - theta[:, None, :]
    score, variance = (wins * gaps).sum((1, 2)) / 2, (wins * gaps**2).sum((1, 2)) / 4
    return score < -OPPOSED * np.sqrt(variance)


def odd_habits(wins: Array, theta: Array) -> tuple[Array, Array]:
    """Log likelihood ratios [G], twice, of votes W [G, K, K] against ratings theta [G, K] made without the judge.

    - keys pressed at random;
    - one entrant, the likeliest, wins (or loses) 19 times in 20 whoever it meets.
    By Markov's inequality a judge who votes by the ratings exceeds ln(1/a) with a chance of a at most, for one entrant.
    """
    gaps = theta[:, :, None] - theta[:, None, :]
    by_ratings = wins * log_expit(gaps)
    usual = by_ratings.sum(2) + by_ratings.sum(1)
    won, lost = wins.sum(2), wins.sum(1)
    often, seldom = np.log(0.95), np.log(0.05)
    for_it, against = won * often + lost * seldom - usual, won * seldom + lost * often - usual
    random_keys = -by_ratings.sum((1, 2)) - np.log(2) * wins.sum((1, 2))
    return random_keys, np.maximum(for_it, against).max(1, initial=0)


def accord(wins: Array, theta: Array, unsure: Array, taste: float) -> Array:
    """Score [G] of votes W [G, K, K] for a slope above 1 on ratings theta [G, K] made without the judge, standardised.

    - Its mean: ratings with an error of covariance `unsure` [G, K, K] lie too far apart, which an honest judge must not pay for.
    - Its variance: chance, an honest judge's own taste, N(0, taste) for each entrant, and that error.
    - Its skewness is taken out by Cornish and Fisher's first term.

    So it is about N(0, 1) for an honest judge, and far below for a clicker.
    """
    gaps = theta[:, :, None] - theta[:, None, :]
    p = expit(gaps)
    spread = p * (1 - p)
    met = (wins + wins.transpose(0, 2, 1)) * spread
    own = np.diagonal(unsure, axis1=1, axis2=2)
    of_gaps = own[:, :, None] + own[:, None, :] - 2 * unsure
    score = (wins * gaps * (1 - p)).sum((1, 2)) + (met * of_gaps).sum((1, 2)) / 2
    pull = (met * gaps).sum(2)  # how a shift of each entrant moves the score
    shifted = taste * (pull**2).sum(1) + np.einsum("gi,gij,gj->g", pull, unsure, pull)
    variance = (wins * gaps**2 * spread).sum((1, 2)) + shifted
    third = (wins * gaps**3 * spread * (1 - 2 * p)).sum((1, 2))
    known = np.maximum(variance, 1e-12)
    z = score / np.sqrt(known)
    # Beyond three standard deviations the term is held, or it would turn a clear case round.
    return np.where(variance > 1e-12, z - third / known**1.5 * (np.minimum(z**2, 9) - 1) / 6, 0.0)
