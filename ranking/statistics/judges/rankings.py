"""A judge's own ranking: drawn towards everyone's as far as judges are alike, with the common rating's own error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.definite import inverse
from ranking.statistics.ratings.bradley_terry import expected_scores, grounded, map_ratings
from ranking.statistics.ratings.components import Component
from ranking.statistics.ratings.scopes import ScopeFit
from ranking.statistics.tables import Meetings, vote_sums

Array = NDArray[Any]
USUAL_TASTE = 1 / 64  # the least variance of honest judges' tastes (log-odds²) that tests of a judge allow for
FLATTENING = 2.5  # the common curve is flatter than a single judge's: judges who differ cancel out
LEAST_TASTE, FEWEST_DF = 0.125, 4.0  # of the variance of tastes: in its standard errors; and how well it is known


@dataclass(frozen=True)
class OwnRankings:
    """Ratings [G, K] of G judges, their variances, and degrees of freedom [G]."""

    theta: Array
    variance: Array
    df: Array


def usual_taste(component: Component) -> float:
    """The variance of tastes that honest judges are allowed."""
    return max(component.variance, USUAL_TASTE)


def own_taste(component: Component) -> float:
    """The variance of tastes: as estimated, but not below what the votes could have missed."""
    return max(component.variance, min(LEAST_TASTE * component.se, USUAL_TASTE))


def own_strength(component: Component) -> float:
    """How strongly a judge's ratings are drawn to everyone's: 1 over the variance around them."""
    taste = own_taste(component)
    return 1 / (taste * (1 + FLATTENING * taste))


def taste_df(component: Component) -> float:
    """How well the variance of tastes is known."""
    known = component.positive / component.se if component.se > 0 else 0.0
    return max(FEWEST_DF, 2 * known**2)


def own_rankings(votes: Meetings, overall: ScopeFit, weights: Array) -> OwnRankings:
    """Of a batch of judges, whose votes weigh `weights` [G] in the overall fit."""
    size, strength = len(overall.theta), own_strength(overall.spread.judge_component)
    theta = map_ratings(votes.half_wins, met=votes.met, prior=overall.theta, ridge=strength)
    lean = 0.5 - expected_scores(theta)
    noise = grounded(vote_sums(votes, lean)[1])
    np.square(lean, out=lean)
    inverted = inverse(grounded(votes.met * np.subtract(0.25, lean, out=lean)) + strength * np.eye(size))
    # N(I + r²C + r + r w(BI + IB))N: votes, the common rating's error, the judge's own taste, and votes that are in both.
    inner = noise + strength**2 * _pooled(overall) + strength * np.eye(size)
    if overall.pull is not None:
        common = np.zeros((size, size))
        common[np.ix_(overall.pull.seen, overall.pull.seen)] = overall.pull.inverse
        shared = common @ noise
        shared *= strength * weights[:, None, None]
        inner += shared
        inner += np.swapaxes(shared, 1, 2)
    half = inner @ inverted
    # Centred: only differences between entrants mean anything.
    own, rows = np.einsum("gji,gji->gi", inverted, half), (inverted @ half.mean(2)[..., None])[..., 0]
    variance = own - 2 * rows + rows.mean(1, keepdims=True)
    tastes = strength * np.einsum("gij,gij->g", inverted, inverted) / np.maximum(own.sum(1), 1e-12)
    tastes = np.minimum(tastes, 1.0)
    df = 1 / (tastes**2 / taste_df(overall.spread.judge_component) + (1 - tastes) ** 2 / overall.spread.usual_df)
    return OwnRankings(theta - theta.mean(1, keepdims=True), np.maximum(variance, 0.0), df)


def _pooled(overall: ScopeFit) -> Array:
    covariance = overall.spread.scaled_covariance
    return np.where(np.isfinite(covariance), covariance, 0.0)
