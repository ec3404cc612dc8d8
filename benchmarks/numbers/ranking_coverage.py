"""How often nominal 95 % intervals hold the truth, by method, on simulated votes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.numbers.simulation import World, population_ratings, simulate_votes
from ranking.statistics.ratings.bradley_terry import fit_ratings, half_wins
from ranking.statistics.ratings.scopes import ScopeFit, Settings, fit_overall
from ranking.statistics.votes import tally_votes

THETA = tuple(np.linspace(0.8, -0.8, 8))
ISLES = np.arange(8) // 4  # two groups that never meet
ROUNDS = 100  # of the bootstrap
WORLDS = {
    "independent votes": (World(THETA), 4000),
    "judge effects, 20 judges": (World(THETA, judge_sd=0.5), 4000),
    "judge effects, 5 judges": (World(THETA, judges=5, judge_sd=0.5), 4000),
    "judge + prompt effects": (World(THETA, prompts=40, judge_sd=0.5, prompt_sd=0.5), 4000),
    "the same, 20 prompts": (World(THETA, judge_sd=0.5, prompt_sd=0.5), 10_000),
}


UNDEFEATED = (9.0, *np.linspace(0.8, -0.8, 7))
# World, votes, and whether votes across the two groups are left out.
HARD = {
    "few judges: 3": (World(THETA, judges=3, judge_sd=0.5), 4000, False),
    "few votes: 150": (World(THETA, judge_sd=0.5), 150, False),
    "few votes: 50": (World(THETA, judge_sd=0.5), 50, False),
    "one undefeated": (World(UNDEFEATED, judge_sd=0.5, ties=0, fails=0), 2000, False),
    "two islands": (World(THETA, judge_sd=0.5), 4000, True),
}


def gap_table(*, runs: int) -> list[dict[str, Any]]:
    """One row a hard world: the share of comparable pairs whose gap is held by its interval, open sides included.

    `open` is the share of entrants without a bound on one side: their interval is right when its other side is.
    """
    rows = []
    for name, (world, votes, apart) in HARD.items():
        truth = _truth_apart(world) if apart else population_ratings(world)
        hits = [_gap_hits(world, votes, truth, seed, apart=apart) for seed in range(runs)]
        two_way, iid, unbounded, pairs = np.mean(hits, axis=0)
        row = {"world": name, "runs": runs, "pairs": round(float(pairs), 1), "open": float(unbounded)}
        rows.append(row | {"iid": float(iid), "two_way": float(two_way)})
    return rows


def _truth_apart(world: World) -> NDArray[Any]:
    truth = np.zeros(len(world.theta))
    for isle in np.unique(ISLES):
        here = isle == ISLES
        truth[here] = population_ratings(replace(world, theta=tuple(np.array(world.theta)[here])))
    return truth


def _gap_hits(world: World, votes: int, truth: NDArray[Any], seed: int, *, apart: bool) -> tuple[float, ...]:
    cast = simulate_votes(world, votes, seed=seed)
    if apart:
        cast = cast.take(np.flatnonzero(ISLES[cast.left] == ISLES[cast.right]))
    fit = fit_overall(tally_votes(cast), Settings())
    known, spread = fit.connected, fit.spread
    up, down = known.no_upper[:, None] | known.no_lower[None, :], known.no_lower[:, None] | known.no_upper[None, :]
    comparable = np.triu(known.island[:, None] == known.island[None, :], 1) & ~(up & down)
    error = (fit.theta[:, None] - fit.theta[None, :]) - (truth[:, None] - truth[None, :])
    iid = _pair_variance(spread.iid_covariance)

    def share(half: NDArray[Any]) -> float:
        right = ((error <= half) | down) & ((error >= -half) | up)
        return float(right[comparable].mean())

    unbounded = float((known.no_upper | known.no_lower).mean())
    return (
        share(spread.quantile() * np.sqrt(spread.pair_variance)),
        share(1.96 * np.sqrt(iid)),
        unbounded,
        comparable.sum(),
    )


def _pair_variance(covariance: NDArray[Any]) -> NDArray[Any]:
    variance = np.diag(covariance)
    return np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0)


def coverage_table(*, runs: int) -> list[dict[str, Any]]:
    """One row a world; the share of (run, entrant) whose interval holds the half-win model's population rating."""
    rows = []
    for name, (world, votes) in WORLDS.items():
        truth = population_ratings(world)
        hits = np.mean([_hits(world, votes, truth, seed) for seed in range(runs)], axis=0)
        methods = ("iid", "bootstrap", "judges", "prompts", "two_way")
        rows.append({"world": name, "runs": runs} | dict(zip(methods, map(float, hits), strict=True)))
    return rows


def _hits(world: World, votes: int, truth: NDArray[Any], seed: int) -> list[float]:
    fit = fit_overall(tally_votes(simulate_votes(world, votes, seed=seed)), Settings())
    spread, error = fit.spread, np.abs(fit.theta - truth)
    low, high = _bootstrap(fit, seed)
    judge, prompt = (stats.t.ppf(0.975, groups - 1) for groups in (world.judges, world.prompts))
    return [
        (error <= 1.96 * np.sqrt(np.diag(spread.iid_covariance))).mean(),
        ((low <= truth) & (truth <= high)).mean(),
        (error <= judge * np.sqrt(np.diag(spread.judge_covariance))).mean(),
        (error <= prompt * np.sqrt(np.diag(spread.prompt_covariance))).mean(),
        (error <= spread.quantile() * np.sqrt(spread.variance)).mean(),
    ]


def _bootstrap(fit: ScopeFit, seed: int) -> NDArray[Any]:
    """Percentile interval over resampled votes: a multinomial draw of the counts."""
    rng = np.random.default_rng(seed)
    total = int(fit.counts.sum())
    drawn = rng.multinomial(total, fit.counts.ravel() / total, ROUNDS).reshape(ROUNDS, *fit.counts.shape)
    return np.quantile([fit_ratings(half_wins(counts.astype(float))) for counts in drawn], (0.025, 0.975), axis=0)
