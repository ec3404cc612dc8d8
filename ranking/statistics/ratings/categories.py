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
from ranking.statistics.ratings.groups import Tables, group_tables, squared_information
from ranking.statistics.ratings.scopes import ScopeFit, Settings, judge_weights, prompt_weights, times
from ranking.statistics.votes import Cells, Tallies, count_cells

Array = NDArray[Any]
# The least variance (log-odds²) of a category's ratings around the overall ones: in standard errors of its estimate, and at most.
LEAST_ERRORS, LEAST_SPREAD = 0.1, 1 / 64
# So much of the estimate's standard error is taken off it, or chance would pass for differences: of all categories, of one.
SPARED, OWN_SPARED = 1.0, 0.5
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
        """Mostly the overall rating: too few votes here."""
        return self.own_share < OWN_SHARE


@dataclass(frozen=True)
class _Sums:
    """Per category [C, ...]: weighted counts, and the squared information of its judges and its prompts, summed."""

    counts: Array
    weighted: Array
    squared: Array
    judges: Array  # Σ H_gc² over judges
    prompts: Array  # Σ H_p² over prompts


def fit_categories(tallies: Tallies, overall: ScopeFit, settings: Settings) -> list[CategoryFit]:
    """One fit a category, in the order of the name table."""
    if not tallies.categories or not len(overall.theta):
        return []
    if overall.pull is None:
        return _without_decision(tallies)
    sums = _category_sums(tallies, overall, settings)
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
    apart = _how_far_apart(information, scores, spread, share)
    return [
        _fit_category(overall, settings, sums, c, wins[c], _Apart(*(float(x) for x in each)), taste, within)
        for c, each in enumerate(zip(apart.variance, apart.df, strict=True))
    ]


@dataclass(frozen=True)
class _Apart:
    """How far a category's ratings lie from the overall ones (variance, log-odds²), and how well that is known."""

    variance: Any
    df: Any


def _how_far_apart(information: Array, scores: Array, spread: Array, share: Array) -> _Apart:
    """For each category [C]: what all have in common, or its own where that is larger, from scores at the overall ratings.

    No category is drawn harder than its own votes allow. The least variance is what the votes could have missed, and is taken
    for known where it is assumed.
    """
    size, trace = information.shape[-1], np.trace(information, axis1=1, axis2=2)
    if trace.sum() <= 0:
        return _Apart(np.full(len(trace), LEAST_SPREAD), np.full(len(trace), np.inf))
    loose = np.linalg.pinv(information, hermitian=True)
    noise = loose @ spread
    squares = np.einsum("ci,cij,cj->c", scores, loose, scores) / np.maximum(1 - share, 1e-6)
    excess = squares - np.trace(noise, axis1=1, axis2=2)
    missed = np.sqrt(2 * np.einsum("cij,cji->", noise, noise)) / trace.sum()
    least = min(LEAST_ERRORS * float(missed), LEAST_SPREAD) or LEAST_SPREAD  # ties alone show no noise
    errors = np.sqrt(2 * np.einsum("cij,cji->c", noise, noise))  # of each excess
    common = max(float(excess.sum() / trace.sum() - SPARED * missed), least)
    excess = excess - OWN_SPARED * errors
    safe = np.maximum(trace, 1e-12)
    own = np.where(trace > 0, (common + (size - 1) * excess / safe) / size, common)
    variance = np.maximum(common, own)
    matrix = noise + variance[:, None, None] * information
    error = 2 * np.einsum("cij,cji->c", matrix, matrix)
    error = np.where(own > common, ((size - 1) / size / safe) ** 2 * error, error.sum() / trace.sum() ** 2)
    known = variance <= least
    return _Apart(variance, np.where(known, np.inf, 2 * variance**2 / np.where(error > 0, error, 1)))


def _fit_category(
    overall: ScopeFit,
    settings: Settings,
    sums: _Sums,
    c: int,
    wins: Array,
    apart: _Apart,
    taste: float,
    within: float,
) -> CategoryFit:
    size, strength = len(overall.theta), 1 / apart.variance
    theta = map_ratings(wins, prior=overall.theta, ridge=strength)
    covariance, iid, own_share, lean_share = _covariance(overall, settings, sums, c, strength, taste, within)
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
        df=1 / (lean_share**2 / max(apart.df, 1.0) + (1 - lean_share) ** 2 / usual),
        raw=fit_ratings(wins),
        own_share=own_share,
        own_theta=own_theta,
        own_covariance=inverse @ (spread + RIDGE * np.eye(size)) @ inverse,
        strength=strength,
    )


