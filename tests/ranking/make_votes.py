"""Small sets of simulated votes whose truth is known."""

from __future__ import annotations

import numpy as np

from ranking.votes import Votes, make_votes

CATEGORIES = ("action", "animal", "object", "spatial")


def simulate(
    *,
    votes: int,
    entrants: int = 6,
    judges: int = 8,
    prompts: int = 8,
    seed: int = 0,
    judge_sd: float = 0.0,
    prompt_sd: float = 0.0,
    attempt_sd: float = 0.0,
    spread: float = 0.7,
    draws: float = 0.15,
    side: float = 0.0,
) -> Votes:
    rng = np.random.default_rng(seed)
    theta = np.linspace(spread, -spread, entrants)
    by_judge = rng.normal(0, judge_sd, (judges, entrants))
    by_prompt = rng.normal(0, prompt_sd, (prompts, entrants))
    by_attempt = rng.normal(0, attempt_sd, (entrants, prompts, 5))
    left = rng.integers(0, entrants, votes)
    right = (left + rng.integers(1, entrants, votes)) % entrants
    judge, prompt = rng.integers(0, judges, votes), rng.integers(0, prompts, votes)
    attempts = rng.integers(0, 5, (2, votes))
    strength = [
        theta[e] + by_judge[judge, e] + by_prompt[prompt, e] + by_attempt[e, prompt, a]
        for e, a in ((left, attempts[0]), (right, attempts[1]))
    ]
    wins = rng.random(votes) < 1 / (1 + np.exp(strength[1] - strength[0] - side))
    outcome = np.where(rng.random(votes) < draws, rng.integers(2, 4, votes), np.where(wins, 0, 1))
    return make_votes(
        entrants=tuple(f"model/{chr(97 + i)}" for i in range(entrants)),
        judges=tuple(f"judge-{i:02d}" for i in range(judges)),
        prompts=tuple(f"Draw thing {i}" for i in range(prompts)),
        categories=CATEGORIES,
        left=left,
        right=right,
        outcome=outcome,
        judge=judge,
        prompt=prompt,
        category=prompt % 4,
        left_attempt=attempts[0] + 1,
        right_attempt=attempts[1] + 1,
        time=1_780_000_000 + np.arange(votes),
        response_ms=rng.integers(900, 9000, votes),
    )


def counts_of(size: int, rows: list[list[int]]) -> np.ndarray:
    """Counts [K, K, 4] of rows left, right, outcome and, if given, how many."""
    counts = np.zeros((size, size, 4))
    for left, right, outcome, *times in rows:
        counts[left, right, outcome] += times[0] if times else 1
    return counts
