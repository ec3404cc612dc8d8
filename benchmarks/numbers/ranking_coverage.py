"""How often nominal 95 % intervals hold the truth, world by world, ours beside what others print."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.numbers.worlds import BASE, NOT_IDENTIFIABLE, WORLDS, Drawn, FieldWorld, simulate_field, true_ratings
from ranking.statistics.ratings.bradley_terry import ELO, fit_ratings, half_wins
from ranking.statistics.ratings.scopes import ScopeFit, Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.verdicts.pairs import AHEAD, SETTLED, judge_pairs
from ranking.statistics.verdicts.planner import Study, plan_study

Array = NDArray[Any]
Row = dict[str, Any]
ROUNDS = 100  # of the bootstrap
FIRST_SEED = 14_000_000  # of all tables: no study from here on was seen while a method or a constant was chosen
Z95 = 1.959964
# World, votes, and whether votes across two groups of four are left out.
HARD = {
    "few votes: 150": (replace(BASE, votes=150), False),
    "few votes: 50": (replace(BASE, votes=50), False),
    "one undefeated": (replace(BASE, theta=(9.0, *np.linspace(0.8, -0.8, 7)), votes=2000, ties=0, fails=0), False),
    "two islands": (BASE, True),
}
ISLES = np.arange(8) // 4
EQUALS = replace(BASE, theta=(0.4,) * 4 + (-0.4,) * 4)
LOOKED_AT = {
    "20 judges x 20 prompts": EQUALS,
    "one judge casts 60 % (12 judges)": replace(EQUALS, judges=12, busiest=0.6),
    "3 judges": replace(EQUALS, judges=3),
}
LOOK_EVERY = 200  # votes
# Worlds with nothing in them that a plan does not know: even judges, all entrants from the start, one kind of prompt.
PLANNED = (
    "baseline, 20 judges x 20 prompts",
    "2 judges",
    "3 judges",
    "3 prompts",
    "5 judges x 5 prompts",
    "40 entrants, 800 votes",
    "near-separable",
    "non-transitive",
)


def coverage_table(*, runs: int) -> list[Row]:
    """One row a world of the field.

    - `rating`, `gap`: share of intervals that hold the half-win model's population value; `width`: median, in Elo.
    - `false_rank`: share of runs with a pair said to be ahead that truly is not; `error`: the standard error of `rating`.
    - `iid`: intervals that take votes for independent, around the unweighted rating (`peers` has others' own).
    """
    return [_world_row(name, world, runs) for name, world in WORLDS.items() if name not in NOT_IDENTIFIABLE]


def limit_table(*, runs: int) -> list[Row]:
    """The same for worlds in which votes cannot show what would have to be known; `disputed` are two entrants' ratings."""
    return [_world_row(name, WORLDS[name], runs, "disputed") for name in NOT_IDENTIFIABLE]


def _world_row(name: str, world: FieldWorld, runs: int, *more: str) -> Row:
    figures = [_world_run(world, seed) for seed in range(FIRST_SEED, FIRST_SEED + runs)]
    columns = {key: np.array([figure[key] for figure in figures]) for key in figures[0]}
    row: Row = {"world": name, "runs": runs}
    for key in ("rating", *more, "gap", "iid", "false_rank"):
        row[key] = None if np.isnan(columns[key]).any() else float(columns[key].mean())
    row["error"] = float(columns["rating"].std(ddof=1) / np.sqrt(runs))
    return row | {"width": float(np.median(columns["width"])), "rmse": float(np.sqrt(columns["square"].mean()))}


def plan_table(rows: list[Row]) -> list[Row]:
    """What the planner says of each world it can describe, beside the median width found: `ratio` is plan over width."""
    plans = []
    for row in rows:
        world = WORLDS[row["world"]]
        if row["world"] in PLANNED:
            width = plan_study(study_of(world)).width
            plans.append(
                {"world": row["world"], "planned": width, "width": row["width"], "ratio": width / row["width"]}
            )
    return plans


def study_of(world: FieldWorld) -> Study:
    """The world as its planner knows it."""
    return Study(
        entrants=len(world.theta),
        judges=world.judges,
        votes_each=world.votes // world.judges,
        prompts=world.prompts,
        spread=ELO * (max(world.theta) - min(world.theta)),
        judge_sd=ELO * world.judge_sd,
        prompt_sd=ELO * world.prompt_sd,
        undecided=world.ties + world.fails,
    )


def truth_of(world: FieldWorld, drawn: Drawn) -> Array:
    if world.categories == 1:
        return true_ratings(world)
    shares = np.bincount(drawn.votes.category, minlength=world.categories)
    return true_ratings(world, by_category=drawn.by_category, shares=shares)


def _world_run(world: FieldWorld, seed: int) -> dict[str, float]:
    drawn = simulate_field(world, seed=seed)
    truth = truth_of(world, drawn)
    tallies = tally_votes(drawn.votes)
    fit, even = (fit_overall(tallies, Settings(activity=activity)) for activity in ("weighted", "even"))
    gap = np.subtract.outer(truth, truth)
    rating_held, gap_held = held(fit, truth)
    two = np.abs(fit.theta - truth)[:2] <= fit.spread.reach()[:2]
    naive = Z95 * np.sqrt(np.diag(even.spread.iid_covariance))
    return {
        "rating": rating_held,
        "gap": gap_held,
        "disputed": float(two.mean()) if world.disputed else np.nan,
        "width": float(ELO * 2 * np.median(fit.spread.reach())),
        "square": float(np.mean((ELO * (fit.theta - truth)) ** 2)),
        "false_rank": float((judge_pairs(fit, Settings()).ahead & (gap < 0)).any()),
        "iid": float((np.abs(even.theta - truth) <= naive).mean()),
    }


def held(fit: ScopeFit, truth: Array) -> tuple[float, float]:
    """Share of ratings, and of comparable pairs' gaps, whose interval holds the truth; an open side is right."""
    known, error = fit.connected, fit.theta - truth
    reach, pair_reach = fit.spread.reach(), fit.spread.pair_reach()
    ratings = ((error <= reach) | known.no_lower) & ((error >= -reach) | known.no_upper)
    up = known.no_upper[:, None] | known.no_lower[None, :]
    down = known.no_lower[:, None] | known.no_upper[None, :]
    comparable = np.triu(known.island[:, None] == known.island[None, :], 1) & ~(up & down)
    gap = np.subtract.outer(error, error)
    right = ((gap <= pair_reach) | down) & ((gap >= -pair_reach) | up)
    return float(ratings.mean()), float(right[comparable].mean())


def vote_bootstrap(fit: ScopeFit, seed: int) -> Array:
    """Percentile interval over resampled votes: a multinomial draw of the counts."""
    rng = np.random.default_rng(seed)
    total = int(fit.counts.sum())
    drawn = rng.multinomial(total, fit.counts.ravel() / total, ROUNDS).reshape(ROUNDS, *fit.counts.shape)
    return np.quantile([fit_ratings(half_wins(counts.astype(float))) for counts in drawn], (0.025, 0.975), axis=0)


def look_table(*, runs: int) -> list[Row]:
    """Somebody looks after every 200 votes, at entrants of which four and four are equal.

    `settled`, `ahead`: share of studies in which a lead among equals was ever called so, at any of the `looks`.
    """
    rows = []
    for name, world in LOOKED_AT.items():
        figures = [_looks(world, seed) for seed in range(FIRST_SEED, FIRST_SEED + runs)]
        settled, ahead = np.mean(figures, axis=0)
        looks = world.votes // LOOK_EVERY
        rows.append({"world": name, "runs": runs, "looks": looks, "settled": float(settled), "ahead": float(ahead)})
    return rows


def _looks(world: FieldWorld, seed: int) -> tuple[bool, bool]:
    votes = simulate_field(world, seed=seed).votes
    equal = np.triu(np.equal.outer(world.theta, world.theta), 1)
    settled = ahead = False
    for seen in range(LOOK_EVERY, world.votes + 1, LOOK_EVERY):
        verdicts = judge_pairs(fit_overall(tally_votes(votes.take(np.arange(seen))), Settings()), Settings())
        settled |= bool((verdicts.state[equal] == SETTLED).any())
        ahead |= bool((verdicts.state[equal] <= AHEAD).any())
    return settled, ahead


def gap_table(*, runs: int) -> list[Row]:
    """Where maximum likelihood is thin or does not exist; `open` is the share of entrants without a bound on one side."""
    rows = []
    for name, (world, apart) in HARD.items():
        truth = _truth_apart(world) if apart else true_ratings(world)
        figures = [_gap_run(world, truth, seed, apart=apart) for seed in range(FIRST_SEED, FIRST_SEED + runs)]
        gap, unbounded = np.mean(figures, axis=0)
        rows.append({"world": name, "runs": runs, "open": float(unbounded), "gap": float(gap)})
    return rows


def _gap_run(world: FieldWorld, truth: Array, seed: int, *, apart: bool) -> tuple[float, float]:
    votes = simulate_field(world, seed=seed).votes
    if apart:
        votes = votes.take(np.flatnonzero(ISLES[votes.left] == ISLES[votes.right]))
    fit = fit_overall(tally_votes(votes), Settings())
    return held(fit, truth)[1], float((fit.connected.no_upper | fit.connected.no_lower).mean())


def _truth_apart(world: FieldWorld) -> Array:
    truth = np.zeros(len(world.theta))
    for isle in np.unique(ISLES):
        here = isle == ISLES
        truth[here] = true_ratings(replace(world, theta=tuple(np.array(world.theta)[here])))
    return truth
