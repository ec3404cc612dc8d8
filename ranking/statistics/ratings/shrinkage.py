"""Ratings of small groups of votes, drawn towards a common rating as far as the groups are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from ranking.statistics.ratings.bradley_terry import laplacian, map_ratings

Array = NDArray[Any]
STRENGTHS = 2.0 ** np.arange(6, -1, -1)  # 64 down to 1: a group is never freed fully, nor drowned
SAMPLE = 60  # groups that choose the strength; more would not move it
BATCH = 64


@dataclass(frozen=True)
class Shrunk:
    """MAP ratings of G groups [G, K] and their posterior variances [G, K], under one strength for all."""

    theta: Array
    variance: Array
    strength: float


def choose_strength(wins: Array, prior: Array) -> float:
    """The strength (inverse prior variance) of greatest marginal likelihood, by Laplace, over groups W [G, K, K]."""
    groups = wins[wins.any((1, 2))]
    if not len(groups):
        return float(STRENGTHS[0])
    groups = groups[np.unique(np.linspace(0, len(groups) - 1, SAMPLE).astype(int))]
    start, best = None, (-np.inf, STRENGTHS[0])
    for strength in STRENGTHS:
        start = map_ratings(groups, prior=prior, ridge=strength, start=start)
        best = max(best, (_evidence(groups, start, prior, strength), strength))
    return float(best[1])


def _evidence(wins: Array, theta: Array, prior: Array, strength: float) -> float:
    gaps = theta[:, :, None] - theta[:, None, :]
    likelihood = (wins * log_expit(gaps)).sum()
    penalty = 0.5 * strength * ((theta - prior) ** 2).sum()
    _, logdet = np.linalg.slogdet(_precision(wins, theta, strength))
    return float(likelihood - penalty + 0.5 * (theta.size * np.log(strength) - logdet.sum()))


def _precision(wins: Array, theta: Array, strength: float) -> Array:
    p = 1 / (1 + np.exp(theta[:, None, :] - theta[:, :, None]))
    return laplacian(wins * p * (1 - p)) + strength * np.eye(theta.shape[-1])


def shrink(wins: Array, prior: Array, strength: float) -> Shrunk:
    """MAP fits of W [G, K, K] in one batched Newton (in batches that fit the cache), prior N(prior, 1/strength)."""
    theta, variance = np.zeros(wins.shape[:2]), np.zeros(wins.shape[:2])
    for first in range(0, len(wins), BATCH):
        here = slice(first, first + BATCH)
        theta[here] = map_ratings(wins[here], prior=prior, ridge=strength)
        inverse = np.linalg.inv(_precision(wins[here], theta[here], strength))
        variance[here] = np.diagonal(inverse, axis1=1, axis2=2)
    return Shrunk(theta, variance, strength)
