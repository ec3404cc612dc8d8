"""What each judge, or each prompt, says about the ratings: the matrices that variances by group are made of.

A *way* of grouping is by judge or by prompt. Its cost grows with groups and entrants, not with votes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import expected_scores, grounded, laplacian
from ranking.statistics.votes import RIGHT, TIE, Cells

Array = NDArray[Any]
KIND_RIDGE = 0.01  # of an entrant's information: how hard ratings by one kind of groups are held to everybody's
TINY = 1e-12
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

    def half_wins(self, batch: slice) -> Array:
        """W [B, K, K] of a batch of groups: wins plus half of the draws."""
        draws = self.draws[batch]
        wins = draws + np.swapaxes(draws, 1, 2)
        wins *= 0.5
        wins += self.wins[batch]
        return wins

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


@dataclass(frozen=True)
class Way:
    """Sums over the groups of one way, by contrast: the K entrants, then every pair (`contrasts`).

    - `scores`: squared influence of each group on the contrast, summed (S of the recipe).
    - `taste`, `noise`: what a unit variance of tastes (T) and the votes' own noise (E) make of the contrast's variance.
    - `taste_seen`, `noise_seen`: the same as they show in `scores`, since a group pulls the fit to itself (Q(T), Q(E)).
    - `squares`: sums over groups of T², TE and E², which say how many groups there are in effect.
    - `taste_matrix`, `noise_matrix` [K, K]: T and E whole.
    - `strata`: the same of each kind of groups, where there are several; all of the above are then sums over kinds.
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
    strata: tuple[Way, ...] = ()


def contrasts(matrix: Array) -> Array:
    """a'Xa [..., K + K(K-1)/2] of each entrant and of each pair (in the order of `triu_indices`)."""
    own = np.diagonal(matrix, axis1=-2, axis2=-1)
    first, second = np.triu_indices(matrix.shape[-1], 1)
    pairs = own[..., first] + own[..., second] - matrix[..., first, second] - matrix[..., second, first]
    return np.concatenate([own, pairs], axis=-1)


