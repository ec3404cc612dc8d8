"""The frontier of quality against cost: who is best for the price, and how sure that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
NORMAL = 1.959964  # half of a 95% interval in standard deviations


def on_frontier(quality: Array, cost: Array) -> Array:
    """[..., K]: whether nobody as cheap or cheaper is better; `quality` may hold one set of ratings a row."""
    no_dearer = cost[None, :] <= cost[:, None]  # [i, j]: j costs no more than i
    better = quality[..., None, :] > quality[..., :, None]
    beaten: Array = np.asarray((better & no_dearer).any(-1))
    return ~beaten


def frontier_chances(
    quality: Array, covariance: Array, cost: Array, *, df: float = np.inf, seed: int = 1, draws: int = 4000
) -> Array:
    """[K]: how often each is on the frontier when ratings are drawn together; costs are taken as exact."""
    rng = np.random.default_rng(seed)
    values, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    noise = (rng.standard_normal((draws, len(quality))) * np.sqrt(np.maximum(values, 0))) @ axes.T
    if np.isfinite(df):
        noise *= np.sqrt(df / rng.chisquare(df, draws))[:, None]
    chances: Array = on_frontier(quality + noise, cost).mean(0)
    return chances


def independent(low: Array, high: Array) -> Array:
    """A covariance from 95% intervals alone, as if they had nothing in common."""
    return np.diag(((high - low) / (2 * NORMAL)) ** 2)
