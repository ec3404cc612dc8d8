"""Whether chances of being best come true, the fit test keeps its size, camps go unflagged, and joint ratings and agreement hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.numbers.ranking_coverage import FIRST_SEED, Row
from benchmarks.numbers.worlds import BASE, FieldWorld, simulate_field, true_ratings
from ranking.statistics.agreement.shared_items import measure_agreement
from ranking.statistics.frontier import frontier_chances, on_frontier
from ranking.statistics.judges.behaviour import judge_flags
from ranking.statistics.judges.fits import fit_judges
from ranking.statistics.ratings.best import chance_of_best
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.joint import JointFit, fit_joint
from ranking.statistics.ratings.misfit import find_misfits
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import Votes, make_votes

Array = NDArray[Any]
# How far entrants lie apart (sd of their strengths, drawn anew for each study), and the world they are judged in.
BEST = {
    "entrants close (sd 0.1)": (0.1, BASE),
    "entrants apart (sd 0.3)": (0.3, BASE),
    "entrants far apart (sd 0.6)": (0.6, BASE),
    "sd 0.3, 600 votes": (0.3, replace(BASE, votes=600)),
    "sd 0.3, one judge casts 60 %": (0.3, replace(BASE, judges=12, busiest=0.6)),
    "sd 0.3, 3 judges": (0.3, replace(BASE, judges=3)),
}
FIT = {
    "ratings describe the votes": replace(BASE, votes=2000),
    "the same, Zipf activity": replace(BASE, votes=2000, judges=50, zipf=1.2),
    "the same, judges alike": replace(BASE, votes=2000, judge_sd=0.0, prompt_sd=0.0),
    "pair effects (sd 0.4)": replace(BASE, votes=2000, pair_sd=0.4),
    "pair effects (sd 0.8)": replace(BASE, votes=2000, pair_sd=0.8),
}


def best_table(*, runs: int) -> list[Row]:
    """`said`: the leader's mean chance of being best; `true`: how often it was; `error`: s.e. of `true`.

    A chance of being best is a statement about entrants like these, so their strengths are drawn anew for each study. The same
    for the frontier, at costs drawn anew: `frontier` is the mean chance of those on it by their ratings, `on_it` how many were.
    """
    rows = []
    for name, (sd, world) in BEST.items():
        figures = np.array([_best_run(sd, world, seed) for seed in range(FIRST_SEED, FIRST_SEED + runs)])
        said, true, chance, on_it, many = figures.T
        row: Row = {"world": name, "runs": runs, "said": float(said.mean()), "true": float(true.mean())}
        row |= {"off": abs(float(said.mean() - true.mean())), "error": float(np.std(true - said) / np.sqrt(runs))}
        row |= {"frontier": float(chance.sum() / many.sum()), "on_it": float(on_it.sum() / many.sum())}
        rows.append(row | {"frontier_off": abs(row["frontier"] - row["on_it"])})
    return rows


def _best_run(sd: float, world: FieldWorld, seed: int) -> tuple[float, ...]:
    """The leader's chance and whether it is the best; of those on the frontier: sum of chances, how many truly are, how many."""
    rng = np.random.default_rng(seed + 10**6)
    theta = rng.normal(0, sd, len(world.theta))
    world = replace(world, theta=tuple(theta - theta.mean()))
    fit = fit_overall(tally_votes(simulate_field(world, seed=seed).votes), Settings())
    chances, truth = chance_of_best(fit.theta, fit.spread, island=fit.connected.island), true_ratings(world)
    best = float(chances.max()), float(chances.argmax() == truth.argmax())
    cost, df = rng.permutation(len(theta)), float(np.median(fit.spread.df))
    on, really = on_frontier(fit.theta, cost), on_frontier(truth, cost)
    likely = frontier_chances(fit.theta, fit.spread.scaled_covariance, cost, df=df, unit=1.0)
    return *best, float(likely[on].sum()), float(really[on].sum()), float(on.sum())


