"""One verdict for every pair of entrants; rank ranges, brackets, headline and forecast follow from it.

- settled: ahead by a bound that stays right however often one looks (of votes alone: see `judge_gaps`);
- ahead: separated at this look, simultaneously over all pairs;
- tied: shown to lie within the margin, by the bound that stays right;
- undecided: none of these;
- apart: never compared, not even through others.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ranking.statistics.ratings.best import normal_draws
from ranking.statistics.ratings.bradley_terry import ELO, Connectivity, took_points
from ranking.statistics.ratings.categories.fits import CategoryFit
from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.ratings.scopes import ScopeFit, Settings
from ranking.statistics.verdicts.sequence import sequence_quantiles

Array = NDArray[Any]
STATES = ("settled", "ahead", "tied", "undecided", "apart")
SETTLED, AHEAD, TIED, UNDECIDED, APART = range(5)
BLOCK = 512  # draws at a time
EQUAL = 1e-9  # log-odds within which two ratings are one


@dataclass(frozen=True)
class Verdicts:
    """Of all pairs [K, K], in log-odds where a number is one.

    - `gap`: theta_i - theta_j; `reach`: half-width of its own 95% interval;
    - `look`: how far it must be for *ahead*; `bound`: for *settled*, and with the gap within the margin for *tied*;
    - `state`: a number of STATES, the same for (i, j) and (j, i);
    - `endless`: [i, j] where the gap has no upper limit; None where all have one.
    """

    gap: Array
    reach: Array
    look: Array
    bound: Array
    state: Array
    margin: float
    endless: Array | None = None

    @property
    def ahead(self) -> Array:
        """[i, j]: i is ahead of j, settled or not."""
        return (self.state <= AHEAD) & (self.gap > 0)

    @property
    def comparable(self) -> Array:
        return self.state != APART

    @property
    def rank(self) -> Array:
        return 1 + (self.comparable & (self.gap < -EQUAL)).sum(1)

    @property
    def rank_low(self) -> Array:
        return 1 + self.ahead.sum(0)

    @property
    def rank_high(self) -> Array:
        return self.comparable.sum(1) - self.ahead.sum(1)

    @property
    def order(self) -> list[int]:
        return (
            sorted(range(len(self.gap)), key=lambda i: (-round(float(self.gap[i, 0]), 9), i)) if len(self.gap) else []
        )

    def neighbours(self, island: Array) -> list[tuple[int, int]]:
        """Adjacent pairs of each island, better first."""
        order = sorted(self.order, key=lambda i: island[i])
        return [(a, b) for a, b in pairwise(order) if island[a] == island[b]]

    def name(self, i: int, j: int) -> str:
        return STATES[self.state[i, j]]

    def brackets(self, order: list[int]) -> list[tuple[int, int]]:
        """Maximal runs (first, last) of places in `order` none of whose entrants is ahead of another."""
        runs: list[tuple[int, int]] = []
        ahead = self.ahead[np.ix_(order, order)]
        for first in range(len(order)):
            last = first
            while last + 1 < len(order) and not ahead[first : last + 1, last + 1].any():
                last += 1
            if last > first and (not runs or last > runs[-1][1]):
                runs.append((first, last))
        return runs


def judge_pairs(fit: ScopeFit, settings: Settings) -> Verdicts:
    """The verdicts of a fit."""
    theta, spread, connected, level = fit.theta, fit.spread, fit.connected, settings.level
    votes = max(float(fit.counts.sum()), 1.0)
    gap = theta[:, None] - theta[None, :]
    error = np.sqrt(spread.pair_variance)
    same = connected.island[:, None] == connected.island[None, :]
    tail = simultaneous_tail(spread.covariance, same, level=level, seed=settings.seed, draws=settings.draws)
    look = t_quantile(spread.pair_df, 1 - tail) * error
    alpha = (1 - level) / max(len(theta) - connected.islands, 1)  # shared out among the neighbours
    bound = sequence_quantiles(votes, alpha=alpha, df=spread.pair_df) * error
    # A bound that survives looking needs ratings that exist: outside one strong component a ridge makes them up.
    solid = same & (connected.component[:, None] == connected.component[None, :])
    bound = np.where(solid, np.maximum(bound, look), np.inf)
    distance = np.abs(gap)
    state = np.select(
        [~same, (distance > bound) & (distance > EQUAL), (distance > look) & (distance > EQUAL)],
        [APART, SETTLED, AHEAD],
        np.where(ELO * (distance + bound) < settings.margin, TIED, UNDECIDED),
    )
    np.fill_diagonal(state, TIED)
    endless = None if connected.components <= 1 else ~took_points(fit.wins).T
    return Verdicts(gap, spread.pair_reach(level), look, bound, state, settings.margin, endless)


def judge_category(fit: CategoryFit, connected: Connectivity, settings: Settings) -> Verdicts:
    """A category's verdicts, from its own votes alone: ahead or undecided, and nothing at all where it is thin."""
    theta = fit.own_theta
    gap = theta[:, None] - theta[None, :]
    same = connected.island[:, None] == connected.island[None, :]
    own = np.diag(fit.own_covariance)
    error = np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * fit.own_covariance, 0))
    tail = simultaneous_tail(fit.own_covariance, same, level=settings.level, seed=settings.seed, draws=settings.draws)
    look = t_quantile(fit.df, 1 - tail) * error
    ahead = (np.abs(gap) > look) & (np.abs(gap) > EQUAL) & (not fit.is_thin)
    state = np.select([~same, ahead], [APART, AHEAD], UNDECIDED)
    np.fill_diagonal(state, TIED)
    reach = t_quantile(fit.df, 0.5 + settings.level / 2) * error
    return Verdicts(gap, reach, look, np.full_like(gap, np.inf), state, settings.margin)


