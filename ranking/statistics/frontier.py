"""The frontier of quality against cost: who is best for the price, and how sure that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.best import draw_ratings

Array = NDArray[Any]
USUAL_SPREAD = 0.3  # log-odds
NORMAL = 1.959964  # half of a 95% interval in standard deviations


def on_frontier(quality: Array, cost: Array, comparable: Array | None = None) -> Array:
    """[..., K]: whether nobody as cheap or cheaper is better; `quality` may hold one set of ratings a row.

    `comparable` [K, K] says who can be compared with whom; None: everybody.
    """
    no_dearer = cost[None, :] <= cost[:, None]  # [i, j]: j costs no more than i
    if comparable is not None:
        no_dearer = no_dearer & comparable
    better = quality[..., None, :] > quality[..., :, None]
    beaten: Array = np.asarray((better & no_dearer).any(-1))
    return ~beaten


def frontier_chances(
    quality: Array,
    covariance: Array,
    cost: Array,
    *,
    df: float = np.inf,
    unit: float | None = None,
    seed: int = 1,
    draws: int = 4000,
) -> Array:
    """[K]: how often each is on the frontier when ratings are drawn together; costs are taken as exact.

    Draws are those of the chance of being best, under the same prior for how far entrants lie apart; `unit` is one log-odds
    in the unit of `quality` (None: as far as the qualities lie apart). A covariance of NaN is of two that never met: each
    group that met is drawn by itself, and its entrants are compared with each other only.
    """
    rng = np.random.default_rng(seed)
    comparable = np.isfinite(covariance)
    chances: Array = np.ones(len(quality))
    for group in {tuple(np.flatnonzero(row)) for row in comparable}:
        here = np.array(group)
        if len(here) < 2:
            continue
        scale = unit or float(quality[here].std()) / USUAL_SPREAD or 1.0
        drawn = draw_ratings(quality[here], covariance[np.ix_(here, here)], df, rng, draws, unit=scale)
        chances[here] = on_frontier(drawn, cost[here]).mean(0)
    return chances


def independent(low: Array, high: Array) -> Array:
    """A covariance from 95% intervals alone, as if they had nothing in common."""
    return np.diag(((high - low) / (2 * NORMAL)) ** 2)