JOINT = {
    "fails 3 %": replace(BASE, fails=0.02, fail_by_rating=1.0),
    "fails 13 %": replace(BASE, fails=0.1, fail_by_rating=1.0),
    "fails 48 %": replace(BASE, fails=0.48, fail_by_rating=1.0),
    "fails 13 %, judges and prompts alike": replace(BASE, fails=0.1, fail_by_rating=1.0, judge_sd=0.0, prompt_sd=0.0),
    "fails 16 %, judges' own thresholds": replace(BASE, fails=0.1, fail_by_rating=1.0, fail_sd=1.0),
    "fails 13 %, not about ratings": replace(BASE, fails=0.13),
    "fails 13 %, 2 judges": replace(BASE, fails=0.1, fail_by_rating=1.0, judges=2),
    "fails 13 %, one judge of 12 casts 60 %": replace(BASE, fails=0.1, fail_by_rating=1.0, judges=12, busiest=0.6),
}


def joint_table(*, runs: int) -> list[Row]:
    """Ratings that both terrible informs: coverage of what endless votes would give, and their gain over half wins.

    `gain`: how many times the votes half wins would need for the same error, each relative to its own spread of ratings.
    """
    rows = []
    for name, world in JOINT.items():
        endless, by_half_wins = _joint_fit(replace(world, votes=400_000, judges=4000, prompts=4000), FIRST_SEED - 1)
        studies = [_joint_fit(world, seed) for seed in range(FIRST_SEED, FIRST_SEED + runs)]
        held = [np.mean(np.abs(joint.theta - endless.theta) <= joint.reach()) for joint, _ in studies]
        error = np.mean([(joint.theta - endless.theta) ** 2 for joint, _ in studies]) / endless.theta.var()
        usual = np.mean([(theta - by_half_wins) ** 2 for _, theta in studies]) / by_half_wins.var()
        row: Row = {"world": name, "runs": runs, "fails": endless.fails, "rating": float(np.mean(held))}
        width = float(np.median([2 * ELO * joint.reach() for joint, _ in studies]))
        rows.append(row | {"gain": float(usual / error), "width": width})
    return rows


def _joint_fit(world: FieldWorld, seed: int) -> tuple[JointFit, Array]:
    tallies = tally_votes(simulate_field(world, seed=seed).votes)
    overall = fit_overall(tallies, Settings())
    joint = fit_joint(tallies, overall, fewest=0.0)
    assert joint is not None  # every world has fails, and entrants that beat each other
    return joint, overall.theta


def camp_table(*, runs: int) -> list[Row]:
    """Honest judges of the opposite taste, 100 votes each: `flagged` as odd, and `described` as another taste; `others` likewise."""
    rows = []
    for share in (0.1, 0.25, 0.4):
        world = replace(BASE, votes=2000, opposed=share, theta=tuple(np.linspace(1.2, -1.2, 8)), judge_sd=0.3)
        camp = np.arange(world.judges) < round(share * world.judges)
        flagged, described = np.array(
            [_camp_run(world, seed) for seed in range(FIRST_SEED, FIRST_SEED + runs)]
        ).swapaxes(0, 1)
        row: Row = {"camp": f"{share:.0%} of 20 judges", "runs": runs, "flagged": float(flagged[:, camp].mean())}
        row |= {"described": float(described[:, camp].mean()), "others_described": float(described[:, ~camp].mean())}
        rows.append(row)
    return rows


def _camp_run(world: FieldWorld, seed: int) -> tuple[list[bool], list[bool]]:
    tallies = tally_votes(simulate_field(world, seed=seed).votes)
    fits = fit_judges(tallies, fit_overall(tallies, Settings()), Settings())
    flagged = [bool(judge_flags(fits, j, None, None)) for j in range(world.judges)]
    return flagged, fits.opposite.tolist()


def fit_table(*, runs: int) -> list[Row]:
    """`doubted`: share of studies of which it is said that the ratings do not describe the votes; `named`: mean number of pairs."""
    rows = []
    for name, world in FIT.items():
        named = [_misfits(world, seed) for seed in range(FIRST_SEED, FIRST_SEED + runs)]
        doubted = float(np.mean(np.array(named) > 0))
        rows.append({"world": name, "runs": runs, "doubted": doubted, "named": float(np.mean(named))})
    return rows


