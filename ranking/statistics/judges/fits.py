"""Judges one by one: own rankings shrunk to the pooled one, reliability, side bias, and what looks odd."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, expit, log_expit, ndtri, stdtrit

from ranking.statistics.ratings.bradley_terry import (
    RIDGE,
    connectivity,
    half_wins,
    information,
    map_ratings,
    residual_table,
)
from ranking.statistics.ratings.intervals import Z95
from ranking.statistics.ratings.scopes import ScopeFit, Settings, judge_weights, times
from ranking.statistics.ratings.shrinkage import BATCH, choose_strength, shrink
from ranking.statistics.votes import Cells, Tallies, Votes

Array = NDArray[Any]
PRIOR_SLOPE, PRIOR_SD = 1.0, 0.5
RANDOM_KEYS = np.log(200)  # the bound is cautious: at this one about 1 honest judge in 1000 is taken for a clicker
SLIGHT = 0.01
DOUBTFUL = float(ndtri(0.01))


@dataclass(frozen=True)
class JudgeFits:
    """Per judge (first axis, in the order of the name table).

    - `outcomes` [J, 4] counts votes by key; `tallies` [J, K, 4] each entrant's wins, losses, ties and fails.
    - `theta`, `variance` [J, K]: own ratings shrunk to the pooled ones with one `strength`, and posterior variances.
    - `slope`, `slope_se` [J]: reliability; 1 is the average judge, 0 clicks at random.
    - `without` [J, K]: everybody's ratings when this judge's votes are left out.
    - `random_keys`, `one_entrant` [J]: log-odds of two odd habits against judging by those ratings (`odd_habits`).
    - `accord` [J]: how well votes follow those ratings, standard normal for an honest judge (`accord`).
    """

    outcomes: Array
    tallies: Array
    theta: Array
    variance: Array
    strength: float
    slope: Array
    slope_se: Array
    without: Array
    random_keys: Array
    one_entrant: Array
    accord: Array

    @property
    def votes(self) -> Array:
        return self.outcomes.sum(1)


def fit_judges(tallies: Tallies, overall: ScopeFit, settings: Settings) -> JudgeFits:
    """All judges from tallies; work and memory in batches of judges."""
    judges, size = len(tallies.judges), len(tallies.entrants)
    outcomes, record = np.zeros((judges, 4)), np.zeros((judges, size, 4))
    theta, variance = np.tile(overall.theta, (judges, 1)), np.zeros((judges, size))
    slope, slope_se = np.ones(judges), np.full(judges, PRIOR_SD)
    without = np.tile(overall.theta, (judges, 1))
    random_keys, one_entrant, accords = np.zeros(judges), np.zeros(judges), np.zeros(judges)
    strength = 0.0
    for here, counts in judge_batches(tallies):
        outcomes[here] = counts.sum((1, 2))
        record[here] = entrant_record(counts)
        wins = half_wins(counts, **settings.halves)
        strength = strength or choose_strength(wins, overall.theta)
        shrunk = shrink(wins, overall.theta, strength)
        theta[here], variance[here] = shrunk.theta, shrunk.variance
        without[here], unsure = leave_out(overall, wins * tallies.weights[here, None, None])
        slope[here], slope_se[here] = reliability(wins, without[here])
        random_keys[here], one_entrant[here] = odd_habits(wins, without[here])
        accords[here] = accord(wins, without[here], unsure, strength)
    habits = (random_keys, one_entrant, accords)
    return JudgeFits(outcomes, record, theta, variance, strength, slope, slope_se, without, *habits)


def judge_batches(tallies: Tallies) -> Any:
    """(judge numbers, counts [B, K, K, 4]) of up to 64 judges at a time; judges without votes included."""
    cells, size = tallies.by_judge, len(tallies.entrants)
    order = np.argsort(cells.cluster, kind="stable")
    ordered = cells.cluster[order]
    for first in range(0, len(tallies.judges), BATCH):
        here = np.arange(first, min(first + BATCH, len(tallies.judges)))
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
    broken = np.array([connectivity(table).components > 1 for table in rest], bool)
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


def odd_habits(wins: Array, theta: Array) -> tuple[Array, Array]:
    """Log likelihood ratios [G], twice, of votes W [G, K, K] against ratings theta [G, K] made without the judge.

    - keys pressed at random;
    - one entrant, the likeliest, wins (or loses) 19 times in 20 whoever it meets.
    By Markov's inequality a judge who votes by the ratings exceeds ln(1/a) with a chance of a at most, for one entrant.
    """
    gaps = theta[:, :, None] - theta[:, None, :]
    won, lost = log_expit(gaps), log_expit(-gaps)
    losses = wins.transpose(0, 2, 1)
    usual = (wins * won + losses * lost).sum(2)
    often, seldom = np.log(0.95), np.log(0.05)
    for_it = (wins * often + losses * seldom).sum(2) - usual
    against = (wins * seldom + losses * often).sum(2) - usual
    random_keys = -(wins * (won + np.log(2))).sum((1, 2))
    return random_keys, np.maximum(for_it, against).max(1, initial=0)


def accord(wins: Array, theta: Array, unsure: Array, strength: float) -> Array:
    """Score [G] of votes W [G, K, K] for a slope above 1 on ratings theta [G, K] made without the judge, standardised.

    - Its mean: ratings with an error of covariance `unsure` [G, K, K] lie too far apart, which an honest judge must not pay for.
    - Its variance: chance, an honest judge's own taste, N(0, 1/strength) for each entrant, and that error.
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
    shifted = (pull**2).sum(1) / strength + np.einsum("gi,gij,gj->g", pull, unsure, pull)
    variance = (wins * gaps**2 * spread).sum((1, 2)) + shifted
    third = (wins * gaps**3 * spread * (1 - 2 * p)).sum((1, 2))
    known = np.maximum(variance, 1e-12)
    z = score / np.sqrt(known)
    # Beyond three standard deviations the term is held, or it would turn a clear case round.
    return np.where(variance > 1e-12, z - third / known**1.5 * (np.minimum(z**2, 9) - 1) / 6, 0.0)


