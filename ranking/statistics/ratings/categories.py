"""Ratings of categories: drawn towards the overall rating as far as categories are alike, with that rating's own error.

Ranks in a category come from its own votes alone; where they say too little, no statement is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from ranking.statistics.ratings.bradley_terry import (
    RIDGE,
    expected_scores,
    fit_ratings,
    half_wins,
    laplacian,
    map_ratings,
    residual_table,
)
from ranking.statistics.ratings.scopes import ScopeFit, Settings, judge_weights, prompt_weights, times
from ranking.statistics.tables import Tables, group_tables, squared_information
from ranking.statistics.tallies import Cells, Tallies, count_cells

Array = NDArray[Any]
# The least variance (log-odds²) of a category's ratings around the overall ones: in standard errors of its estimate, and at most.
LEAST_ERRORS, LEAST_SPREAD = 0.1, 1 / 64
# So much of the estimate's standard error is taken off it, or chance would pass for differences: of all categories, of one.
SPARED, OWN_SPARED = 1.0, 0.5
FEWEST_DF, MOST_DF = 3.0, 100.0
HELD = 0.01  # how hard ratings without unlike categories are held to the overall ones, where no votes say otherwise
UNLIKE = 0.01  # the chance at which some category of all that are alike is taken for one that is not
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
    apart = _how_far_apart(information, scores, spread, share, wins, overall.theta)
    return [
        _fit_category(overall, settings, sums, c, wins[c], _Apart(*each), taste, within)
        for c, each in enumerate(zip(apart.variance, apart.df, apart.centre, apart.thinner, strict=True))
    ]


@dataclass(frozen=True)
class _Apart:
    """By category: the ratings it is drawn to, how far it lies from them (variance, log-odds²), how well that is known, and
    how many times fewer votes these ratings rest on than the overall ones, where unlike categories are left out of them."""

    variance: Any
    df: Any
    centre: Any
    thinner: Any


def _how_far_apart(information: Array, scores: Array, spread: Array, share: Array, wins: Array, theta: Array) -> _Apart:
    """For each category [C]: what all have in common, or its own where that is larger, from scores at the overall ratings.

    No category is drawn harder than its own votes allow, and one unlike all others neither loosens nor moves theirs: they are
    drawn to ratings without it. The least variance is what the votes could have missed, and is taken for known where it is assumed.
    """
    size, trace = information.shape[-1], np.trace(information, axis1=1, axis2=2)
    centre, thinner = np.tile(theta, (len(trace), 1)), np.ones(len(trace))
    if trace.sum() <= 0:
        return _Apart(np.full(len(trace), LEAST_SPREAD), np.full(len(trace), np.inf), centre, thinner)
    loose = np.linalg.pinv(information, hermitian=True)
    noise = loose @ spread

    def squares(scores: Array, share: Array) -> Array:
        return np.einsum("ci,cij,cj->c", scores, loose, scores) / np.maximum(1 - share, 1e-6)

    shown = squares(scores, share)
    alike = _alike(shown, noise, information)
    if not alike[trace > 0].all():
        centre[alike] = map_ratings(wins[alike].sum(0), prior=theta, ridge=HELD)
        thinner[alike] = trace.sum() / trace[alike].sum()
        moved = scores - np.einsum("cij,cj->ci", information, centre - theta)
        shown = np.where(alike, squares(moved, share * thinner), shown)
    excess = shown - np.trace(noise, axis1=1, axis2=2)
    common, least = _in_common(excess, noise, trace, alike)
    errors = np.sqrt(2 * np.einsum("cij,cji->c", noise, noise))  # of each excess
    excess = excess - OWN_SPARED * errors
    safe = np.maximum(trace, 1e-12)
    own = np.where(trace > 0, (common + (size - 1) * excess / safe) / size, common)
    variance = np.maximum(common, own)
    matrix = noise + variance[:, None, None] * information
    error = 2 * np.einsum("cij,cji->c", matrix, matrix)
    together = error[alike].sum() / trace[alike].sum() ** 2
    error = np.where(own > common, ((size - 1) / size / safe) ** 2 * error, together)
    df = np.where(variance <= least, np.inf, 2 * variance**2 / np.where(error > 0, error, 1))
    return _Apart(variance, df, centre, thinner)


def _in_common(excess: Array, noise: Array, trace: Array, alike: Array) -> tuple[float, float]:
    """The variance of these categories' ratings around the overall ones, and the least it is taken to be."""
    total = max(float(trace[alike].sum()), 1e-12)
    missed = float(np.sqrt(2 * np.einsum("cij,cji->", noise[alike], noise[alike]))) / total
    least = min(LEAST_ERRORS * missed, LEAST_SPREAD) or LEAST_SPREAD  # ties alone show no noise
    return max(float(excess[alike].sum()) / total - SPARED * missed, least), least


def _alike(squares: Array, noise: Array, information: Array) -> Array:
    """Which categories [C] differ by no more than the others do: those that do are left out one by one, the clearest first,
    and never more than half. Each is held against all that remain, as F."""
    expected, trace = (np.trace(each, axis1=1, axis2=2) for each in (noise, information))
    pairs = ((noise, noise), (noise, information), (information, information))
    products = np.array([np.einsum("cij,cji->c", one, other) for one, other in pairs])
    alike = trace > 0
    fewest = (int(alike.sum()) + 1) // 2
    while alike.sum() > max(fewest, 2):
        here = np.flatnonzero(alike)
        rest = ~np.eye(len(here), dtype=bool)
        excess = rest @ (squares - expected)[here]
        common = np.maximum(excess / (rest @ trace[here]), 0.0)[:, None]
        mean = expected[here] + common * trace[here]  # [each left out, category]
        spread = 2 * common * products[1, here] + common**2 * products[2, here] + products[0, here]
        own, others = np.diag(mean), (mean * rest).sum(1)
        ratio = squares[here] / own / ((rest @ squares[here]) / others)
        chance = fdtrc(own**2 / np.diag(spread), others**2 / (spread * rest).sum(1), ratio)
        if not chance.min() * len(here) < UNLIKE:
            break
        alike[here[chance.argmin()]] = False
    return alike


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
    squares = np.zeros((categories, size, size))
    used = (cells.cluster >= 0) & (settings.counted > 0)[cells.outcome]
    place = cells.codes(size) >> 2  # outcomes apart
    place += cells.cluster.astype(np.int64) * (size * size)
    for c in range(categories):
        rows = np.flatnonzero(used & (cells.category == c))
        votes = np.bincount(place[rows], None if n is None else n[rows], max(judges, 1) * size * size)
        squares[c] = squared_information(votes.reshape(-1, size, size).astype(float, copy=False), spread)
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
