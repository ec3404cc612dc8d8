"""Intervals of shares, and the well-known arena's rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsite.lib.shares import Z95, wilson

__all__ = ["Z95", "arena_rank", "wilson"]

Array = NDArray[Any]


def arena_rank(low: Array, high: Array) -> Array:
    """1 + the number of entrants whose lower bound is above my upper bound (the best-known arena's rule)."""
    return 1 + (np.asarray(low)[None, :] > np.asarray(high)[:, None]).sum(1)