def batches(wins: Array) -> Iterator[slice]:
    """Parts of groups [G, K, K] small enough for the processor's cache."""
    each = max(1, BATCH_CELLS // max(wins.shape[-1] ** 2, 1))
    for first in range(0, len(wins), each):
        yield slice(first, first + each)


def squared_information(votes: Array, spread: Array) -> Array:
    """Σ H² over groups [K, K], from votes [G, K, K] of ordered pairs and `spread`, p(1 - p)."""
    size = len(spread)
    total = np.zeros((size, size))
    for here in batches(votes):
        met = (votes[here] + np.swapaxes(votes[here], 1, 2)) * spread
        stacked = grounded(met).reshape(-1, size)
        total += stacked.T @ stacked
    return total


def group_sums(tables: Tables, theta: Array, here: slice) -> tuple[Array, Array, Array]:
    """Scores s [B, K], information H [B, K, K] and vote noise I [B, K, K] of a batch of groups."""
    lean = 0.5 - expected_scores(theta)
    met, net, decided = _meetings(tables.wins[here], tables.draws[here])
    information = grounded(met * (0.25 - lean**2))
    scores = (met * lean).sum(-1) + net.sum(-1) / 2
    if tables.squared[0] is not tables.wins:
        met, net, decided = _meetings(*(table[here] for table in tables.squared))
    noise = grounded(_pair_noise(met, net, decided, lean))
    if tables.weight is None:
        return scores, information, noise
    weight = tables.weight[here, None, None]
    return scores * weight[..., 0], information * weight, noise * weight**2


def pair_sums(tables: Tables, theta: Array, here: slice) -> tuple[Array, Array, Array]:
    """By pair [B, K, K]: residual points of the row entrant, votes, and the votes' own noise, of a batch of groups."""
    lean = 0.5 - expected_scores(theta)
    met, net, decided = _meetings(tables.wins[here], tables.draws[here])
    residual = met * lean + net / 2
    squared = (met, net, decided)
    if tables.squared[0] is not tables.wins:
        squared = _meetings(*(table[here] for table in tables.squared))
    noise = _pair_noise(*squared, lean)
    if tables.weight is None:
        return residual, met, noise
    weight = tables.weight[here, None, None]
    return residual * weight, met * weight, noise * weight**2


def _meetings(wins: Array, draws: Array) -> tuple[Array, Array, Array]:
    """Votes, wins less losses, and decided votes of every two entrants [..., K, K], either side of the diagonal."""
    losses = np.swapaxes(wins, -1, -2)
    decided = wins + losses
    met = draws + np.swapaxes(draws, -1, -2)
    met += decided
    return met, wins - losses, decided


def _pair_noise(met: Array, net: Array, decided: Array, lean: Array) -> Array:
    """Sum of (y - p)² over a pair's votes; `lean` is a half less the row entrant's expectation p."""
    noise = met * lean
    noise += net
    noise *= lean
    noise += 0.25 * decided
    return noise


def loner_noise(tables: Tables, theta: Array) -> Array:
    p = expected_scores(theta)
    if tables.loners is None:
        return np.zeros_like(p)
    noise = laplacian(tables.loners[0] * (1 - p) ** 2 + tables.loners[1] * (0.5 - p) ** 2)
    return noise * tables.loner_weight**2


def summarise_way(tables: Tables, theta: Array, inverse: Array) -> Way:
    """The sums of one way at ratings theta [K]; `inverse` is B, the inverse information of all votes."""
    alone = None if tables.loners is None else loner_noise(tables, theta)
    if tables.strata is None:
        return gather_way(
            (group_sums(tables, theta, here) for here in batches(tables.wins)),
            inverse,
            groups=len(tables.labels),
            alone=alone,
            loners=tables.loner_votes,
        )
    whole = np.linalg.inv(inverse)
    ways = []
    for stratum in np.unique(tables.strata):
        kind = tables.of(np.flatnonzero(tables.strata == stratum))
        sums = [group_sums(kind, theta, here) for here in batches(kind.wins)]
        own = sum(information.sum(0) for _, information, _ in sums)
        held = KIND_RIDGE * np.trace(own) / len(theta)
        turn = np.linalg.solve(own + max(held, TINY) * np.eye(len(theta)), whole)
        ways.append(gather_way(sums, inverse, groups=len(kind.labels), turn=turn))
    if alone is not None:
        ways.append(gather_way((), inverse, groups=0, alone=alone, loners=tables.loner_votes))
    return _together(ways)


def gather_way(
    sums: Iterable[tuple[Array, Array, Array]],
    inverse: Array,
    *,
    groups: int,
    alone: Array | None = None,
    loners: float = 0.0,
    turn: Array | None = None,
) -> Way:
    """A way from batches of its groups' scores s, information H and vote noise I (`group_sums`).

    `alone` [K, K] is the noise of votes whose group is unknown, and `loners` how many they are. `turn` [K, K] makes what a
    group pulls all ratings by what it pulls those of its kind by: the groups are then held against ratings of their own kind.
    """
    size = len(inverse)
    taste, noise = (np.zeros((size, size)) for _ in range(2))
    squares = np.zeros((3, size * (size + 1) // 2))
    kept = []  # of each batch: P = H B (M' of the recipe), turned; T, where P'P is no longer it; E
    influences = []
    for scores, information, own_noise in sums:
        pull = information @ inverse
        by_taste, by_noise = np.swapaxes(pull, 1, 2) @ pull, inverse @ (own_noise @ inverse)
        kept.append((pull, None, by_noise) if turn is None else (turn.T @ pull, by_taste, by_noise))
        influences.append(scores @ inverse)
        taste += by_taste.sum(0)
        noise += by_noise.sum(0)
        squares += _square_sums(by_taste, by_noise)
    outer = _outer(influences, None if turn is None else kept, size)
    if alone is not None:
        alone = inverse @ alone @ inverse
        outer, noise = outer + alone, noise + alone
        squares[2] += contrasts(alone) ** 2 / loners
    taste_seen, noise_seen = _as_seen(kept, taste, noise)
    return Way(
        groups=groups + loners,
        scores=contrasts(outer),
        taste=contrasts(taste),
        noise=contrasts(noise),
        taste_seen=contrasts(taste_seen),
        noise_seen=contrasts(noise_seen),
        squares=(squares[0], squares[1], squares[2]),
        taste_matrix=taste,
        noise_matrix=noise,
    )


def _outer(influences: list[Array], kept: list[tuple[Array, Array | None, Array]] | None, size: int) -> Array:
    """S: outer products of what the groups pull, summed; with `kept`, of what each pulls beside all of its kind."""
    outer = np.zeros((size, size))
    common = sum((influence.sum(0) for influence in influences), np.zeros(size))
    for at, influence in enumerate(influences):
        own = influence if kept is None else influence - common @ kept[at][0]
        outer += own.T @ own
    return outer


def _together(ways: list[Way]) -> Way:
    names = ("groups", "scores", "taste", "noise", "taste_seen", "noise_seen", "taste_matrix", "noise_matrix")
    sums: dict[str, Any] = {name: sum(getattr(way, name) for way in ways) for name in names}
    tt, te, ee = (sum(column) for column in zip(*(way.squares for way in ways), strict=True))
    return Way(squares=(tt, te, ee), strata=tuple(ways), **sums)


def _as_seen(kept: list[tuple[Array, Array | None, Array]], taste: Array, noise: Array) -> tuple[Array, Array]:
    """Q(T) and Q(E): X - Σ(M X_g + X_g M') + Σ M X M', gathered as X plus the symmetric part of Σ M (X M' - 2 X_g)."""
    size = len(taste)
    pulled_taste, pulled_noise = np.zeros_like(taste), np.zeros_like(noise)
    for pull, by_taste, by_noise in kept:
        columns = pull.reshape(-1, size).T
        if by_taste is None:
            own = np.swapaxes(pull, 1, 2) * -2
            own += taste
            own = own @ pull
        else:
            own = taste @ pull
            own -= 2 * by_taste
        pulled_taste += columns @ own.reshape(-1, size)
        rest = noise @ pull
        rest -= 2 * by_noise
        pulled_noise += columns @ rest.reshape(-1, size)
    return taste + (pulled_taste + pulled_taste.T) / 2, noise + (pulled_noise + pulled_noise.T) / 2


def _square_sums(taste: Array, noise: Array) -> Array:
    """Sums over groups of T², TE and E² by contrast [3, ...], from T and E [B, K, K]."""
    first, second = np.triu_indices(taste.shape[-1], 1)
    own = [np.diagonal(table, axis1=1, axis2=2) for table in (taste, noise)]
    gaps = []
    for diagonal, table in zip(own, (taste, noise), strict=True):
        gap = table * -2
        gap += diagonal[:, :, None]
        gap += diagonal[:, None, :]
        gaps.append(gap)
    sums = []
    for one, other in ((0, 0), (0, 1), (1, 1)):
        entrants = np.einsum("gi,gi->i", own[one], own[other])
        pairs = np.einsum("gij,gij->ij", gaps[one], gaps[other])
        sums.append(np.concatenate([entrants, pairs[first, second]]))
    return np.array(sums)
