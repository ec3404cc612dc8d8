"""When a ranking may be called stable, by a bound that survives looking at it as often as one likes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, stdtrit

from ranking.statistics.ratings.bradley_terry import ELO

Array = NDArray[Any]
TUNED_FOR = 1000  # votes at which the sequence is tightest
FOREVER = 1e9


@dataclass(frozen=True)
class AdjacentPair:
    """Two neighbours in the ranking: apart, tied within the margin, or still open with votes to go."""

    upper: int
    lower: int
    gap: float  # Elo
    half_width: float | None  # Elo; None where there is no spread to speak of
    status: str  # separated | tied | open
    votes_needed: int | None  # 0 when settled; None when votes like these will not settle it


def sequence_quantile(votes: float, *, alpha: float = 0.05, df: float = np.inf, tuned_for: float = TUNED_FOR) -> float:
    """Multiple of the standard error that holds at every number of votes at once.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), eq. (14): a normal
    mixture, tightest at `tuned_for` votes. With few clusters the normal tail is replaced by Student's.
    """
    rho2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / tuned_for
    x = max(votes, 1) * rho2
    normal = math.sqrt(2 * (x + 1) / x * math.log(math.sqrt(x + 1) / alpha))
    if not math.isfinite(df):
        return normal
    return float(-stdtrit(df, ndtr(-normal)))


def adjacent_pairs(
    theta: Array, pair_variance: Array, *, votes: float, df: float, margin: float, island: Array, level: float = 0.95
) -> list[AdjacentPair]:
    """Every adjacent pair of each island, with the error shared out among the pairs."""
    order = sorted(range(len(theta)), key=lambda i: (island[i], -theta[i], i))
    neighbours = [(a, b) for a, b in pairwise(order) if island[a] == island[b]]
    alpha = (1 - level) / max(len(neighbours), 1)
    result = []
    for upper, lower in neighbours:
        gap, error = ELO * (theta[upper] - theta[lower]), ELO * math.sqrt(pair_variance[upper, lower])
        result.append(_judge_pair(upper, lower, float(gap), error, votes=votes, df=df, margin=margin, alpha=alpha))
    return result


def _judge_pair(
    upper: int, lower: int, gap: float, error: float, *, votes: float, df: float, margin: float, alpha: float
) -> AdjacentPair:
    if error <= 0 or votes <= 0:
        return AdjacentPair(upper, lower, gap, None, "open", None)
    half = error * sequence_quantile(votes, alpha=alpha, df=df)
    if gap > half:
        return AdjacentPair(upper, lower, gap, half, "separated", 0)
    if gap + half < margin:
        return AdjacentPair(upper, lower, gap, half, "tied", 0)
    needed = votes_needed(max(gap, margin - gap), error, votes=votes, df=df, alpha=alpha)
    return AdjacentPair(upper, lower, gap, half, "open", needed)


def votes_needed(width: float, error: float, *, votes: float, df: float, alpha: float) -> int | None:
    """More votes of the same kind, judges growing with them, until the half-width falls to `width` (both in Elo)."""

    def excess(log_total: float) -> float:
        total = math.exp(log_total)
        grown = df * total / votes
        return error * math.sqrt(votes / total) * sequence_quantile(total, alpha=alpha, df=grown) - width

    if excess(math.log(FOREVER)) > 0:
        return None
    return math.ceil(math.exp(brentq(excess, math.log(votes), math.log(FOREVER), xtol=1e-4)) - votes)
