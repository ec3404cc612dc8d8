"""How often an odd judge is flagged, and an honest one by mistake, on simulated votes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.numbers.ranking_coverage import FIRST_SEED
from benchmarks.numbers.simulation import World, simulate_votes
from ranking.statistics.judges.behaviour import judge_behaviour, judge_flags
from ranking.statistics.judges.fits import fit_judges
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import Votes

ENTRANTS, JUDGES, EACH = 10, 20, 100  # the other judges cast EACH votes
WORLD = World(tuple(np.linspace(1.2, -1.2, ENTRANTS)), judges=JUDGES, prompts=40, judge_sd=0.3, prompt_sd=0.3)
FAVOURITE = ENTRANTS - 1  # colluders push the weakest entrant


FAR_APART = replace(WORLD, theta=tuple(np.linspace(2.4, -2.4, ENTRANTS)))


def honest(votes: Votes, rng: np.random.Generator) -> Votes:
    return votes


def random_clicker(votes: Votes, rng: np.random.Generator) -> Votes:
    return replace(votes, outcome=rng.integers(0, 2, len(votes)).astype(votes.outcome.dtype))


def left_clicker(votes: Votes, rng: np.random.Generator) -> Votes:
    return replace(votes, outcome=np.zeros_like(votes.outcome))


def hurried(votes: Votes, rng: np.random.Generator) -> Votes:
    """Random keys, four to ten times as fast as usual."""
    pace = rng.integers(200, 600, len(votes)).astype(votes.response_ms.dtype)
    return replace(random_clicker(votes, rng), response_ms=pace)


def colluder(votes: Votes, rng: np.random.Generator) -> Votes:
    """Honest, but the favourite always wins."""
    outcome = votes.outcome.copy()
    outcome[votes.left == FAVOURITE] = 0
    outcome[votes.right == FAVOURITE] = 1
    return replace(votes, outcome=outcome)


# Kind, how many of the twenty judges are of it, and how it votes.
KINDS = {
    "honest": (1, honest),
    "random clicker": (1, random_clicker),
    "random clicker in a hurry": (1, hurried),
    "left-clicker": (1, left_clicker),
    "colluder, alone": (1, colluder),
    "colluder, one of five": (5, colluder),
}


# Whom to look for in which world: the nearer the entrants are to each other, the more an honest judge looks like chance.
WORLDS = {WORLD: tuple(KINDS), FAR_APART: ("honest", "random clicker")}


def anomaly_table(*, runs: int, sizes: tuple[int, ...] = (30, 100)) -> list[dict[str, Any]]:
    """One row for each kind and number of votes, about one judge of that kind in each run.

    - `flagged`: share of runs in which the judge got a flag; `by`: which.
    - `auc`: chance that its reliability is below an honest judge's.
    - `found`: share whose reliability is below that of all but 5 % of honest judges.
    """
    rows = []
    for size in sizes:
        for world, kinds in WORLDS.items():
            usual = [_study("honest", size, FIRST_SEED + seed, world) for seed in range(runs)]
            rows += [_row(kind, size, runs, usual, world) for kind in kinds]
    return rows


def _row(kind: str, size: int, runs: int, usual: list[tuple[list[str], float]], world: World) -> dict[str, Any]:
    # Other seeds than the honest judges it is compared with.
    studies = [_study(kind, size, FIRST_SEED + runs + seed, world) for seed in range(runs)]
    slopes, honest_slopes = ([slope for _, slope in seen] for seen in (studies, usual))
    codes = sorted({code for flags, _ in studies for code in flags})
    shares = ", ".join(f"{code} {sum(code in flags for flags, _ in studies) / runs:.2f}" for code in codes)
    limit = np.quantile(honest_slopes, 0.05)
    return {
        "judge": kind if world is WORLD else f"{kind}, entrants far apart",
        "votes": size,
        "runs": runs,
        "flagged": sum(bool(flags) for flags, _ in studies) / runs,
        "by": shares or "nothing",
        "auc": area(slopes, honest_slopes),
        "found": sum(slope < limit for slope in slopes) / runs,
    }


def area(odd: list[float], usual: list[float]) -> float:
    """The chance that an odd judge's score lies below a usual one's: the area under the ROC curve; a draw counts half."""
    gaps = np.array(usual)[None, :] - np.array(odd)[:, None]
    return float((gaps > 0).mean() + (gaps == 0).mean() / 2)


def _study(kind: str, size: int, seed: int, world: World) -> tuple[list[str], float]:
    """Flags and reliability of the first judge, who (with fellows) votes as the kind does; the others vote honestly."""
    many, habit = KINDS[kind]
    rng = np.random.default_rng(seed)
    votes = simulate_votes(world, JUDGES * EACH * 2, seed=seed)
    parts = []
    for judge in range(JUDGES):
        rows = np.flatnonzero(votes.judge == judge)[: size if judge < many else EACH]
        own = votes.take(rows)
        parts.append(habit(own, rng) if judge < many else own)
    joined = _join(parts)
    tallies = tally_votes(joined)
    overall = fit_overall(tallies, Settings())
    fits = fit_judges(tallies, overall, Settings())
    behaviour = judge_behaviour(joined)
    usual = float(np.median([one.median_ms for one in behaviour if one.median_ms is not None]))
    return judge_flags(fits, 0, behaviour[0], usual), float(fits.slope[0])


def _join(parts: list[Votes]) -> Votes:
    columns = [name for name, value in vars(parts[0]).items() if isinstance(value, np.ndarray)]
    return replace(parts[0], **{name: np.concatenate([getattr(part, name) for part in parts]) for name in columns})
