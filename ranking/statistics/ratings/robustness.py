"""What would overturn the first place: leaving a judge out, or leaving a few votes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import half_wins, information, map_ratings, residual_table
from ranking.statistics.ratings.scopes import ScopeFit, Settings

Array = NDArray[Any]
CHALLENGERS = 4  # entrants behind the first that are tried


@dataclass(frozen=True)
class FewestVotes:
    """The fewest votes found whose removal puts another entrant first (confirmed by a refit)."""

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
    attempts = [_overturn(fit, settings, order[0], rival) for rival in order[1 : 1 + CHALLENGERS]]
    overturns = [attempt for attempt in attempts if attempt is not None]
    return min(overturns, key=lambda overturn: overturn.votes, default=None)


def _overturn(fit: ScopeFit, settings: Settings, first: int, rival: int) -> FewestVotes | None:
    size = len(fit.theta)
    inverse = np.linalg.inv(information(fit.wins, fit.theta) + 1 / size)
    pull = inverse[first] - inverse[rival]
    influence = (pull[:, None] - pull[None, :])[..., None] * residual_table(fit.theta, **settings.halves)
    cells = np.argsort(-influence, axis=None, kind="stable")
    cells = cells[(influence.ravel()[cells] > 0) & (fit.weighted.ravel()[cells] > 0)]
    held = np.cumsum(fit.weighted.ravel()[cells])
    total = fit.weighted.sum()

    def flips(removed: int) -> bool:
        left = _without(fit.weighted, cells, held, removed)
        # A whisper of ridge keeps the refit finite where the removal leaves somebody undefeated.
        theta = map_ratings(half_wins(left, **settings.halves), ridge=1e-4, start=fit.theta)
        return bool(theta[rival] >= theta[first])

    low = 0
    high = _first_flip(flips, fit, influence, cells, held, gap=fit.theta[first] - fit.theta[rival])
    if high is None:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if flips(middle) else (middle, high)
    return FewestVotes(high, float(high / total), int(first), int(rival))


def _without(counts: Array, cells: Array, held: Array, removed: int) -> Array:
    left = counts.ravel().copy()
    before = np.concatenate(([0], held[:-1]))
    left[cells] -= np.clip(removed - before, 0, left[cells])
    return left.reshape(counts.shape)


def _first_flip(flips: Any, fit: ScopeFit, influence: Array, cells: Array, held: Array, *, gap: float) -> int | None:
    """A number of votes that surely flips: the one-step guess, raised until a refit agrees."""
    if not len(cells):
        return None
    moved = np.cumsum(influence.ravel()[cells] * fit.weighted.ravel()[cells])
    at = int(np.searchsorted(moved, gap))
    guess = int(held[min(at, len(held) - 1)])
    while guess <= held[-1]:
        if flips(guess):
            return guess
        guess = int(guess * 1.3) + 1
    return None
