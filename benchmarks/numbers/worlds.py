"""Worlds of simulated votes as the field has them: judges of unequal activity, late entrants, few judges, copies, camps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ranking.statistics.ratings.bradley_terry import fit_ratings
from ranking.statistics.votes import Votes, make_votes

Array = NDArray[Any]
THETA = tuple(np.linspace(0.8, -0.8, 8))


@dataclass(frozen=True)
class FieldWorld:
    """What decides a vote, and who votes how often. Effects are drawn anew for each seed; strengths are log-odds."""

    theta: tuple[float, ...] = THETA
    votes: int = 4000
    judges: int = 20
    prompts: int = 20
    categories: int = 1
    busiest: float = 0.0  # share of the first judge's votes
    zipf: float = 0.0  # judge k casts votes in proportion to k ** -zipf
    judge_sd: float = 0.4
    prompt_sd: float = 0.3
    attempt_sd: float = 0.0
    category_sd: float = 0.0
    reversed_category: float = 0.0  # share of votes in a category whose order is the reverse
    specialists: bool = False  # judges vote in one category only
    side: float = 0.0
    side_sd: float = 0.0
    ties: float = 0.1
    fails: float = 0.05
    fail_sd: float = 0.0  # judges' own thresholds for "both terrible", on the logit scale
    fail_by_rating: float = 0.0  # weaker drawings fail more often
    late: int = 0  # the last entrants are seen by `late_judges` only
    late_judges: int = 0
    copies: int = 0  # accounts of one person
    disputed: float = 0.0  # sd of judges' tastes about the first two entrants
    cycle: float = 0.0  # strength of a preference that no rating can hold
    pair_sd: float = 0.0  # the same, drawn anew for each pair
    opposed: float = 0.0  # share of judges with the opposite taste


@dataclass(frozen=True)
class Drawn:
    """Votes of one seed, and the effects that made them."""

    votes: Votes
    by_judge: Array  # [J, K]
    by_category: Array  # [C, K]
    untasted: (
        Array  # [n]: the outcome had the judge no taste and no habit of side, by the same luck; never a tie or a fail
    )


def simulate_field(world: FieldWorld, *, seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    size, n = len(world.theta), world.votes
    judge = rng.choice(world.judges, n, p=activity_shares(world))
    by_judge = judge_effects(world, rng)
    prompt = rng.integers(0, world.prompts, n)
    category = _categories(world, prompt, judge, rng)
    by_category = rng.normal(0, 1, (world.categories, size)) * world.category_sd
    if world.reversed_category:
        by_category[0] = -2 * np.array(world.theta)
    prompt = prompt if world.categories == 1 else category + world.categories * (prompt // world.categories)
    left, right = _pairs(world, judge, rng)
    by_prompt = rng.normal(0, world.prompt_sd, (int(prompt.max(initial=0)) + 1, size))
    attempts = rng.integers(0, 5, (2, n))
    by_attempt = (
        rng.normal(0, world.attempt_sd, (size, len(by_prompt), 5))
        if world.attempt_sd
        else np.zeros((size, len(by_prompt), 5))
    )
    strength = np.array(world.theta) + by_category
    first, second = (
        strength[category, e] + by_judge[judge, e] + by_prompt[prompt, e] + by_attempt[e, prompt, a]
        for e, a in zip((left, right), attempts, strict=True)
    )
    side = world.side + rng.normal(0, world.side_sd, world.judges)[judge]
    taste = side + by_judge[judge, left] - by_judge[judge, right]
    gap = first - second + side + world.cycle * cycle_sign(left, right, size)
    if world.pair_sd:
        effects = np.triu(rng.normal(0, world.pair_sd, (size, size)), 1)
        gap += (effects - effects.T)[left, right]
    chance = rng.random(n)
    untasted = (chance >= expit(gap - taste)).astype(np.int8)
    outcome = _outcomes(world, chance < expit(gap), first + second, judge, rng)
    votes = _as_votes(world, left, right, outcome, judge, prompt, category, attempts)
    return Drawn(votes, by_judge, by_category, untasted)


def activity_shares(world: FieldWorld) -> Array:
    shares = np.arange(1, world.judges + 1, dtype=float) ** -world.zipf
    if world.busiest:
        shares[1:] *= (1 - world.busiest) / shares[1:].sum()
        shares[0] = world.busiest
    return shares / shares.sum()


def judge_effects(world: FieldWorld, rng: np.random.Generator) -> Array:
    effects = rng.normal(0, world.judge_sd, (world.judges, len(world.theta)))
    if world.copies:
        effects[: world.copies] = effects[0]
    if world.disputed:
        effects[:, :2] = rng.normal(0, world.disputed, (world.judges, 2))
    if world.opposed:
        camp = np.arange(world.judges) < round(world.opposed * world.judges)
        effects[camp] -= 2 * np.array(world.theta)
    return effects


def cycle_sign(left: Array, right: Array, size: int) -> Array:
    """+1 where the left entrant follows the right one on a circle, -1 where it is the other way round, else 0."""
    step = (left - right) % size
    return (step == 1).astype(float) - (step == size - 1)


def _categories(world: FieldWorld, prompt: Array, judge: Array, rng: np.random.Generator) -> Array:
    if world.specialists:
        return judge % world.categories
    if world.reversed_category:
        thin = rng.random(len(prompt)) < world.reversed_category
        return np.where(thin, 0, 1 + prompt % (world.categories - 1))
    return prompt % world.categories


def _pairs(world: FieldWorld, judge: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    size, n = len(world.theta), len(judge)
    known = size - world.late
    open_to = np.where(judge < world.late_judges, size, known) if world.late else np.full(n, size)
    left = (rng.random(n) * open_to).astype(int)
    right = (left + 1 + (rng.random(n) * (open_to - 1)).astype(int)) % open_to
    return left, right


def _outcomes(world: FieldWorld, wins: Array, level: Array, judge: Array, rng: np.random.Generator) -> Array:
    luck = rng.random(len(wins))
    threshold = logit(world.fails) if world.fails else -np.inf
    own = rng.normal(0, world.fail_sd, world.judges)[judge] if world.fail_sd else 0.0
    fails = expit(threshold + own - world.fail_by_rating * level)
    return np.where(luck < fails, 3, np.where(luck < fails + world.ties, 2, np.where(wins, 0, 1)))


def _as_votes(
    world: FieldWorld,
    left: Array,
    right: Array,
    outcome: Array,
    judge: Array,
    prompt: Array,
    category: Array,
    attempts: Array,
) -> Votes:
    return make_votes(
        entrants=tuple(f"model-{i:02d}" for i in range(len(world.theta))),
        judges=tuple(f"judge-{i:03d}" for i in range(world.judges)),
        prompts=tuple(f"prompt-{i:03d}" for i in range(int(prompt.max(initial=0)) + 1)),
        categories=tuple(f"category-{i}" for i in range(world.categories)),
        left=left,
        right=right,
        outcome=outcome,
        judge=judge,
        prompt=prompt,
        category=category,
        left_attempt=attempts[0] + 1,
        right_attempt=attempts[1] + 1,
        time=np.arange(len(left), dtype=float),
    )


def true_ratings(
    world: FieldWorld, *, by_category: Array | None = None, shares: Array | None = None, judge: Array | None = None
) -> Array:
    """What the half-win model would find with endless votes, judges and prompts.

    `by_category` [C, K] are the effects of the categories meant, with their `shares` of votes; `judge` [K] those of one judge.
    """
    theta = np.array(world.theta) + (0 if judge is None else judge)
    size = len(theta)
    variance = np.full(size, (world.judge_sd**2 if judge is None else 0) + world.prompt_sd**2 + world.attempt_sd**2)
    if world.disputed and judge is None:
        variance[:2] += world.disputed**2 - world.judge_sd**2
    effects = np.zeros((1, size)) if by_category is None else by_category
    score = np.average([_scores(world, theta + effect, variance) for effect in effects], axis=0, weights=shares)
    np.fill_diagonal(score, 0)
    return fit_ratings(score)


def _scores(world: FieldWorld, theta: Array, variance: Array) -> Array:
    """Expected half-wins [K, K] of one vote a pair, over effects of these variances."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    at = np.arange(len(theta))
    gaps = theta[:, None] - theta[None, :] + world.cycle * cycle_sign(at[:, None], at[None, :], len(theta))
    spread = np.sqrt(variance[:, None] + variance[None, :] + world.side_sd**2)
    gaps = gaps[..., None] + spread[..., None] * nodes
    left = (expit(gaps + world.side) * weights).sum(-1) / weights.sum()
    right = (expit(-gaps + world.side) * weights).sum(-1) / weights.sum()
    undecided = world.ties + world.fails
    return (1 - undecided) * 0.5 * (left + 1 - right) + undecided * 0.5


