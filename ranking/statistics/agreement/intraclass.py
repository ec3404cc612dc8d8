"""Intraclass correlations: how far judges' scores of the same targets agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ranking.statistics.agreement.coefficients import Estimate

Array = NDArray[Any]


@dataclass(frozen=True)
class Icc:
    """Intraclass correlations of Shrout and Fleiss (1979); for one judge and for the mean of k."""

    icc1: float | None
    icc2: float | None
    icc3: float | None
    icc1k: float | None
    icc2k: float | None
    icc3k: float | None
    targets: int
    judges: int


def icc(scores: Array) -> Icc:
    """From scores [targets, judges]; a target that some judge left out (NaN) is not used."""
    scores = np.asarray(scores, float)
    scores = scores[~np.isnan(scores).any(1)] if scores.size else scores.reshape(0, 0)
    n, k = scores.shape
    if n < 2 or k < 2:
        return Icc(None, None, None, None, None, None, n, k)
    grand, rows, columns = scores.mean(), scores.mean(1), scores.mean(0)
    between = k * ((rows - grand) ** 2).sum() / (n - 1)
    judges = n * ((columns - grand) ** 2).sum() / (k - 1)
    total = ((scores - grand) ** 2).sum()
    error = (total - between * (n - 1) - judges * (k - 1)) / ((n - 1) * (k - 1))
    within = (total - between * (n - 1)) / (n * (k - 1))

    def share(top: float, bottom: float) -> float | None:
        return float(top / bottom) if bottom > 0 else None

    return Icc(
        icc1=share(between - within, between + (k - 1) * within),
        icc2=share(between - error, between + (k - 1) * error + k * (judges - error) / n),
        icc3=share(between - error, between + (k - 1) * error),
        icc1k=share(between - within, between),
        icc2k=share(between - error, between + (judges - error) / n),
        icc3k=share(between - error, between),
        targets=n,
        judges=k,
    )


def icc_interval(scores: Array, pick: Callable[[Icc], float | None]) -> Estimate:
    """One of the correlations with its jackknife interval over targets."""
    scores = np.asarray(scores, float)
    scores = scores[~np.isnan(scores).any(1)] if scores.size else scores.reshape(0, 0)
    value = pick(icc(scores))
    n = len(scores)
    if value is None or n < 3:
        return Estimate(value)
    others = [pick(icc(np.delete(scores, i, 0))) for i in range(n)]
    if any(other is None for other in others):
        return Estimate(value)
    left_out = np.array(others, float)
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    half = float(stdtrit(n - 1, 0.975) * error)
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half))
