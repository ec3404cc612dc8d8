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
    return float(sequence_quantiles(votes, alpha=alpha, df=df, tuned_for=tuned_for))


def sequence_quantiles(votes: Any, *, alpha: float, df: Any, tuned_for: float = TUNED_FOR) -> Array:
    """The same for many numbers of votes, or degrees of freedom, at once; infinite without votes."""
    votes, df = np.broadcast_arrays(np.asarray(votes, float), np.asarray(df, float))
    rho2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / tuned_for
    x = np.maximum(votes, 1) * rho2
    normal = np.sqrt(2 * (x + 1) / x * np.log(np.sqrt(x + 1) / alpha))
    bounded = np.isfinite(df)
    multiple = np.where(bounded, -stdtrit(np.where(bounded, df, 1.0), ndtr(-normal)), normal)
    return np.where(votes > 0, multiple, np.inf)
