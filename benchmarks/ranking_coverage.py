"""How often nominal 95 % intervals hold the truth, by method, on simulated votes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ranking.bradley_terry import fit_ratings, half_wins
from ranking.scopes import ScopeFit, Settings, fit_overall
from ranking.simulation import World, population_ratings, simulate_votes
from ranking.votes import tally_votes

THETA = tuple(np.linspace(0.8, -0.8, 8))
ROUNDS = 100  # of the bootstrap
WORLDS = {
    "independent votes": (World(THETA), 4000),
    "judge effects, 20 judges": (World(THETA, judge_sd=0.5), 4000),
    "judge effects, 5 judges": (World(THETA, judges=5, judge_sd=0.5), 4000),
    "judge + prompt effects": (World(THETA, prompts=40, judge_sd=0.5, prompt_sd=0.5), 4000),
    "the same, 20 prompts": (World(THETA, judge_sd=0.5, prompt_sd=0.5), 10_000),
}


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
