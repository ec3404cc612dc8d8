"""Small sets of votes for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.numbers.simulation import World, simulate_votes
from ranking.statistics.votes import Votes


def simulate(votes: int, *, entrants: int = 6, spread: float = 0.7, seed: int = 0, **world: Any) -> Votes:
    """Simulated votes on evenly spaced entrants, the first one the strongest."""
    theta = tuple(np.linspace(spread, -spread, entrants))
    return simulate_votes(World(theta, **({"judges": 8, "prompts": 8} | world)), votes, seed=seed)


def counts_of(size: int, rows: list[list[int]]) -> np.ndarray:
    """Counts [K, K, 4] of rows left, right, outcome and, if given, how many."""
    counts = np.zeros((size, size, 4))
    for left, right, outcome, *times in rows:
        counts[left, right, outcome] += times[0] if times else 1
    return counts