BASE = FieldWorld()
WORLDS = {
    "baseline, 20 judges x 20 prompts": BASE,
    "one judge casts 60 % (12 judges)": replace(BASE, judges=12, busiest=0.6),
    "one judge casts 40 % (20 judges)": replace(BASE, busiest=0.4),
    "Zipf activity, 50 judges": replace(BASE, judges=50, zipf=1.2),
    "two late entrants, 4 of 40 judges": replace(BASE, judges=40, late=2, late_judges=4),
    "two late entrants, 2 of 40 judges": replace(BASE, judges=40, late=2, late_judges=2),
    "2 judges": replace(BASE, judges=2),
    "3 judges": replace(BASE, judges=3),
    "3 prompts": replace(BASE, prompts=3),
    "5 judges x 5 prompts": replace(BASE, judges=5, prompts=5),
    "specialists by category": replace(BASE, categories=4, specialists=True, category_sd=0.3),
    "categories differ (sd 0.6)": replace(BASE, categories=4, category_sd=0.6),
    "attempts vary (sd 1.5)": replace(BASE, attempt_sd=1.5),
    "side bias, judges' own": replace(BASE, side=0.4, side_sd=0.4),
    "40 entrants, 800 votes": replace(BASE, theta=tuple(np.linspace(0.8, -0.8, 40)), votes=800),
    "near-separable": replace(BASE, theta=tuple(np.linspace(4, -4, 8)), votes=1500),
    "non-transitive": replace(BASE, cycle=0.6),
    "judges alike, one casts 60 %": replace(BASE, judges=12, busiest=0.6, judge_sd=0.0, prompt_sd=0.0),
    "judges' own fail thresholds": replace(BASE, fails=0.15, fail_sd=1.0),
    "3 judges dispute two entrants": replace(BASE, judges=3, disputed=1.5),
    "copies: 8 of 20 accounts": replace(BASE, copies=8),
}
NOT_IDENTIFIABLE = ("3 judges dispute two entrants", "copies: 8 of 20 accounts")