def simultaneous_tail(covariance: Array, same: Array, *, level: float, seed: int, draws: int) -> float:
    """The one-sided tail of a single pair that makes all pairs together right with the given level, by normal draws."""
    known = np.diag(covariance) > 0
    at = np.ix_(known, known)
    if np.triu(same[at], 1).sum() < 2:  # a single pair, or none: nothing is said of several at once
        return (1 - level) / 2
    values, vectors = np.linalg.eigh(covariance[at])
    noise = normal_draws(seed, draws, len(values))[0] @ (vectors * np.sqrt(np.maximum(values, 0))).T
    own = np.diag(covariance)[known]
    errors = np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * covariance[at], 0))
    return float(ndtr(-largest_quantile(noise, errors, same[at], level)))


def largest_quantile(noise: Array, errors: Array, same: Array, level: float) -> float:
    """The level quantile of max |noise_i - noise_j| / error_ij over comparable pairs, from draws [D, K].

    Of draws whose largest cannot reach the quantile, a lower bound will do.
    """
    usable = same & (errors > 0)
    inverse = np.where(usable, 1 / np.where(usable, errors, 1), 0).astype(np.float32)
    each, first, last = np.arange(len(noise)), noise.argmax(1), noise.argmin(1)
    high, low = noise[each, first, None], noise[each, last, None]
    most = (np.maximum(high - noise, noise - low) * inverse.max(1)).max(1)
    tops = (high - low)[:, 0] * inverse[first, last]
    reached = np.partition(tops, int(level * (len(tops) - 1)))[int(level * (len(tops) - 1))]
    close = np.flatnonzero(most >= reached * (1 - 1e-5))
    for start in range(0, len(close), BLOCK):  # a block stays in the processor's cache; seven digits are plenty
        here = close[start : start + BLOCK]
        columns = np.ascontiguousarray(noise[here].T, np.float32)
        top = np.zeros(columns.shape[1], np.float32)
        for i in range(len(columns) - 1):
            z = columns[i + 1 :] - columns[i]
            np.abs(z, out=z)
            z *= inverse[i, i + 1 :, None]
            np.maximum(top, z.max(0), out=top)
        tops[here] = top
    return float(np.quantile(tops, level))
