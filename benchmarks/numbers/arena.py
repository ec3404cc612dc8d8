"""script/bench arena [--full] [--json FILE]: what planted bots, clickers and fans do to an open arena's ranks.

A crowd judges honestly, with tastes of its own; then others come on top until they are a tenth of all. `outside` counts ranks
of the board with them that lie outside the range that the honest crowd's own board gives; `with weights` is as the site
counts (checks, reliability, activity), `even` has every vote count alike. `kept` is the mean weight of the honest.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.figures.table import make_parser, markdown, write_json
from benchmarks.numbers.worlds import FieldWorld, simulate_field
from generation.suites.studies.gold import Gold
from judging.gold.verdicts import HONEST_ERROR, log_odds
from ranking.statistics.judges.crowd import crowd_weights
from ranking.statistics.leaderboard import rank_overall
from ranking.statistics.ratings.scopes import Settings
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import Votes

HONEST, EACH, SHARE = 180, 40, 10  # honest judges, votes of each on average, and one in so many is planted
THETA = tuple(np.linspace(0.8, -0.8, 8))
WORLD = FieldWorld(
    theta=THETA, judges=HONEST + HONEST // (SHARE - 1), votes=EACH * (HONEST + HONEST // (SHARE - 1)), zipf=0.5
)
Habit = Callable[[Votes, Any, np.random.Generator], np.ndarray]


def bot(votes: Votes, rows: Any, rng: np.random.Generator) -> np.ndarray:
    """Always the left key."""
    return np.zeros(len(rows))


def clicker(votes: Votes, rows: Any, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 2, len(rows))


def fan_of(entrant: int) -> Habit:
    """Looks at everything, checks too; but the favourite always wins, by its style."""

    def habit(votes: Votes, rows: Any, rng: np.random.Generator) -> np.ndarray:
        outcome = votes.outcome[rows].copy()
        outcome[votes.left[rows] == entrant] = 0
        outcome[votes.right[rows] == entrant] = 1
        return outcome

    return habit


# Who is planted: habits in turn, and how often each errs in checks.
MIDDLE, LAST = len(THETA) // 2, len(THETA) - 1
KINDS: dict[str, list[tuple[Habit, float]]] = {
    "bots, clickers and fans": [(bot, 0.5), (clicker, 0.5), (fan_of(MIDDLE), HONEST_ERROR)],
    "bots": [(bot, 0.5)],
    "clickers": [(clicker, 0.5)],
    "fans of the middle one": [(fan_of(MIDDLE), HONEST_ERROR)],
    "fans of the last one": [(fan_of(LAST), HONEST_ERROR)],
}


def plant(kind: str, *, seed: int) -> tuple[Votes, dict[str, float], list[str]]:
    """Votes with the last judges planted, what the checks say of each judge, and the names of the honest."""
    rng = np.random.default_rng(seed)
    votes = simulate_field(WORLD, seed=seed).votes
    order = rng.permutation(len(votes.judges))  # activity goes by number: the planted are as active as others
    votes = replace(votes, judge=order[votes.judge].astype(votes.judge.dtype))
    outcome, checks = votes.outcome.copy(), {}
    habits = KINDS[kind]
    for judge, name in enumerate(votes.judges):
        rows, wrong = np.flatnonzero(votes.judge == judge), HONEST_ERROR
        if judge >= HONEST:
            habit, wrong = habits[judge % len(habits)]
            outcome[rows] = habit(votes, rows, rng)
        asked = len(rows) // Gold().every
        failed = int(rng.binomial(asked, wrong))
        checks[name] = log_odds(asked - failed, failed)
    return replace(votes, outcome=outcome), checks, list(votes.judges[:HONEST])


def moved(kind: str, *, seed: int) -> dict[str, Any]:
    """How many ranks leave their range in one study, counted both ways."""
    votes, checks, honest = plant(kind, seed=seed)
    mine = votes.take(votes.judge < HONEST)
    settings = Settings()
    apart = crowd_weights(mine, checks=checks)
    together = crowd_weights(votes, checks=checks)
    outside = {}
    for name, weights in (("even", ({}, {})), ("with weights", (apart, together))):
        before, after = (
            {
                row.entrant: row
                for row in rank_overall(tally_votes(some, weights=chosen), replace(settings, weights=chosen))
            }
            for some, chosen in zip((mine, votes), weights, strict=True)
        )
        outside[name] = sum(
            not before[entrant].rank_low <= row.rank <= before[entrant].rank_high for entrant, row in after.items()
        )
    kept = float(np.mean([together[name] for name in honest]))
    planted = float(np.mean([weight for name, weight in together.items() if name not in set(honest)]))
    return {**outside, "kept": kept, "planted": planted}


def arena_table(*, studies: int, first_seed: int = 1) -> list[dict[str, Any]]:
    rows = []
    for kind in KINDS:
        seen = [moved(kind, seed=first_seed + number) for number in range(studies)]
        rows.append(
            {
                "planted": kind,
                "studies": studies,
                "ranks": studies * len(THETA),
                "outside_even": sum(row["even"] for row in seen),
                "outside": sum(row["with weights"] for row in seen),
                "honest_weight": round(float(np.mean([row["kept"] for row in seen])), 3),
                "planted_weight": round(float(np.mean([row["planted"] for row in seen])), 3),
            }
        )
    return rows


def main() -> int:
    asked = make_parser(__doc__, "40 studies of each kind instead of 10").parse_args()
    rows = arena_table(studies=40 if asked.full else 10)
    print(
        f"{HONEST} honest judges of unequal activity, {EACH} votes each on average, {len(THETA)} entrants from +0.8 to -0.8\n"
    )
    print(markdown(rows))
    write_json(asked.json, {"arena": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
