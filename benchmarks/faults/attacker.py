"""script/bench attacker: what somebody with two judges' accounts can learn by voting, looking at the public page and comparing.

The attacker knows which drawings are by the same model, and wants to know by which. Votes are for or against each style by
a coin for every state, so that the ratings that follow his coins are the names. The old page showed exact ratings after
every vote; the new one shows what `ranking.statistics.blurring` lets out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.figures.table import Row, make_parser, show, write_json
from ranking.statistics.blurring import blurred, bounded_parts, by_others
from ranking.statistics.ratings.bradley_terry import ELO, to_elo
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import make_votes

ENTRANTS = tuple(f"model {n}" for n in range(6))
HONEST, OWN = 10, 2  # judges
QUORUM, GROWTH, SHARE = 20, 3, 10  # as in the settings
VOTES = 900


@dataclass
class Run:
    """Votes so far, as columns; the last two judges are the attacker's."""

    luck: random.Random
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)  # left, right, outcome, judge

    def standings(self, weights: Mapping[str, float]) -> list[dict[str, Any]]:
        left, right, outcome, judge = zip(*self.rows, strict=True)
        judges = tuple(f"judge {n:02}" for n in range(HONEST + OWN))
        votes = make_votes(entrants=ENTRANTS, left=left, right=right, outcome=outcome, judges=judges, judge=judge)
        fit, settings = fit_overall(tally_votes(votes, weights=weights), Settings()), Settings()
        rating, reach = to_elo(fit.theta), ELO * fit.spread.reach(settings.level)
        return [
            {"entrant": name, "rating": rating[i], "low": rating[i] - reach[i], "high": rating[i] + reach[i]}
            for i, name in enumerate(ENTRANTS)
        ]


def attack(seed: int, *, look: Callable[[Run, int], np.ndarray | None], own: float) -> float:
    """The share of names that the attacker gets right; `look` gives the ratings that the public page shows, if they are new.

    `own` is how many of the votes are the attacker's.
    """
    luck = random.Random(seed)
    run, strength = Run(luck), [luck.gauss(0, 0.8) for _ in ENTRANTS]
    styles = luck.sample(range(len(ENTRANTS)), len(ENTRANTS))  # the style of each entrant: what the attacker sees of it
    evidence, before = np.zeros((len(ENTRANTS), len(ENTRANTS))), None
    coins, given = [luck.choice((-1, 1)) for _ in styles], np.zeros(len(ENTRANTS))
    for number in range(VOTES):
        left, right = luck.sample(range(len(ENTRANTS)), 2)
        if luck.random() < own:
            ahead = coins[styles[left]] - coins[styles[right]]
            outcome = 3 if not ahead else int(ahead < 0)
            given[styles[left]] += np.sign(ahead)
            given[styles[right]] -= np.sign(ahead)
            run.rows.append((left, right, outcome, HONEST + number % OWN))
        else:
            wins = luck.random() < 1 / (1 + np.exp(strength[right] - strength[left]))
            run.rows.append((left, right, int(not wins), luck.randrange(HONEST)))
        shown = look(run, number)
        if shown is not None:
            if before is not None and given.any():
                change = shown - before
                evidence += np.outer(given / np.abs(given).sum(), change - change.mean())
            before, given = shown, np.zeros(len(ENTRANTS))
            coins = [luck.choice((-1, 1)) for _ in styles]
    guessed = linear_sum_assignment(-evidence)[1]  # the entrant of each style
    return float(np.mean([guessed[style] == entrant for entrant, style in enumerate(styles)]))


def exact_page(run: Run, number: int) -> np.ndarray | None:
    """As it was: the ratings follow within seconds, so the attacker looks after every few votes."""
    if number < 30 or number % 10:
        return None
    return np.array([row["rating"] for row in run.standings({})])


class PublicPage:
    """As it is: the rule and the blur of public states."""

    def __init__(self) -> None:
        self.upto = self.votes = 0

    def __call__(self, run: Run, number: int) -> np.ndarray | None:
        if number % 5:
            return None
        new = np.bincount([row[3] for row in run.rows[self.upto :]], minlength=HONEST + OWN)
        if by_others(new.tolist()) < max(QUORUM, GROWTH * self.votes):
            return None
        counts = np.bincount([row[3] for row in run.rows], minlength=HONEST + OWN)
        parts = bounded_parts({f"judge {n:02}": int(count) for n, count in enumerate(counts)}, share=SHARE)
        shown = {row["entrant"]: row["rating"] for row in blurred(run.standings(parts), luck=run.luck)}
        self.upto = self.votes = len(run.rows)
        return np.array([shown[name] for name in ENTRANTS], float)


def attack_table(*, runs: int) -> list[Row]:
    """How many names are found, with a 95% interval over runs; chance is one in as many as there are models."""
    rows = []
    for own in (0.05, 0.2, 0.5):
        for page, look in (("exact", lambda: exact_page), ("public states", PublicPage)):
            shares = [attack(seed, look=look(), own=own) for seed in range(runs)]
            reach = 1.96 * np.std(shares, ddof=1) / np.sqrt(runs)
            rows.append(
                {
                    "page": page,
                    "attacker's share of votes": own,
                    "names found": round(float(np.mean(shares)), 3),
                    "low": round(float(np.mean(shares) - reach), 3),
                    "high": round(float(np.mean(shares) + reach), 3),
                    "chance": round(1 / len(ENTRANTS), 3),
                }
            )
    return rows


def main() -> None:
    options = make_parser(__doc__, "400 runs of each attack instead of 60").parse_args()
    rows = attack_table(runs=400 if options.full else 60)
    show("Names that an attacker finds", rows)
    write_json(options.json, {"attacker": rows})


if __name__ == "__main__":
    main()
