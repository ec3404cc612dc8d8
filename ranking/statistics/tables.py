"""Votes as tables by group and pair of entrants, and what they say at given ratings.

Groups are judges or prompts. All of this grows with groups and entrants, not with votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import expected_scores, laplacian
from ranking.statistics.tallies import Cells
from ranking.statistics.votes import RIGHT, TIE

Array = NDArray[Any]
BATCH_CELLS = 2**17  # numbers in one table of a batch of groups: it should fit the processor's cache


@dataclass(frozen=True)
class Tables:
    """Weighted votes of G groups: `wins[g, i, j]` of i over j, `draws[g, i, j]`, each draw once.

    `squared` holds the same pair with squared weights. Groups without votes are left out: `labels` [G] names the rest.
    `loners` are votes whose group is unknown, each a group of its own: the pair of `squared`, pooled, and how many they
    are. `weight` [G] multiplies a group's votes, `loner_weight` those of the unknown. `strata` [G] numbers the kinds of groups
    (None: all are of one kind), which are compared with their own kind only.
    """

    labels: Array
    wins: Array
    draws: Array
    squared: tuple[Array, Array]
    loners: tuple[Array, Array] | None = None
    loner_votes: float = 0.0
    weight: Array | None = None
    loner_weight: float = 1.0
    strata: Array | None = None

    @property
    def groups(self) -> float:
        return len(self.labels) + self.loner_votes

    def meetings(self, batch: slice) -> Meetings:
        return meetings(self.wins[batch], self.draws[batch])

    def of(self, groups: Array) -> Tables:
        """These groups alone, without votes whose group is unknown."""
        wins, draws = self.wins[groups], self.draws[groups]
        same = self.squared[0] is self.wins
        squared = (wins, draws) if same else (self.squared[0][groups], self.squared[1][groups])
        weight = None if self.weight is None else self.weight[groups]
        return Tables(self.labels[groups], wins, draws, squared, weight=weight)

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
    used = None if counted.all() else counted[cells.outcome] > 0
    alone = cells.cluster < 0 if cells.cluster.min(initial=0) < 0 else None
    if alone is not None and used is not None:
        alone &= used
    known = used if alone is None else ~alone if used is None else used & ~alone
    wins, draws = _count(cells, known, clusters, size, n)
    same = squares is None
    square_wins, square_draws = (wins, draws) if same else _count(cells, known, clusters, size, squares)
    loners, votes = None, 0.0
    if alone is not None and alone.any():
        loners = tuple(table[0] for table in _count(cells, alone, 1, size, n if same else squares, together=True))
        votes = float(alone.sum() if cells.n is None else cells.n[alone].sum())
    labels = np.flatnonzero(wins.any((1, 2)) | draws.any((1, 2)))
    if len(labels) < len(wins):
        wins, draws = wins[labels], draws[labels]
        square_wins, square_draws = (wins, draws) if same else (square_wins[labels], square_draws[labels])
    return Tables(labels, wins, draws, (square_wins, square_draws), loners, votes)


def _count(
    cells: Cells, rows: Array | None, groups: int, size: int, n: Array | None, *, together: bool = False
) -> tuple[Array, Array]:
    """Wins and draws [groups, K, K] of the cells at `rows` (None: all), in one pass."""

    def pick(column: Array) -> Array:
        return column if rows is None else column[rows]

    code = _oriented(size)[pick(cells.codes(size))]
    if not together:
        code += pick(cells.cluster).astype(np.int64) * (2 * size * size)
    counts = np.bincount(code, None if n is None else pick(n), groups * 2 * size * size).astype(float, copy=False)
    counts = counts.reshape(groups, 2, size, size)
    return counts[:, 0], counts[:, 1]


def _oriented(size: int) -> Array:
    """By left, right and outcome, flattened: the place in a table [2, K, K] of wins of the first, and draws."""
    left, right = np.indices((size, size)).reshape(2, -1, 1)
    outcome = np.arange(4)
    lost = outcome == RIGHT
    pair = np.where(lost, right * size + left, left * size + right)
    return ((outcome >= TIE) * size * size + pair).ravel()


def batches(wins: Array) -> Iterator[slice]:
    """Parts of groups [G, K, K] small enough for the processor's cache."""
    each = max(1, BATCH_CELLS // max(wins.shape[-1] ** 2, 1))
    for first in range(0, len(wins), each):
        yield slice(first, first + each)


@dataclass(frozen=True)
class Meetings:
    """Of every two entrants [B, K, K], either side of the diagonal: votes, wins less losses, and decided votes."""

    met: Array
    net: Array
    decided: Array

    @property
    def half_wins(self) -> Array:
        """W: wins plus half of the draws."""
        wins = self.met + self.net
        wins *= 0.5
        return wins


def meetings(wins: Array, draws: Array) -> Meetings:
    losses = np.swapaxes(wins, -1, -2)
    decided = wins + losses
    met = draws + np.swapaxes(draws, -1, -2)
    met += decided
    return Meetings(met, wins - losses, decided)


def vote_sums(meetings: Meetings, lean: Array) -> tuple[Array, Array]:
    """By pair: points of the row entrant above its expectation p, and the sum of (y - p)²; `lean` is a half less p."""
    beyond = meetings.met * lean
    residual = 0.5 * meetings.net
    residual += beyond
    beyond += meetings.net
    beyond *= lean
    beyond += 0.25 * meetings.decided
    return residual, beyond


def pair_sums(tables: Tables, lean: Array, here: slice) -> tuple[Array, Array, Array]:
    """By pair [B, K, K] of a batch of groups: residual points of the row entrant, votes, and the votes' own noise."""
    own = tables.meetings(here)
    residual, noise = vote_sums(own, lean)
    if tables.squared[0] is not tables.wins:
        noise = vote_sums(meetings(*(table[here] for table in tables.squared)), lean)[1]
    if tables.weight is None:
        return residual, own.met, noise
    weight = tables.weight[here, None, None]
    return residual * weight, own.met * weight, noise * weight**2


def loner_noise(tables: Tables, theta: Array) -> Array:
    p = expected_scores(theta)
    if tables.loners is None:
        return np.zeros_like(p)
    noise = laplacian(tables.loners[0] * (1 - p) ** 2 + tables.loners[1] * (0.5 - p) ** 2)
    return noise * tables.loner_weight**2


def squared_information(votes: Array, spread: Array) -> Array:
    """Σ H² over groups [K, K], from votes [G, K, K] of ordered pairs and `spread`, p(1 - p)."""
    size = len(spread)
    total, each = np.zeros((size, size)), np.arange(size)
    for here in batches(votes):
        turned = votes[here] + np.swapaxes(votes[here], 1, 2)
        turned *= spread
        turned[:, each, each] = -turned.sum(-1)  # -H, whose square is the same
        stacked = turned.reshape(-1, size)
        total += stacked.T @ stacked
    return total
