"""The chance of being the best: draws from what the intervals say, under a prior for how far entrants lie apart."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.precision import Precision

Array = NDArray[Any]
# Standard deviations of ratings that are tried (log-odds), each weighted by how well it explains the ratings.
SPREADS = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2.0])
SPACING = np.gradient(SPREADS)


def chance_of_best(theta: Array, spread: Precision, *, island: Array, seed: int = 1, draws: int = 2000) -> Array:
    """[K]: how often each entrant is the best of its island; equal chances where votes decide nothing."""
    chances = np.zeros(len(theta))
    rng = np.random.default_rng(seed)
    for label in np.unique(island):
        here = np.flatnonzero(island == label)
        known = np.isfinite(spread.variance[here]).all()
        joint = spread.scaled_covariance[np.ix_(here, here)]
        df = float(np.median(spread.df[here]))
        drawn = draw_ratings(theta[here], joint, df, rng, draws) if known and len(here) > 1 else None
        if drawn is None:
            chances[here] = 1 / len(here)
        else:
            chances[here] = np.bincount(drawn.argmax(1), minlength=len(here)) / draws
    return chances


def draw_ratings(
    theta: Array, covariance: Array, df: float, rng: np.random.Generator, draws: int, *, unit: float = 1.0
) -> Array:
    """Ratings around their mean [draws, K] from their posterior: a spread first, then each rating drawn to the mean accordingly.

    `unit` is one log-odds in the unit of theta.
    """
    size = len(theta)
    centre = np.eye(size) - 1 / size
    covariance = centre @ covariance @ centre
    spreads = SPREADS * unit
    noise, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    noise = np.maximum(noise, 0.0)[1:]  # the first axis is the common mean, which is fixed
    axes = axes[:, 1:]
    at = axes.T @ (theta - theta.mean())
    total = noise + spreads[:, None] ** 2
    evidence = -0.5 * (at**2 / total + np.log(total)).sum(1) + np.log(SPACING)
    weight = np.exp(evidence - evidence.max())
    prior = spreads[rng.choice(len(spreads), draws, p=weight / weight.sum())][:, None] ** 2
    deviation = rng.standard_normal((draws, size - 1)) * np.sqrt(noise * prior / (noise + prior))
    if np.isfinite(df):
        deviation *= np.sqrt(df / rng.chisquare(df, draws))[:, None]
    return (prior * at / (noise + prior) + deviation) @ axes.T


@lru_cache(maxsize=1)
def normal_draws(seed: int, draws: int, size: int) -> tuple[Array, np.random.Generator]:
    """Standard normal numbers [draws, size], and the generator after them, which callers copy: every scope draws the same ones."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((draws, size))
    normal.flags.writeable = False
    return normal, rng


def draw_best(theta: Array, covariance: Array, df: float, island: Array, *, seed: int = 1, draws: int = 2000) -> Array:
    """[K]: how often each is the best of its island, for ratings whose covariance already holds what is believed of them."""
    values, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    normal, rng = normal_draws(seed, draws, len(theta))
    noise = normal @ (axes * np.sqrt(np.maximum(values, 0))).T
    if np.isfinite(df):
        noise *= np.sqrt(df / deepcopy(rng).chisquare(df, draws))[:, None]
    drawn, chances = theta + noise, np.zeros(len(theta))
    for label in np.unique(island):
        here = np.flatnonzero(island == label)
        chances[here] = np.bincount(drawn[:, here].argmax(1), minlength=len(here)) / draws
    return chances
