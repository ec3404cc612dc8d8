"""A multiple of the standard error that holds however often one looks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

Array = NDArray[Any]
TUNED_FOR = 1000  # votes at which the sequence is tightest


def sequence_quantile(votes: float, *, alpha: float = 0.05, df: float = np.inf, tuned_for: float = TUNED_FOR) -> float:
    """Multiple of the standard error that holds at every number of votes at once.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), eq. (14): a normal
    mixture, tightest at `tuned_for` votes. With few clusters the normal tail is replaced by Student's.
    """
    if votes <= 0:
        return math.inf
    normal = _normal_multiple(votes, alpha, tuned_for)
    return -float(stdtrit(df, float(ndtr(-normal)))) if math.isfinite(df) else normal


def _normal_multiple(votes: float, alpha: float, tuned_for: float) -> float:
    rho2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / tuned_for
    x = max(votes, 1) * rho2
    return math.sqrt(2 * (x + 1) / x * math.log(math.sqrt(x + 1) / alpha))


def sequence_quantiles(votes: float, *, alpha: float, df: Any, tuned_for: float = TUNED_FOR) -> Array:
    """The same for many degrees of freedom at once; infinite without votes."""
    df = np.asarray(df, float)
    if votes <= 0:
        return np.full(df.shape, np.inf)
    normal = _normal_multiple(votes, alpha, tuned_for)
    bounded = np.isfinite(df)
    return np.where(bounded, -stdtrit(np.where(bounded, df, 1.0), ndtr(-normal)), normal)