@dataclass(frozen=True)
class SideBias:
    """How much being shown left helps, in log-odds, with a two-way clustered interval; None without votes."""

    logit: float | None
    low: float | None
    high: float | None


def side_bias(tallies: Tallies, overall: ScopeFit, settings: Settings) -> SideBias:
    """One extra logit column beside the ratings; its variance is summed by judge and by prompt like a rating's."""
    size = len(tallies.entrants)
    fitted = _fit_bias(overall, settings) if size > 1 and overall.wins.any() else None
    if fitted is None:
        return SideBias(None, None, None)
    theta, bias, leverage, weight = fitted
    table = (
        residual_table(theta, side_bias=bias, **settings.halves)
        * ((1 - leverage[:, None] + leverage[None, :]) / weight)[..., None]
    )
    iid = float((overall.squared * table**2).sum())
    ways = [
        _summed(tallies.by_judge, table, times(tallies.by_judge.n, judge_weights(tallies)), len(tallies.judges)),
        _summed(tallies.by_prompt, table, tallies.by_prompt.n, len(tallies.prompts)),
    ]
    ways = [(g / (g - 1) * total, g) for total, g in ways if g > 1]
    one_way = [total for total, _ in ways]
    variance = max([*one_way, sum(one_way) - iid]) if len(ways) == 2 else max(one_way, default=iid)
    half = float(stdtrit(min(g for _, g in ways) - 1, 0.975) if ways else Z95) * float(np.sqrt(variance))
    return SideBias(bias, bias - half, bias + half)


def _fit_bias(overall: ScopeFit, settings: Settings) -> tuple[Array, float, Array, float] | None:
    """Ratings and bias together by Newton; also the leverage of each rating on the bias and the bias's information."""
    size = len(overall.theta)
    theta, bias = overall.theta.copy(), 0.0
    counted = residual_table(np.zeros(size), **settings.halves) != 0
    shown = (overall.weighted * counted).sum(-1)  # votes with i on the left of j
    for _ in range(50):
        table = residual_table(theta, side_bias=bias, **settings.halves)
        residual = (overall.weighted * table).sum(-1)
        p = expit(theta[:, None] - theta[None, :] + bias)
        spread = shown * p * (1 - p)
        bread = information_of(spread) + RIDGE * 1e-6 * np.eye(size)
        cross = spread.sum(1) - spread.sum(0)
        leverage = np.linalg.solve(bread, cross)
        weight = float(spread.sum() - cross @ leverage)
        if weight < 1e-9:
            return None
        gradient = residual.sum(1) - residual.sum(0)
        step_bias = (residual.sum() - leverage @ gradient) / weight
        step_bias = float(np.clip(step_bias, -1, 1))
        step = np.clip(np.linalg.solve(bread, gradient - cross * step_bias), -1, 1)
        theta, bias = theta + step - step.mean(), bias + step_bias
        if abs(bias) > 12:
            return None
        if max(abs(step_bias), float(np.abs(step).max())) < 1e-9:
            break
    return theta, bias, leverage, weight


