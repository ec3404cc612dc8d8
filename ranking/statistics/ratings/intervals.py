"""Intervals of shares, and the well-known arena's rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[Any]
Z95 = float(ndtri(0.975))


def arena_rank(low: Array, high: Array) -> Array:
    """1 + the number of entrants whose lower bound is above my upper bound (the best-known arena's rule)."""
    return 1 + (np.asarray(low)[None, :] > np.asarray(high)[:, None]).sum(1)


def wilson(successes: float, trials: float) -> tuple[float, float] | tuple[None, None]:
    """Wilson's 95% interval for a share; (None, None) without trials."""
    if trials <= 0:
        return None, None
    z, share = Z95, successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))
