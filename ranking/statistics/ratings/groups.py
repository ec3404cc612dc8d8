"""What each judge, or each prompt, says about the ratings: the matrices that variances by group are made of.

A *way* of grouping is by judge or by prompt. Its cost grows with groups and entrants, not with votes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import expected_scores, grounded
from ranking.statistics.tables import Tables, batches, loner_noise, pair_sums

Array = NDArray[Any]
Sums = tuple[Array, Array, Array]  # of a batch of groups: scores s [B, K], information H and vote noise I [B, K, K]
KIND_RIDGE = 0.01  # of an entrant's information: how hard ratings by one kind of groups are held to everybody's
TINY = 1e-12


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
    residuals: Residuals | None = None


@dataclass(frozen=True)
class Residuals:
    """What a way's votes leave unexplained, from the same pass over its groups: checks of the model are made of it.

    - `pairs` [6, K, K], summed over groups: a pair's residual points, their square, their product with its votes, the votes'
      own noise, votes, and their square.
    - `surprise`, `expected` [G, K]: squared residuals of each entrant's votes, and their expectation, unweighted.
    """

    pairs: Array
    surprise: Array
    expected: Array

    @classmethod
    def none_yet(cls, groups: int, size: int) -> Residuals:
        return cls(np.zeros((6, size, size)), np.zeros((groups, size)), np.zeros((groups, size)))

    def add(self, residual: Array, met: Array, noise: Array) -> None:
        for total, one, other in ((1, residual, residual), (2, residual, met), (5, met, met)):
            self.pairs[total] += np.einsum("gij,gij->ij", one, other)
        for total, one in ((0, residual), (3, noise), (4, met)):
            self.pairs[total] += one.sum(0)


def contrasts(matrix: Array) -> Array:
    """a'Xa [..., K + K(K-1)/2] of each entrant and of each pair (in the order of `triu_indices`)."""
    own = np.diagonal(matrix, axis1=-2, axis2=-1)
    first, second = np.triu_indices(matrix.shape[-1], 1)
    pairs = own[..., first] + own[..., second] - matrix[..., first, second] - matrix[..., second, first]
    return np.concatenate([own, pairs], axis=-1)


def gather_way(
    sums: Iterable[Sums],
    inverse: Array,
    *,
    groups: int,
    alone: Array | None = None,
    loners: float = 0.0,
    turn: Array | None = None,
) -> Way:
    """A way from batches of its groups' scores s, information H and vote noise I.

    `alone` [K, K] is the noise of votes whose group is unknown, and `loners` how many they are. `turn` [K, K] makes what a
    group pulls all ratings by what it pulls those of its kind by: the groups are then compared with ratings of their own kind.
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


def _group_sums(tables: Tables, theta: Array, groups: Array, residuals: Residuals) -> Iterator[Sums]:
    """Scores s [B, K], information H [B, K, K] and vote noise I [B, K, K] of these groups, by batches."""
    kind = tables if len(groups) == len(tables.labels) else tables.of(groups)
    lean = 0.5 - expected_scores(theta)
    spread = 0.25 - lean**2
    for here in batches(kind.wins):
        residual, met, noise = pair_sums(kind, lean, here)
        residuals.add(residual, met, noise)
        met *= spread
        sums = residual.sum(-1), grounded(met), grounded(noise)
        factor = 1.0 if kind.weight is None else np.maximum(kind.weight[here, None], TINY)
        for table, matrices, power in ((residuals.expected, sums[1], 1), (residuals.surprise, sums[2], 2)):
            table[groups[here]] = np.diagonal(matrices, axis1=1, axis2=2) / factor**power
        yield sums


def summarise_way(tables: Tables, theta: Array, inverse: Array) -> Way:
    """The sums of one way at ratings theta [K]; `inverse` is B, the inverse information of all votes."""
    alone = None if tables.loners is None else loner_noise(tables, theta)
    residuals, everybody = Residuals.none_yet(len(tables.labels), len(theta)), np.arange(len(tables.labels))
    if tables.strata is None:
        sums = _group_sums(tables, theta, everybody, residuals)
        way = gather_way(sums, inverse, groups=len(everybody), alone=alone, loners=tables.loner_votes)
        return replace(way, residuals=residuals)
    kinds = (everybody[tables.strata == stratum] for stratum in np.unique(tables.strata))
    each = ((list(_group_sums(tables, theta, groups, residuals)), len(groups)) for groups in kinds)
    way = gather_kinds(each, inverse, alone=alone, loners=tables.loner_votes)
    return replace(way, residuals=residuals)


def gather_kinds(kinds: Iterable[tuple[list[Sums], int]], inverse: Array, *, alone: Array | None, loners: float) -> Way:
    """A way from the sums of each kind of groups and how many these are; each kind is compared with its own (`gather_way`)."""
    size, whole, ways = len(inverse), np.linalg.inv(inverse), []
    for sums, groups in kinds:
        own = sum(information.sum(0) for _, information, _ in sums)
        held = KIND_RIDGE * np.trace(own) / size
        turn = np.linalg.solve(own + max(held, TINY) * np.eye(size), whole)
        ways.append(gather_way(sums, inverse, groups=groups, turn=turn))
    if alone is not None:
        ways.append(gather_way((), inverse, groups=0, alone=alone, loners=loners))
    return _together(ways)


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