def information_of(spread: Array) -> Array:
    """Information [K, K] from the spread p(1-p)n of each ordered pair."""
    return information(4 * spread, np.zeros(len(spread)))


def _summed(cells: Cells, table: Array, n: Array | None, clusters: int) -> tuple[float, float]:
    """Sum over clusters of squared summed influences, and how many clusters; loners each stand alone."""
    value = table[cells.left, cells.right, cells.outcome]
    known = cells.cluster >= 0
    ones = np.ones(len(value)) if n is None else n
    sums = np.bincount(cells.cluster[known], (value * ones)[known], clusters)
    groups = (np.bincount(cells.cluster[known], minlength=clusters) > 0).sum()
    return float((sums**2).sum() + (ones * value**2)[~known].sum()), float(groups + ones[~known].sum())


@dataclass(frozen=True)
class Behaviour:
    """How a judge works, from rows in order of time: seconds, keys, and runs of one key."""

    median_ms: float | None
    p5_ms: float | None
    longest_run: int


def judge_behaviour(votes: Votes) -> list[Behaviour]:
    """One for each judge; repeats included, since they are keys pressed as well."""
    order = np.lexsort((votes.time, votes.judge))
    judge, outcome, pace = votes.judge[order], votes.outcome[order], votes.response_ms[order]
    edges = np.searchsorted(judge, np.arange(len(votes.judges) + 1))
    return [_behave(outcome[a:b], pace[a:b]) for a, b in pairwise(edges)]


def _behave(outcome: Array, pace: Array) -> Behaviour:
    changes = np.flatnonzero(np.diff(outcome)) + 1
    runs = np.diff(np.concatenate(([0], changes, [len(outcome)])))
    pace = pace[~np.isnan(pace)]
    median, p5 = (float(np.median(pace)), float(np.quantile(pace, 0.05))) if len(pace) else (None, None)
    return Behaviour(median, p5, int(runs.max(initial=0)))


def judge_flags(fits: JudgeFits, judge: int, behaviour: Behaviour | None, usual_ms: float | None) -> list[str]:
    """Codes of what looks odd: advice to a curator, never a verdict.

    Each test is passed by chance about 1 in 1000 times, but `doubtful`, the same question as `unreliable`, 1 in 100 times; these
    two more often among a handful of judges, whose ratings are unsure (docs/statistics.md has figures).
    """
    left, right, ties, fails = fits.outcomes[judge]
    votes = fits.outcomes[judge].sum()
    flags = []
    if fits.accord[judge] < DOUBTFUL:
        clear = fits.slope[judge] + 1.645 * fits.slope_se[judge] < 0.5 or fits.random_keys[judge] > RANDOM_KEYS
        flags.append("unreliable" if clear else "doubtful")
    if fits.one_entrant[judge] > np.log(1000 * fits.theta.shape[1]):
        flags.append("one_entrant")
    if left + right and 2 * bdtr(min(left, right), int(left + right), 0.5) < 0.001:
        flags.append("one_side")
    pooled = fits.outcomes[:, 2:].sum() / max(fits.votes.sum(), 1)
    if votes and ties + fails > 0.8 * votes and bdtrc(ties + fails - 1, int(votes), pooled) < 0.001:
        flags.append("few_decisions")
    if behaviour is not None:
        share = fits.outcomes[judge].max(initial=0) / max(votes, 1)
        expected_runs = votes * (1 - share) * share**behaviour.longest_run
        if behaviour.longest_run >= 10 and expected_runs < 0.001 * (1 + (share == 1)):
            flags.append("same_key")
        if behaviour.median_ms is not None and usual_ms and votes >= 20 and behaviour.median_ms < 0.25 * usual_ms:
            flags.append("fast")
    return flags
