"""What each judge, or each prompt, says about the ratings: the matrices that variances by group are made of.

A *way* of grouping is by judge or by prompt. Its cost grows with groups and entrants, not with votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import expected_scores, laplacian
from ranking.statistics.votes import RIGHT, TIE, Cells

Array = NDArray[Any]
BATCH_CELLS = 2**17  # numbers in one table of a batch of groups: it should fit the processor's cache


@dataclass(frozen=True)
class Tables:
    """Weighted votes of G groups: `wins[g, i, j]` of i over j, `draws[g, i, j]`, each draw once.

    `squared` holds the same pair with squared weights. Groups without votes are left out: `labels` [G] names the rest.
    `loners` are votes whose group is unknown, each a group of its own: the pair of `squared`, pooled, and how many they
    are. `weight` [G] multiplies a group's votes, `loner_weight` those of the unknown.
    """

    labels: Array
    wins: Array
    draws: Array
    squared: tuple[Array, Array]
    loners: tuple[Array, Array] | None = None
    loner_votes: float = 0.0
    weight: Array | None = None
    loner_weight: float = 1.0

    @property
    def groups(self) -> float:
        return len(self.labels) + self.loner_votes

    def among(self, entrants: Array) -> Tables:
        """The same votes with only these entrants (all others have none)."""
        at = np.ix_(np.arange(len(self.labels)), entrants, entrants)
        square = np.ix_(entrants, entrants)
        wins, draws = self.wins[at], self.draws[at]
        same = self.squared[0] is self.wins
        squared = (wins, draws) if same else (self.squared[0][at], self.squared[1][at])
        loners = self.loners and (self.loners[0][square], self.loners[1][square])
        return replace(self, wins=wins, draws=draws, squared=squared, loners=loners)


def group_tables(
    cells: Cells, *, clusters: int, size: int, counted: Array, n: Array | None, squares: Array | None = None
) -> Tables:
    """Tables of cells whose outcome counts (`counted` [4]); `n` weighs each cell, `squares` its votes' squared weights."""
    used = counted[cells.outcome] > 0
    known = used & (cells.cluster >= 0)
    wins, draws = _count(cells, known, clusters, size, n)
    same = squares is None
    square_wins, square_draws = (wins, draws) if same else _count(cells, known, clusters, size, squares)
    loners, votes = None, 0.0
    if (alone := used & (cells.cluster < 0)).any():
        loners = tuple(table[0] for table in _count(cells, alone, 1, size, n if same else squares, together=True))
        votes = float(alone.sum() if cells.n is None else cells.n[alone].sum())
    labels = np.flatnonzero(wins.any((1, 2)) | draws.any((1, 2)))
    if len(labels) < len(wins):
        wins, draws = wins[labels], draws[labels]
        square_wins, square_draws = (wins, draws) if same else (square_wins[labels], square_draws[labels])
    return Tables(labels, wins, draws, (square_wins, square_draws), loners, votes)


def _count(
    cells: Cells, rows: Array, groups: int, size: int, n: Array | None, *, together: bool = False
) -> tuple[Array, Array]:
    whole = bool(rows.all())

    def pick(column: Array) -> Array:
        return column if whole else column[rows]

    outcome, left, right = pick(cells.outcome), pick(cells.left), pick(cells.right)
    code = np.zeros(len(outcome), np.int64) if together else pick(cells.cluster).astype(np.int64)
    code *= 2
    code += outcome >= TIE
    lost = outcome == RIGHT
    code *= size
    code += np.where(lost, right, left)
    code *= size
    code += np.where(lost, left, right)
    counts = np.bincount(code, None if n is None else pick(n), groups * 2 * size * size)
    counts = counts.reshape(groups, 2, size, size).astype(np.float64)
    return counts[:, 0], counts[:, 1]


@dataclass(frozen=True)
class Way:
    """Sums over the groups of one way, by contrast: the K entrants, then every pair (`contrasts`).

    - `scores`: squared influence of each group on the contrast, summed (S of the recipe).
    - `taste`, `noise`: what a unit variance of tastes (T) and the votes' own noise (E) make of the contrast's variance.
    - `taste_seen`, `noise_seen`: the same as they show in `scores`, since a group pulls the fit to itself (Q(T), Q(E)).
    - `squares`: sums over groups of T², TE and E², which say how many groups there are in effect.
    - `taste_matrix`, `noise_matrix` [K, K]: T and E whole.
    """

    groups: float
    scores: Array
    taste: Array
    noise: Array
    taste_seen: Array
    noise_seen: Array
    squares: tuple[Array, Array, Array]
    taste_matrix: Array
    noise_matrix: Array


