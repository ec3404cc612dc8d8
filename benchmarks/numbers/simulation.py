"""Simulated votes whose truth is known: for teaching, tests and measuring how often an interval is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ranking.statistics.ratings.bradley_terry import fit_ratings
from ranking.statistics.votes import Votes, make_votes

Array = NDArray[Any]
START = 1_780_000_000  # when simulated voting began, seconds since 1970


@dataclass(frozen=True)
class World:
    """What decides a simulated vote: strengths in log-odds, and how much judges, prompts and attempts differ."""

    theta: tuple[float, ...]
    judges: int = 20
    prompts: int = 20
    categories: int = 4
    attempts: int = 5
    judge_sd: float = 0.0
    prompt_sd: float = 0.0
    attempt_sd: float = 0.0
    ties: float = 0.1
    fails: float = 0.05
    side: float = 0.0


def simulate_votes(world: World, votes: int, *, seed: int) -> Votes:
    """Votes on random pairs by random judges; effects of judges, prompts and attempts drawn anew for each seed."""
    rng = np.random.default_rng(seed)
    size = len(world.theta)
    left = rng.integers(0, size, votes)
    right = (left + rng.integers(1, size, votes)) % size
    judge, prompt = rng.integers(0, world.judges, votes), rng.integers(0, world.prompts, votes)
    attempts = rng.integers(0, world.attempts, (2, votes))
    by_judge = rng.normal(0, world.judge_sd, (world.judges, size))
    by_prompt = rng.normal(0, world.prompt_sd, (world.prompts, size))
    by_attempt = rng.normal(0, world.attempt_sd, (size, world.prompts, world.attempts))
    theta = np.array(world.theta)
    first, second = (
        theta[e] + by_judge[judge, e] + by_prompt[prompt, e] + by_attempt[e, prompt, a]
        for e, a in zip((left, right), attempts, strict=True)
    )
    wins = rng.random(votes) < expit(first - second + world.side)
    luck = rng.random(votes)
    outcome = np.where(luck < world.ties, 2, np.where(luck < world.ties + world.fails, 3, np.where(wins, 0, 1)))
    return make_votes(
        entrants=tuple(f"model/{i:03d}" for i in range(size)),
        judges=tuple(f"judge-{i:03d}" for i in range(world.judges)),
        prompts=tuple(f"Draw thing {i}" for i in range(world.prompts)),
        categories=tuple(f"category-{i}" for i in range(world.categories)),
        left=left,
        right=right,
        outcome=outcome,
        judge=judge,
        prompt=prompt,
        category=prompt % world.categories,
        left_attempt=attempts[0] + 1,
        right_attempt=attempts[1] + 1,
        time=START + np.arange(votes, dtype=float),
        response_ms=rng.integers(900, 9000, votes),
    )


def population_ratings(world: World) -> Array:
    """theta [K] that the half-win model would find with endless votes, judges and prompts; what intervals must cover."""
    theta = np.array(world.theta)
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    spread = np.sqrt(2 * (world.judge_sd**2 + world.prompt_sd**2 + world.attempt_sd**2))
    gaps = (theta[:, None] - theta[None, :])[..., None] + spread * nodes
    left = (expit(gaps + world.side) * weights).sum(-1) / weights.sum()
    right = (expit(-gaps + world.side) * weights).sum(-1) / weights.sum()
    undecided = world.ties + world.fails
    score = (1 - undecided) * 0.5 * (left + 1 - right) + undecided * 0.5
    np.fill_diagonal(score, 0)
    return fit_ratings(score)
