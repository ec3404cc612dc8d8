"""Whether the ratings describe the votes: pairs that one entrant wins more often than both ratings allow, and how well the scale separates entrants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from ranking.statistics.ratings.bradley_terry import expected_scores
from ranking.statistics.ratings.groups import Tables, batches
from ranking.statistics.ratings.scopes import ScopeFit

Array = NDArray[Any]
FEWEST_GROUPS = 3.0  # judges (or prompts) in effect that a pair needs to be tested


@dataclass(frozen=True)
class MisfitPair:
    """Two entrants whose votes the ratings do not explain; `share` of points that the first won, `expected` by ratings."""

    winner: int
    loser: int
    share: float
    expected: float
    p_value: float  # times the number of pairs tested


@dataclass(frozen=True)
class _PairSums:
    """By pair [K, K]: residual points of the row entrant, how much their sums vary by group and by vote, groups in effect."""

    residual: Array
    squares: Array  # around the pair's own mean residual
    noise: Array
    groups: Array


def find_misfits(fit: ScopeFit, *, level: float = 0.95) -> list[MisfitPair]:
    """Pairs whose residual is too large, clustered by judge and by prompt, error shared among all pairs; worst first."""
    if fit.pull is None or len(fit.theta) < 3:
        return []
    theta = fit.theta[fit.pull.seen]
    ways = [_pair_sums(tables, theta) for tables in (fit.pull.judges, fit.pull.prompts)]
    usable = [way for way in ways if (way.groups >= FEWEST_GROUPS).any()]
    if not usable:
        return []
    groups = np.minimum.reduce([way.groups for way in usable])
    corrected = [way.squares * way.groups / np.maximum(way.groups - 1, 1) for way in usable]
    variance = np.maximum.reduce([*corrected, usable[0].noise])
    tested = np.triu((groups >= FEWEST_GROUPS) & (variance > 0), 1)
    z = np.abs(usable[0].residual) / np.sqrt(np.where(variance > 0, variance, 1))
    p_values = 2 * stdtr(np.maximum(groups - 1, 1), -z) * max(int(tested.sum()), 1)
    places = np.argwhere(tested & (p_values < 1 - level))
    pairs = [_misfit(fit, int(i), int(j), usable[0].residual[i, j] > 0, float(p_values[i, j])) for i, j in places]
    return sorted(pairs, key=lambda pair: pair.p_value)


def _misfit(fit: ScopeFit, i: int, j: int, above: bool, p_value: float) -> MisfitPair:
    assert fit.pull is not None
    one, other = int(fit.pull.seen[i]), int(fit.pull.seen[j])
    first, second = (one, other) if above else (other, one)
    share = fit.wins[first, second] / (fit.wins[first, second] + fit.wins[second, first])
    expected = expected_scores(fit.theta)[first, second]
    return MisfitPair(first, second, float(share), float(expected), p_value)


def _pair_sums(tables: Tables, theta: Array) -> _PairSums:
    size = len(theta)
    p = expected_scores(theta)
    residual, squares, crossed, noise, total, total_squares = (np.zeros((size, size)) for _ in range(6))
    for here in batches(tables):
        wins, draws = tables.wins[here], tables.draws[here]
        own = wins * (1 - p) + draws * (0.5 - p)
        own = own - np.swapaxes(own, 1, 2)
        votes = wins + draws
        votes = votes + np.swapaxes(votes, 1, 2)
        if tables.weight is not None:
            own, votes = own * tables.weight[here, None, None], votes * tables.weight[here, None, None]
        residual += own.sum(0)
        squares += (own**2).sum(0)
        crossed += (own * votes).sum(0)
        single = tables.squared[0][here] * (1 - p) ** 2 + tables.squared[1][here] * (0.5 - p) ** 2
        if tables.weight is not None:
            single = single * tables.weight[here, None, None] ** 2
        noise += single.sum(0)
        total += votes.sum(0)
        total_squares += (votes**2).sum(0)
    mean = residual / np.where(total > 0, total, 1)
    squares = np.maximum(squares - 2 * mean * crossed + mean**2 * total_squares, 0)
    return _PairSums(residual, squares, noise + noise.T, total**2 / np.where(total_squares > 0, total_squares, 1))


def separation_reliability(theta: Array, variance: Array) -> float | None:
    """Scale separation reliability: the share of the ratings' variance that is not error (comparative judgement asks for 0.8)."""
    if len(theta) < 2 or not np.isfinite(variance).all():
        return None
    observed = float(np.var(theta, ddof=1))
    return max(0.0, 1 - float(variance.mean()) / observed) if observed > 0 else None
