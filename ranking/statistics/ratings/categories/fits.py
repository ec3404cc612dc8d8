"""Ratings of categories: drawn towards the overall rating as far as categories are alike, with that rating's own error.

Ranks in a category come from its own votes alone; where they say too little, no statement is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import (
    RIDGE,
    expected_scores,
    fit_ratings,
    half_wins,
    laplacian,
    map_ratings,
    residual_table,
)
from ranking.statistics.ratings.categories.likeness import Apart, how_far_apart
from ranking.statistics.ratings.categories.sums import Sums, category_sums
from ranking.statistics.ratings.scopes import ScopeFit, Settings
from ranking.statistics.tallies import Tallies, count_cells

Array = NDArray[Any]
FEWEST_DF, MOST_DF = 3.0, 100.0
OWN_SHARE = 0.5  # of a rating that must come from the category's own votes for a statement about ranks


@dataclass(frozen=True)
class CategoryFit:
    """One category: shrunk ratings with their covariance, raw ratings, and what its own votes alone say."""

    counts: Array  # [K, K, 4], votes
    wins: Array  # [K, K], weighted half-wins
    theta: Array
    covariance: Array
    iid_covariance: Array
    df: float
    raw: Array
    own_share: float  # how much of the rating comes from the category's own votes, 0 to 1
    own_theta: Array  # from its own votes, drawn a little to equality
    own_covariance: Array
    strength: float  # 1 / variance around the overall ratings

    @property
    def is_thin(self) -> bool:
        """Mostly the overall rating: too few votes here to tell a difference from it."""
        return self.own_share < OWN_SHARE


def fit_categories(tallies: Tallies, overall: ScopeFit, settings: Settings) -> list[CategoryFit]:
    """One fit a category, in the order of the name table."""
    if not tallies.categories or not len(overall.theta):
        return []
    if overall.pull is None:
        return _without_decision(tallies)
    sums = category_sums(tallies, overall, settings)
    taste, within = (c.positive for c in (overall.spread.judge_component, overall.spread.prompt_component))
    p = expected_scores(overall.theta)
    wins = half_wins(sums.weighted, **settings.halves)
    totals = wins + np.swapaxes(wins, 1, 2)
    information = laplacian(0.5 * totals * p * (1 - p))
    residual = (sums.weighted * residual_table(overall.theta, **settings.halves)).sum(-1)
    scores = residual.sum(-1) - residual.sum(-2)
    noise = laplacian((sums.squared * residual_table(overall.theta, **settings.halves) ** 2).sum(-1))
    spread = noise + taste * sums.judges + within * sums.prompts
    share = totals.sum((1, 2)) / max(float(totals.sum()), 1e-12)
    apart = how_far_apart(information, scores, spread, share, wins, overall.theta)
    return [
        _fit_category(overall, settings, sums, c, wins[c], Apart(*each), taste, within)
        for c, each in enumerate(zip(apart.variance, apart.df, apart.centre, apart.thinner, strict=True))
    ]


def _fit_category(
    overall: ScopeFit,
    settings: Settings,
    sums: Sums,
    c: int,
    wins: Array,
    apart: Apart,
    taste: float,
    within: float,
) -> CategoryFit:
    size, strength = len(overall.theta), float(1 / apart.variance)
    theta = map_ratings(wins, prior=apart.centre, ridge=strength)
    thinner = float(apart.thinner)
    covariance, iid, own_share, lean_share = _covariance(overall, settings, sums, c, strength, taste, within, thinner)
    usual = float(np.clip(overall.spread.usual_df, FEWEST_DF, MOST_DF))
    own_theta = map_ratings(wins, ridge=RIDGE, start=theta)
    information, noise = _information(sums, settings, c, own_theta)
    inverse = np.linalg.inv(information + RIDGE * np.eye(size))
    spread = noise + taste * sums.judges[c] + within * sums.prompts[c]
    return CategoryFit(
        counts=sums.counts[c],
        wins=wins,
        theta=theta,
        covariance=covariance,
        iid_covariance=iid,
        df=1 / (lean_share**2 / max(float(apart.df), 1.0) + (1 - lean_share) ** 2 / usual),
        raw=fit_ratings(wins, start=own_theta),
        own_share=own_share,
        own_theta=own_theta,
        own_covariance=inverse @ (spread + RIDGE * np.eye(size)) @ inverse,
        strength=strength,
    )


def _information(sums: Sums, settings: Settings, c: int, theta: Array) -> tuple[Array, Array]:
    """H and I of a category at ratings theta."""
    p = expected_scores(theta)
    totals = half_wins(sums.weighted[c], **settings.halves)
    noise = laplacian((sums.squared[c] * residual_table(theta, **settings.halves) ** 2).sum(-1))
    return laplacian(0.5 * (totals + totals.T) * p * (1 - p)), noise


def _covariance(
    overall: ScopeFit,
    settings: Settings,
    sums: Sums,
    c: int,
    strength: float,
    taste: float,
    within: float,
    thinner: float,
) -> tuple[Array, Array, float, float]:
    """Covariance of the shrunk ratings around the category's truth, that of independent votes, the share of own votes, and
    the share of the variance that comes from being drawn to the overall ratings.

    Information and noise are taken at the overall ratings: a category that differs from them is the less sure for it.
    """
    size, eye = len(overall.theta), np.eye(len(overall.theta))
    information, noise = _information(sums, settings, c, overall.theta)
    inverse = np.linalg.inv(information + strength * eye)
    by_votes = noise + within * sums.prompts[c]
    gain, lean = inverse @ information, strength * inverse
    pooled, tastes, common = overall.spread.scaled_covariance, np.zeros((size, size)), np.zeros((size, size))
    pull = overall.pull
    assert pull is not None  # no category is fitted without a decided vote
    seen = np.ix_(pull.seen, pull.seen)
    tastes[seen], common[seen] = pull.ways[0].taste_matrix, thinner * pull.inverse
    pooled = thinner * pooled - (thinner - 1) * taste * tastes  # fewer votes, by the same judges
    cross = lean @ (taste * tastes @ gain.T + common @ by_votes @ inverse)
    covariance = inverse @ (by_votes + taste * sums.judges[c]) @ inverse
    covariance = covariance + lean @ (pooled + eye / strength) @ lean.T + cross + cross.T
    centre = eye - 1 / size
    covariance = centre @ covariance @ centre
    iid = inverse @ (noise + strength * eye) @ inverse
    drawn = float(np.trace(centre @ lean @ lean.T @ centre)) / strength
    lean_share = min(1.0, drawn / max(float(np.trace(covariance)), 1e-12))
    return covariance, iid, float(np.trace(gain) / max(size - 1, 1)), lean_share


def _without_decision(tallies: Tallies) -> list[CategoryFit]:
    """Everyone equal, nothing known."""
    cells, size = tallies.by_judge, len(tallies.entrants)
    counts = count_cells(cells, scopes=len(tallies.categories), scope=cells.category, size=size, n=cells.n)
    zero, unknown = np.zeros(size), np.diag(np.full(size, np.inf))
    nothing = {"theta": zero, "raw": zero, "own_theta": zero, "own_covariance": np.zeros((size, size))}
    return [
        CategoryFit(
            c, c[..., 0], covariance=unknown, iid_covariance=unknown, df=np.inf, own_share=0.0, strength=64.0, **nothing
        )
        for c in counts
    ]
