"""Intervals of shares and of mean scores, also where nearly all are alike, sums by cluster, and the well-known arena's rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit

from benchsite.lib.shares import Z95, wilson
from ranking.statistics.tallies import Cells

__all__ = ["LEVEL", "Z95", "alike_interval", "arena_rank", "clustered_mean", "squared_sums", "unseen_share", "wilson"]

Array = NDArray[Any]
LEVEL = 0.95
FEW_UNLIKE = 5  # scores unlike the usual one from which their spread can be taken as known


def arena_rank(low: Array, high: Array) -> Array:
    """1 + the number of entrants whose lower bound is above my upper bound (the best-known arena's rule)."""
    return 1 + (np.asarray(low)[None, :] > np.asarray(high)[:, None]).sum(1)


def unseen_share(units: int, level: float = 0.95) -> float:
    """The largest share of all units that so many, drawn at random, may have missed entirely (the rule of three, exactly)."""
    return float(1 - ((1 - level) / 2) ** (1 / units))


def alike_interval(
    scores: Array, *, within: tuple[float, float] = (0.0, 1.0), level: float = 0.95
) -> tuple[float, float] | None:
    """Limits of the mean of bounded scores, one for each unit, more than half of which are one value; None where they are not.

    Their spread says little where fewer than five are unlike that value. So the share of unlike ones is taken by Clopper and
    Pearson at its largest, and one more of them is placed at either end: the interval is never of no width, and with no
    unlike one it holds for scores of any distribution.
    """
    values, counts = np.unique(np.round(scores, 12), return_counts=True)
    usual, unlike = values[counts.argmax()], len(scores) - int(counts.max())
    if unlike >= FEW_UNLIKE or 2 * unlike >= len(scores):
        return None
    tail = (1 - level) / 2
    most = float(betaincinv(unlike + 1, len(scores) - unlike, 1 - tail))
    rest = float(scores.sum() - (len(scores) - unlike) * usual)
    low, high = ((1 - most) * usual + most * (rest + end) / (unlike + 1) for end in within)
    return max(float(low), within[0]), min(float(high), within[1])


def clustered_mean(values: Array, clusters: Array) -> tuple[float, float, float]:
    """Mean of values [n] with its 95% interval (mean, low, high) when values of one cluster [n] are not independent.

    V = G/(G−1) · Σ_g (Σ_{i∈g} (x_i − x̄))² / n² over the G clusters (the CR1 sandwich of a mean), t with G − 1 degrees
    of freedom, cut to [0, 1]. Where nearly all clusters have one and the same mean, not shorter than `alike_interval`.
    One cluster says nothing about others: then low and high are NaN.
    """
    values = np.asarray(values, dtype=float)
    mean = float(values.mean())
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1].ravel()
    count = int(codes.max(initial=0)) + 1
    if count < 2:
        return mean, float("nan"), float("nan")
    sums = np.bincount(codes, weights=values - mean)
    error = np.sqrt(count / (count - 1) * (sums**2).sum()) / len(values)
    reach = stdtrit(count - 1, (1 + LEVEL) / 2) * error
    low, high = max(mean - reach, 0.0), min(mean + reach, 1.0)
    if alike := alike_interval(np.bincount(codes, weights=values) / np.bincount(codes)):
        low, high = min(low, alike[0]), max(high, alike[1])
    return mean, float(low), float(high)


def squared_sums(cells: Cells, table: Array, n: Array | None, clusters: int) -> tuple[float, float]:
    """Sum over clusters of squared summed influences (by left, right and outcome: `table`), and how many clusters; loners each stand alone."""
    value = table.ravel()[cells.codes(len(table))]
    pulled = value if n is None else value * n
    if (starts := cells.starts()) is not None:
        return float((np.add.reduceat(pulled, starts) ** 2).sum()), float(len(starts))
    known = cells.cluster >= 0
    alone, ones = ~known, np.ones(len(value)) if n is None else n
    sums = np.bincount(cells.cluster[known], pulled[known], clusters)
    groups = (np.bincount(cells.cluster[known], minlength=clusters) > 0).sum()
    return float((sums**2).sum() + (pulled * value)[alone].sum()), float(groups + ones[alone].sum())
