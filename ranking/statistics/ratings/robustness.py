"""What would overturn the first place: leaving a judge out, or leaving a few votes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import half_wins, information, map_ratings, residual_table
from ranking.statistics.ratings.scopes import ScopeFit, Settings

Array = NDArray[Any]
CHALLENGERS = 4  # entrants behind the first that are tried


@dataclass(frozen=True)
class FewestVotes:
    """The fewest votes found whose removal puts another entrant first (confirmed by a refit).

    Where votes weigh unlike, those of one pair and outcome are taken out in proportion, heavy and light ones alike.
    """

    votes: int
    share: float
    first: int
    instead: int


def fewest_votes(fit: ScopeFit, settings: Settings) -> FewestVotes | None:
    """By one-step influence (Broderick, Giordano and Meager 2020) from counts alone; None where nothing overturns it.

    All votes of one cell (left, right, outcome) pull alike, so the most influential ones are cells in order of pull.
    """
    if len(fit.theta) < 2 or fit.connected.components > 1:
        return None
    order = np.argsort(-fit.theta, kind="stable")
    inverse = np.linalg.inv(information(fit.wins, fit.theta) + 1 / len(order))
    attempts = [_overturn(fit, settings, inverse, order[0], rival) for rival in order[1 : 1 + CHALLENGERS]]
    overturns = [attempt for attempt in attempts if attempt is not None]
    return min(overturns, key=lambda overturn: overturn.votes, default=None)


def _overturn(fit: ScopeFit, settings: Settings, inverse: Array, first: int, rival: int) -> FewestVotes | None:
    pull = inverse[first] - inverse[rival]
    influence = (pull[:, None] - pull[None, :])[..., None] * residual_table(fit.theta, **settings.halves)
    cells = np.flatnonzero((influence > 0) & (fit.weighted > 0))
    cells = cells[np.argsort(-influence.ravel()[cells], kind="stable")]
    held = np.cumsum(fit.weighted.ravel()[cells])

    def lead(removed: int) -> float:
        left = _without(fit.weighted, cells, held, removed)
        # A whisper of ridge keeps the refit finite where the removal leaves somebody undefeated.
        theta = map_ratings(half_wins(left, **settings.halves), ridge=1e-4, start=fit.theta)
        return float(theta[first] - theta[rival])

    gap = float(fit.theta[first] - fit.theta[rival])
    flip = _first_flip(lead, fit, influence, cells, held, gap=gap)
    if flip is None:
        return None
    fewest = _fewest(lead, (0, gap), flip)
    gone = (fit.weighted - _without(fit.weighted, cells, held, fewest)) / np.where(fit.weighted > 0, fit.weighted, 1)
    votes = ceil(float((gone * fit.counts).sum()) - 1e-6)
    return FewestVotes(votes, votes / float(fit.counts.sum()), int(first), int(rival))


def _fewest(lead: Callable[[int], float], low: tuple[int, float], high: tuple[int, float]) -> int:
    """The least number whose removal leaves no lead, between two (number, lead): by a straight line, every third time by halves."""
    for turn in count(1):
        if high[0] - low[0] <= 1:
            break
        share = 0.5 if turn % 3 == 0 or low[1] <= high[1] else low[1] / (low[1] - high[1])
        middle = min(max(round(low[0] + share * (high[0] - low[0])), low[0] + 1), high[0] - 1)
        at = middle, lead(middle)
        low, high = (low, at) if at[1] <= 0 else (at, high)
    return high[0]


def _without(counts: Array, cells: Array, held: Array, removed: int) -> Array:
    left = counts.ravel().copy()
    before = np.concatenate(([0], held[:-1]))
    left[cells] -= np.clip(removed - before, 0, left[cells])
    return left.reshape(counts.shape)


def _first_flip(
    lead: Callable[[int], float], fit: ScopeFit, influence: Array, cells: Array, held: Array, *, gap: float
) -> tuple[int, float] | None:
    """A number of votes that surely flips, and the lead then: the one-step guess, raised until a refit agrees."""
    if not len(cells):
        return None
    moved = np.cumsum(influence.ravel()[cells] * fit.weighted.ravel()[cells])
    at = int(np.searchsorted(moved, gap))
    guess = int(held[min(at, len(held) - 1)])
    while guess <= held[-1]:
        if (left := lead(guess)) <= 0:
            return guess, left
        guess = int(guess * 1.3) + 1
    return None
