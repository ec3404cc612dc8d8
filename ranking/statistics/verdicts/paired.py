"""Verdicts from paired differences: two entrants are compared on the prompts that both answered, not by their intervals.

A hard prompt is hard for all, so most of what makes a score uncertain cancels in a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.verdicts.pairs import AHEAD, APART, EQUAL, TIED, UNDECIDED, Verdicts

Array = NDArray[Any]
LEVEL = 0.95
SEED, DRAWS = 1, 2000
MOST_NUMBERS = 2_000_000  # drawn at once


@dataclass(frozen=True)
class Gaps:
    """Differences of all pairs [K, K], with variance and degrees of freedom of each; NaN gaps were never compared.

    `units` is how many prompts (or other clusters) each gap rests on; `covariance` [K, K] is that of the scores.
    """

    gap: Array
    variance: Array
    df: Array
    units: Array
    covariance: Array


def paired_gaps(cells: Array) -> Gaps:
    """From mean scores [K, P] by entrant and prompt (NaN where there is no answer): t-statistics of shared prompts."""
    known = ~np.isnan(cells)
    size = len(cells)
    gap, variance, units = np.full((size, size), np.nan), np.full((size, size), np.inf), np.zeros((size, size))
    for i in range(size):
        shared = known & known[i]
        count = shared.sum(1)
        differences = np.where(shared, cells[i] - cells, 0.0)
        mean = differences.sum(1) / np.maximum(count, 1)
        squares = (np.where(shared, differences - mean[:, None], 0.0) ** 2).sum(1)
        gap[i] = np.where(count > 0, mean, np.nan)
        variance[i] = np.where(count > 1, squares / np.maximum(count - 1, 1) / np.maximum(count, 1), np.inf)
        units[i] = count
    return Gaps(gap, _never_surer(gap, variance, units), np.maximum(units - 1, 1), units, _covariance(cells, known))


def _never_surer(gap: Array, variance: Array, units: Array) -> Array:
    """No gap is more of its standard errors wide than its units squared: two prompts that agree exactly prove little."""
    return np.maximum(variance, (np.nan_to_num(gap) / np.maximum(units, 1) ** 2) ** 2)


def _covariance(cells: Array, known: Array) -> Array:
    """Of the entrants' means, from deviations by prompt; what is common to all entrants is no part of it."""
    common = np.where(known, cells, 0).sum(0) / np.maximum(known.sum(0), 1)
    own = np.where(known, cells - common, np.nan)
    counts = known.sum(1)
    means = np.where(counts > 0, np.nansum(own, 1) / np.maximum(counts, 1), 0)
    deviations = np.where(known, own - means[:, None], 0) / np.maximum(counts, 1)[:, None]
    return deviations @ deviations.T


def judge_gaps(gaps: Gaps, *, margin: float, level: float = LEVEL) -> Verdicts:
    """One verdict for every pair, at this look: ahead, or within the margin, simultaneously over all pairs.

    None is settled: answers and grades come in by prompt, attempt and judge at once, and no bound is known that holds
    however often one looks at them. `margin` is what counts as practically equal, in the unit of the scores.
    """
    met = ~np.isnan(gaps.gap)
    gap = np.where(met, gaps.gap, 0.0)
    error = np.sqrt(np.where(np.isfinite(gaps.variance), gaps.variance, 0.0))
    # Scores that are exactly equal on a few prompts do not show that they are on all.
    certain = met & np.isfinite(gaps.variance) & (gaps.variance > EQUAL**2)
    tail = student_tail(gaps, certain, level=level)
    look = np.where(certain, t_quantile(gaps.df, 1 - tail) * error, np.inf)
    distance = np.abs(gap)
    state = np.select(
        [~met, (distance > look) & (distance > EQUAL), distance + look < margin], [APART, AHEAD, TIED], UNDECIDED
    )
    np.fill_diagonal(state, TIED)
    reach = np.where(certain, t_quantile(gaps.df, 0.5 + level / 2) * error, np.inf)
    return Verdicts(gap, reach, look, np.full_like(gap, np.inf), state, margin)


def student_tail(gaps: Gaps, known: Array, *, level: float) -> float:
    """The one-sided tail of a single pair that makes all pairs together right: by draws, each pair with its own variance.

    With few prompts a pair's variance is itself mostly chance, and the more pairs, the likelier one is far too small.
    """
    upper, lower = np.nonzero(np.triu(known, 1))
    if not len(upper):
        return (1 - level) / 2
    draws = max(min(DRAWS, MOST_NUMBERS // len(upper)), 200)
    rng = np.random.default_rng(SEED)
    values, vectors = np.linalg.eigh(gaps.covariance)
    noise = (rng.standard_normal((draws, len(values))) * np.sqrt(np.maximum(values, 0))) @ vectors.T
    own, df = np.diag(gaps.covariance), np.minimum(gaps.df[upper, lower], 1e6)  # draws need a finite number
    error = np.sqrt(np.maximum(own[upper] + own[lower] - 2 * gaps.covariance[upper, lower], 0))
    moving = error > 0
    if not moving.any():
        return (1 - level) / 2 / len(upper)
    upper, lower, error, df = upper[moving], lower[moving], error[moving], df[moving]
    z = np.abs(noise[:, upper] - noise[:, lower]) / error * np.sqrt(df / rng.chisquare(df, (draws, len(df))))
    return float(np.quantile(stdtr(df, -z).min(1), 1 - level))


def verdict_table(
    verdicts: Verdicts, names: Sequence[str], order: Sequence[int], *, unit: float = 1.0
) -> dict[str, Any]:
    """Every pair once, better first; `low` and `high` are the gap's own 95% interval; `brackets` of places in the order."""
    pairs = []
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            gap, reach = unit * verdicts.gap[i, j], unit * verdicts.reach[i, j]
            upper, lower, gap = (i, j, gap) if gap >= 0 else (j, i, -gap)
            ends = {"upper": names[upper], "lower": names[lower], "state": verdicts.name(i, j)}
            low, high = gap - reach, gap + reach
            if verdicts.endless is not None:
                low = -np.inf if verdicts.endless[lower, upper] else low
                high = np.inf if verdicts.endless[upper, lower] else high
            pairs.append(ends | {"gap": gap, "low": low, "high": high})
    return {"pairs": pairs, "brackets": verdicts.brackets(list(order))}