def contrasts(matrix: Array) -> Array:
    """a'Xa [..., K + K(K-1)/2] of each entrant and of each pair (in the order of `triu_indices`)."""
    own = np.diagonal(matrix, axis1=-2, axis2=-1)
    first, second = np.triu_indices(matrix.shape[-1], 1)
    pairs = own[..., first] + own[..., second] - matrix[..., first, second] - matrix[..., second, first]
    return np.concatenate([own, pairs], axis=-1)


def batches(tables: Tables) -> Iterator[slice]:
    each = max(1, BATCH_CELLS // max(tables.wins.shape[-1] ** 2, 1))
    for first in range(0, len(tables.wins), each):
        yield slice(first, first + each)


def group_sums(tables: Tables, theta: Array, here: slice) -> tuple[Array, Array, Array]:
    """Scores s [B, K], information H [B, K, K] and vote noise I [B, K, K] of a batch of groups."""
    p = expected_scores(theta)
    wins, draws = tables.wins[here], tables.draws[here]
    information = laplacian((wins + draws) * (p * (1 - p)))
    residual = wins * (1 - p) + draws * (0.5 - p)
    scores = residual.sum(-1) - residual.sum(-2)
    square_wins, square_draws = (table[here] for table in tables.squared)
    noise = laplacian(square_wins * (1 - p) ** 2 + square_draws * (0.5 - p) ** 2)
    if tables.weight is None:
        return scores, information, noise
    weight = tables.weight[here, None, None]
    return scores * weight[..., 0], information * weight, noise * weight**2


def loner_noise(tables: Tables, theta: Array) -> Array:
    p = expected_scores(theta)
    if tables.loners is None:
        return np.zeros_like(p)
    noise = laplacian(tables.loners[0] * (1 - p) ** 2 + tables.loners[1] * (0.5 - p) ** 2)
    return noise * tables.loner_weight**2


def summarise_way(tables: Tables, theta: Array, inverse: Array) -> Way:
    """The sums of one way at ratings theta [K]; `inverse` is B, the inverse information of all votes."""
    size = len(theta)
    zero = np.zeros((size, size))
    taste, noise, pulled_taste, pulled_noise, outer = zero, zero, zero, zero, zero
    squares = np.zeros((3, size * (size + 1) // 2))
    leverages = []  # H B of each batch: M' of the recipe
    for here in batches(tables):
        scores, information, own_noise = group_sums(tables, theta, here)
        pull = information @ inverse
        leverages.append(pull)
        by_taste, by_noise = np.swapaxes(pull, 1, 2) @ pull, inverse @ (own_noise @ inverse)
        influence = scores @ inverse
        outer = outer + influence.T @ influence
        taste, noise = taste + by_taste.sum(0), noise + by_noise.sum(0)
        pulled_taste = pulled_taste + np.tensordot(pull, by_taste, ((0, 1), (0, 1)))
        pulled_noise = pulled_noise + np.tensordot(pull, by_noise, ((0, 1), (0, 1)))
        squares += _square_sums(by_taste, by_noise)
    if tables.loners is not None:
        alone = inverse @ loner_noise(tables, theta) @ inverse
        outer, noise = outer + alone, noise + alone
        squares[2] += contrasts(alone) ** 2 / tables.loner_votes
    taste_seen = taste - pulled_taste - pulled_taste.T + _through(leverages, taste)
    noise_seen = noise - pulled_noise - pulled_noise.T + _through(leverages, noise)
    return Way(
        groups=tables.groups,
        scores=contrasts(outer),
        taste=contrasts(taste),
        noise=contrasts(noise),
        taste_seen=contrasts(taste_seen),
        noise_seen=contrasts(noise_seen),
        squares=(squares[0], squares[1], squares[2]),
        taste_matrix=taste,
        noise_matrix=noise,
    )


def _square_sums(taste: Array, noise: Array) -> Array:
    """Sums over groups of T², TE and E² by contrast [3, ...], from T and E [B, K, K]."""
    first, second = np.triu_indices(taste.shape[-1], 1)
    own = [np.diagonal(table, axis1=1, axis2=2) for table in (taste, noise)]
    gaps = [d[:, :, None] + d[:, None, :] - 2 * table for d, table in zip(own, (taste, noise), strict=True)]
    sums = []
    for one, other in ((0, 0), (0, 1), (1, 1)):
        entrants = np.einsum("gi,gi->i", own[one], own[other])
        pairs = np.einsum("gij,gij->ij", gaps[one], gaps[other])
        sums.append(np.concatenate([entrants, pairs[first, second]]))
    return np.array(sums)


def _through(leverages: list[Array], matrix: Array) -> Array:
    """Sum over groups of M X M'."""
    total = np.zeros_like(matrix)
    for pull in leverages:
        total += np.tensordot(pull, matrix @ pull, ((0, 1), (0, 1)))
    return total
