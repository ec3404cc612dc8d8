"""A statistic of column sums with an interval that knows rows of one judge, or of one prompt, to be alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ranking.statistics.agreement.coefficients import Estimate
from ranking.statistics.ratings.intervals import clustered_mean

Array = NDArray[Any]


def clustered_estimate(
    columns: Array,
    statistic: Callable[[Array], Array],
    *ways: Array,
    within: tuple[float, float] = (-1.0, 1.0),
) -> Estimate:
    """`statistic` of the sums of columns [n, S], with a 95% interval; each of `ways` [n] names the rows' clusters.

    A way [n, 2] names two clusters of each row, such as two people who are compared.

    Variances of leaving out one cluster at a time are added over the ways, less that of single rows (Cameron, Gelbach and
    Miller 2011), and never below the latter; Student's t with the fewest clusters. A way with one cluster is left out.
    """
    if not len(columns):
        return Estimate(None)
    total = columns.sum(0)
    value = float(statistic(total))
    variances, fewest = [], np.inf
    for way in ways:
        labels, number = np.unique(way, return_inverse=True)
        if len(labels) < 2:
            continue
        places = number.reshape(len(columns), -1).T
        sums = sum(np.array([np.bincount(place, column, len(labels)) for column in columns.T]).T for place in places)
        variances.append(_left_out(statistic(total - sums)))
        fewest = min(fewest, len(labels))
    if not variances:
        return Estimate(value)
    rows = _left_out(statistic(total - columns)) if len(columns) > 1 else 0.0
    variance = max(rows, sum(variances) - (len(variances) - 1) * rows)
    if variance <= 1e-12:
        return Estimate(value)
    half = float(stdtrit(fewest - 1, 0.975) * np.sqrt(variance))
    return Estimate(value, max(within[0], value - half), min(within[1], value + half))


def _left_out(values: Array) -> float:
    groups = len(values)
    return float((groups - 1) / groups * ((values - values.mean()) ** 2).sum())


def clustered_share(hits: Array, *ways: Array) -> Estimate:
    """The share of rows [n] that are hits; where all rows are alike, limits as for one row of each of the fewest clusters."""
    hits = np.asarray(hits, float)
    pairs = np.column_stack([hits, np.ones(len(hits))])
    estimate = clustered_estimate(
        pairs, lambda sums: sums[..., 0] / np.maximum(sums[..., 1], 1), *ways, within=(0.0, 1.0)
    )
    if estimate.value is None or estimate.low is not None:
        return estimate
    counted = [way for way in ways if len(np.unique(way)) > 1]
    if not counted:
        return estimate
    _, low, high = clustered_mean(hits, min(counted, key=lambda way: len(np.unique(way))))
    return Estimate(estimate.value, low, high)