def _information(sums: _Sums, settings: Settings, c: int, theta: Array) -> tuple[Array, Array]:
    """H and I of a category at ratings theta."""
    p = expected_scores(theta)
    totals = half_wins(sums.weighted[c], **settings.halves)
    noise = laplacian((sums.squared[c] * residual_table(theta, **settings.halves) ** 2).sum(-1))
    return laplacian(0.5 * (totals + totals.T) * p * (1 - p)), noise


def _covariance(
    overall: ScopeFit,
    settings: Settings,
    sums: _Sums,
    c: int,
    strength: float,
    taste: float,
    within: float,
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
    tastes[seen], common[seen] = pull.ways[0].taste_matrix, pull.inverse
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


def _category_sums(tallies: Tallies, overall: ScopeFit, settings: Settings) -> _Sums:
    cells, size, many = tallies.by_judge, len(tallies.entrants), len(tallies.categories)
    each = judge_weights(overall, cells)
    shape: dict[str, Any] = {"scopes": many, "scope": cells.category, "size": size}
    counts = count_cells(cells, n=cells.n, **shape)
    weighted = counts if each is None else count_cells(cells, n=times(cells.n, each), **shape)
    squared = counts if each is None else count_cells(cells, n=times(cells.n, each**2), **shape)
    p = expected_scores(overall.theta)
    spread = p * (1 - p)
    judges = _judge_squares(cells, times(cells.n, each), settings, spread, len(tallies.judges), many)
    return _Sums(counts, weighted, squared, judges, _prompt_squares(tallies, overall, settings, spread))


def _judge_squares(
    cells: Cells, n: Array | None, settings: Settings, spread: Array, judges: int, categories: int
) -> Array:
    """Σ over judges of the squared information of their votes in each category [C, K, K]."""
    size = len(spread)
    code, squares = cells.codes(size), np.zeros((categories, size, size))
    used = (cells.cluster >= 0) & (settings.counted > 0)[cells.outcome]
    for c in range(categories):
        rows = np.flatnonzero(used & (cells.category == c))
        place = code[rows] >> 2  # outcomes apart
        place += cells.cluster[rows].astype(np.int64) * (size * size)
        votes = np.bincount(place, None if n is None else n[rows], max(judges, 1) * size * size)
        squares[c] = squared_information(votes.reshape(-1, size, size), spread)
    return squares


def _prompt_squares(tallies: Tallies, overall: ScopeFit, settings: Settings, spread: Array) -> Array:
    """Σ over a category's prompts of their squared information [C, K, K]."""
    tables, owner = _prompt_tables(tallies, overall, settings)
    squares = np.zeros((len(tallies.categories), *spread.shape))
    for c in range(len(squares)):
        here = np.flatnonzero(owner == c)
        if len(here):
            squares[c] = squared_information(tables.wins[here] + tables.draws[here], spread)
    return squares


def _prompt_tables(tallies: Tallies, overall: ScopeFit, settings: Settings) -> tuple[Tables, Array]:
    """Votes by prompt within a category, and each group's category; as in the overall fit where no prompt has two."""
    cells, size = tallies.by_prompt, len(tallies.entrants)
    shape = (len(tallies.categories), len(tallies.prompts))
    known = (cells.cluster >= 0) & (cells.category >= 0)
    code = cells.category.astype(np.int64) * shape[1] + cells.cluster
    present = np.bincount(code[known], minlength=shape[0] * shape[1]).reshape(shape) > 0
    pull = overall.pull
    if pull is not None and len(pull.seen) == size and known.all() and (present.sum(0) <= 1).all():
        return pull.prompts, present.argmax(0)[pull.prompts.labels]
    number = (np.cumsum(present) - 1)[np.where(known, code, 0)]
    grouped = Cells(np.where(known, number, -1), cells.category, cells.left, cells.right, cells.outcome)
    n = times(cells.n, prompt_weights(overall, cells))
    tables = group_tables(grouped, clusters=int(present.sum()), size=size, counted=settings.counted, n=n)
    return tables, (np.flatnonzero(present) // max(shape[1], 1))[tables.labels]
