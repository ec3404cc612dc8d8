"""Whether the ratings describe the votes: pairs that one entrant wins more often than both ratings allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr

from ranking.statistics.ratings.bradley_terry import expected_scores
from ranking.statistics.ratings.groups import Way
from ranking.statistics.ratings.scopes import ScopeFit

Array = NDArray[Any]
FEWEST_GROUPS = 3.0  # judges (or prompts) that the test needs to know how much groups differ
FEWEST_VOTES = 10  # of a pair that is tested


@dataclass(frozen=True)
class MisfitPair:
    """Two entrants whose votes the ratings do not explain; `share` of points that the first won, `expected` by ratings."""

    winner: int
    loser: int
    share: float
    expected: float
    p_value: float  # times the number of pairs tested, at most 1


@dataclass(frozen=True)
class _PairSums:
    """By pair [K, K]: residual points of the row entrant, how much their sums vary by group and by vote, groups in effect."""

    residual: Array
    squares: Array  # around the pair's own mean residual
    noise: Array
    groups: Array


def find_misfits(fit: ScopeFit, *, level: float = 0.95) -> list[MisfitPair]:
    """Pairs whose points the ratings do not explain, worst first; none where the ratings as a whole describe the votes.

    Half of the error goes to the residuals of all pairs together (Pearson's sum over how much more votes vary by judge and
    prompt than by chance, as F), half to the largest of them. Then the pairs that are too far off by themselves are named, or the worst one.
    """
    if fit.pull is None or len(fit.theta) < 3:
        return []
    pull, theta = fit.pull, fit.theta[fit.pull.seen]
    ways = [_pair_sums(way) for way in pull.ways]
    known = [way for way, groups in zip(ways, pull.ways, strict=True) if groups.groups >= FEWEST_GROUPS]
    sums, size = ways[0], len(theta)
    met = (fit.wins + fit.wins.T)[np.ix_(pull.seen, pull.seen)]
    votes = fit.counts.sum(-1)[np.ix_(pull.seen, pull.seen)]
    tested = np.triu((sums.noise > 0) & (votes + votes.T >= FEWEST_VOTES), 1)
    # Who won or lost everything against the others is pulled back by the ridge alone, which is no misfit.
    part = fit.connected.component[pull.seen]
    tested &= part[:, None] == part[None, :]
    if not known or tested.sum() < size:
        return []
    inflation = max(1.0, 1 + sum(_excess(way, tested) for way in known))
    known_by = (min(way.groups for way in pull.ways if way.groups >= FEWEST_GROUPS) - 1) * (size - 1)
    squares = sums.residual[tested] ** 2 / sums.noise[tested] / inflation
    p = expected_scores(theta)
    # What the fit leaves of a pair's variance.
    rest = np.clip(1 - (met * p * (1 - p) * _pair_contrasts(pull.inverse))[tested], 0.05, 1.0)
    whole = float(fdtrc(rest.sum(), known_by, squares.sum() / rest.sum()))
    each = np.minimum(1.0, 2 * stdtr(known_by, -np.sqrt(squares / rest)) * len(squares))
    if min(whole, each.min()) >= (1 - level) / 2:
        return []
    named = np.flatnonzero(each < 1 - level)
    named = named if len(named) else np.array([np.argmax(squares / rest)])
    rows, columns = np.nonzero(tested)
    above = sums.residual[tested] > 0
    pairs = [_misfit(fit, rows[k], columns[k], bool(above[k]), float(each[k])) for k in named]
    return sorted(pairs, key=lambda pair: pair.p_value)


def _excess(way: _PairSums, tested: Array) -> float:
    """How much more pairs' residuals vary by group than single votes would make them, as a share of the latter."""
    usable = tested & (way.groups > 1)
    expected = (way.noise * (1 - 1 / np.maximum(way.groups, 1)))[usable].sum()
    return float(way.squares[usable].sum() / expected - 1) if expected > 0 else 0.0


def _pair_contrasts(matrix: Array) -> Array:
    own = np.diag(matrix)
    return own[:, None] + own[None, :] - matrix - matrix.T


def _misfit(fit: ScopeFit, i: int, j: int, above: bool, p_value: float) -> MisfitPair:
    assert fit.pull is not None
    one, other = (int(fit.pull.seen[k]) for k in (i, j))
    first, second = (one, other) if above else (other, one)
    share = fit.wins[first, second] / (fit.wins[first, second] + fit.wins[second, first])
    expected = expected_scores(fit.theta)[first, second]
    return MisfitPair(first, second, float(share), float(expected), p_value)


def _pair_sums(way: Way) -> _PairSums:
    assert way.residuals is not None  # both ways of a fit have them
    residual, squares, crossed, noise, total, total_squares = way.residuals.pairs
    mean = residual / np.where(total > 0, total, 1)
    squares = np.maximum(squares - 2 * mean * crossed + mean**2 * total_squares, 0)
    return _PairSums(residual, squares, noise, total**2 / np.where(total_squares > 0, total_squares, 1))
