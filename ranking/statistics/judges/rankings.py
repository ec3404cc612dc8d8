"""A judge's own ranking: drawn towards everyone's as far as judges are alike, with the common rating's own error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import expected_scores, half_wins, laplacian, map_ratings, residual_table
from ranking.statistics.ratings.components import Component
from ranking.statistics.ratings.scopes import ScopeFit, Settings

Array = NDArray[Any]
LEAST_TASTE = 1 / 64  # variance of a judge's tastes (log-odds²), never assumed below
FLATTENING = 2.5  # the common curve is flatter than a single judge's: judges who differ cancel out
FEWEST_DF = 8.0


@dataclass(frozen=True)
class OwnRankings:
    """Ratings [G, K] of G judges and their variances; `df` is the same for all."""

    theta: Array
    variance: Array


def taste_variance(component: Component) -> float:
    return max(component.variance, LEAST_TASTE)


def own_strength(component: Component) -> float:
    """How strongly a judge's ratings are drawn to everyone's: 1 over the variance around them."""
    taste = taste_variance(component)
    return 1 / (taste * (1 + FLATTENING * taste))


def own_df(component: Component) -> float:
    """How well the variance of tastes is known."""
    known = component.positive / component.se if component.se > 0 else 0.0
    return max(FEWEST_DF, 2 * known**2)


def own_rankings(counts: Array, overall: ScopeFit, settings: Settings, weights: Array) -> OwnRankings:
    """From votes [G, K, K, 4] of judges whose votes weigh `weights` [G] in the overall fit."""
    size, strength = len(overall.theta), own_strength(overall.spread.judge_component)
    eye = np.eye(size)
    wins = half_wins(counts, **settings.halves)
    theta = map_ratings(wins, prior=overall.theta, ridge=strength)
    p = expected_scores(theta)
    information = laplacian(wins * p * (1 - p))
    noise = laplacian((counts * residual_table(theta, **settings.halves) ** 2).sum(-1))
    inverse = np.linalg.inv(information + strength * eye)
    lean = strength * inverse
    covariance = inverse @ noise @ inverse + lean @ (_pooled(overall) + eye / strength) @ lean
    if overall.pull is not None:
        common = np.zeros((size, size))
        common[np.ix_(overall.pull.seen, overall.pull.seen)] = overall.pull.inverse
        cross = lean @ common @ noise @ inverse * weights[:, None, None]
        covariance = covariance + cross + np.swapaxes(cross, 1, 2)
    # Centred: only differences between entrants mean anything.
    own, rows = np.diagonal(covariance, axis1=1, axis2=2), covariance.mean(2)
    variance = own - 2 * rows + rows.mean(1, keepdims=True)
    return OwnRankings(theta - theta.mean(1, keepdims=True), np.maximum(variance, 0.0))


def _pooled(overall: ScopeFit) -> Array:
    covariance = overall.spread.scaled_covariance
    return np.where(np.isfinite(covariance), covariance, 0.0)