def _misfits(world: FieldWorld, seed: int) -> int:
    return len(find_misfits(fit_overall(tally_votes(simulate_field(world, seed=seed).votes), Settings())))


@dataclass(frozen=True)
class Panel:
    """Judges who each answer some of the same items; `skill_sd` is how much they differ in how well they see a difference."""

    judges: int = 20
    items: int = 200
    each: int = 3  # judges an item
    lone: float = 0.0  # share of items that only one judge saw
    skill_sd: float = 0.0
    gap_sd: float = 1.5
    tie: float = 0.5  # log-odds within which a judge calls a tie half of the time
    fail_sd: float = 0.0


PANELS = {
    "judges alike": Panel(),
    "judges differ in skill": Panel(skill_sd=0.8),
    "8 judges differ in skill": Panel(judges=8, skill_sd=0.8),
    "own thresholds for both terrible": Panel(skill_sd=0.5, fail_sd=1.0),
    "half of the items seen once": Panel(items=400, lone=0.5, skill_sd=0.5),
}
COEFFICIENTS = ("alpha_nominal", "alpha_interval", "ac1", "fleiss", "raw")


def agreement_table(*, runs: int) -> list[Row]:
    """Share of intervals that hold what endless judges and items would give (found from one study of 1,000 judges).

    `error`: the largest standard error of these shares.
    """
    rows = []
    for name, panel in PANELS.items():
        whole = measure_agreement(simulate_panel(replace(panel, judges=1000, items=60_000), seed=FIRST_SEED - 1))
        studies = [measure_agreement(simulate_panel(panel, seed=seed)) for seed in range(FIRST_SEED, FIRST_SEED + runs)]
        row: Row = {"world": name, "runs": runs}
        for key in COEFFICIENTS:
            truth = getattr(whole, key).value
            intervals = [getattr(study, key) for study in studies]
            row[key] = float(np.mean([one.low <= truth <= one.high for one in intervals]))
        widths = [study.alpha_nominal.high - study.alpha_nominal.low for study in studies]
        error = max(np.sqrt(row[key] * (1 - row[key]) / runs) for key in COEFFICIENTS)
        rows.append(row | {"error": float(error), "alpha_width": float(np.median(widths))})
    return rows


def simulate_panel(panel: Panel, *, seed: int) -> Votes:
    """Votes on one pair of drawings an item."""
    rng = np.random.default_rng(seed)
    seen = np.where(rng.random(panel.items) < panel.lone, 1, panel.each)
    item = np.repeat(np.arange(panel.items), seen)
    place = np.arange(len(item)) - np.repeat(np.cumsum(seen) - seen, seen)
    first = rng.integers(0, panel.judges, panel.items)
    step = rng.integers(1, max(panel.judges // panel.each, 2), panel.items)
    judge = (first[item] + place * step[item]) % panel.judges
    skill = np.exp(rng.normal(0, panel.skill_sd, panel.judges))
    gap = rng.normal(0, panel.gap_sd, panel.items)[item] * skill[judge]
    bad = rng.normal(-3, 1.5, panel.items)[item] + rng.normal(0, panel.fail_sd, panel.judges)[judge]
    fails = rng.random(len(item)) < expit(bad)
    ties = rng.random(len(item)) < 0.5 * np.exp(-np.abs(gap) / panel.tie)
    wins = rng.random(len(item)) < expit(gap)
    return make_votes(
        entrants=("one", "other"),
        judges=tuple(f"judge-{j}" for j in range(panel.judges)),
        prompts=tuple(f"item-{i}" for i in range(panel.items)),
        left=np.zeros(len(item), int),
        right=np.ones(len(item), int),
        outcome=np.where(fails, 3, np.where(ties, 2, np.where(wins, 0, 1))),
        judge=judge,
        prompt=item,
        time=np.arange(len(item), dtype=float),
    )
