"""A study played with simulated participants before it opens: how wide its intervals will be, what it takes and costs.

All of it happens in memory, on the run's own drawings and by the schedule's own functions; nothing is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from generation.suites.studies.study import Study
from judging.pairs.schedule.items import Place, next_regular
from judging.pairs.schedule.plans import Coverage, make_plan
from judging.pairs.schedule.table import Item, Table
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import Votes, make_votes

SKILL = {"honest": 1.0, "hasty": 0.5, "random": 0.0, "dropout": 1.0}
PACE = {"honest": 1.0, "hasty": 0.4, "random": 0.2, "dropout": 1.0}  # of the usual seconds for a pair
MOST_SEATS = 1_000
REPLICATES, MOST_VOTES = 5, 100_000  # plays of a study, and votes of all of them together


@dataclass(frozen=True)
class Crowd:
    """Who is expected to come: shares of all who start, the rest being honest; and how those differ, in points and seconds."""

    hasty: float = 0.1
    random: float = 0.05
    dropouts: float = 0.15
    spread: float = 280.0
    judge_sd: float = 60.0
    prompt_sd: float = 60.0
    undecided: float = 0.2
    seconds: float = 10.0

    @property
    def honest(self) -> float:
        return 1 - self.hasty - self.random - self.dropouts


@dataclass(frozen=True)
class DryRun:
    """What to expect of a study: means of several plays."""

    plays: int
    started: float
    done: float
    short: float  # participants for whom no pair was left before their quota
    votes: float
    width: float  # of the median 95% interval, in points
    in_order: float  # share of pairs of entrants that the ratings put in their true order
    minutes: float  # of an honest participant for the pairs
    hours: float  # of all participants together
    cost: float | None


@dataclass(frozen=True)
class _Play:
    votes: Votes
    truth: NDArray[Any]
    started: int
    done: int
    short: int
    seconds: float


def dry_run(
    study: Study, table: Table, crowd: Crowd, *, participants: int, pay: float | None = None, seed: int = 1
) -> DryRun:
    """`participants` are to finish; whoever drops out before is followed by another. `pay` is for each who is done."""
    often = min(max(MOST_VOTES // (participants * study.pairs), 1), REPLICATES)
    plays = [_play(study, table, crowd, participants, seed=seed + number) for number in range(often)]
    measured = [_measure(play) for play in plays]
    done = fmean(play.done for play in plays)
    return DryRun(
        plays=often,
        started=fmean(play.started for play in plays),
        done=done,
        short=fmean(play.short for play in plays),
        votes=fmean(len(play.votes) for play in plays),
        width=fmean(width for width, _ in measured),
        in_order=fmean(order for _, order in measured),
        minutes=study.pairs * crowd.seconds / 60,
        hours=fmean(play.seconds for play in plays) / 3600,
        cost=None if pay is None else pay * done,
    )


def _play(study: Study, table: Table, crowd: Crowd, participants: int, *, seed: int) -> _Play:
    rng = np.random.default_rng(seed)
    size, questions = len(table.entrants), len(table.questions)
    theta = rng.permutation(np.linspace(crowd.spread / 2, -crowd.spread / 2, size)) / ELO
    by_prompt = rng.normal(0, crowd.prompt_sd / ELO, (questions, size))
    pairs: Counter[Any] = Counter()
    shown: Counter[int] = Counter()
    rows: list[tuple[int, int, int, int, int]] = []
    started = done = short = 0
    seconds = 0.0
    while done + short < participants and started < MOST_SEATS:
        kind = _kind(rng, crowd)
        length = int(rng.integers(0, study.pairs)) if kind == "dropout" else study.pairs
        taste = rng.normal(0, crowd.judge_sd / ELO, size)
        items = list(_items(table, length, seed=int(rng.integers(2**31)), coverage=Coverage(pairs, shown)))
        pairs.update(item.pair for item in items)
        shown.update(item.question for item in items)
        seconds += len(items) * crowd.seconds * PACE[kind]
        if not (kind == "dropout" and study.votes_of_dropouts == "drop"):
            appeal = (theta + taste)[None, :] + by_prompt
            rows += [
                (item.left, item.right, _choose(rng, crowd, appeal, item, kind), started, item.question)
                for item in items
            ]
        started += 1
        done += kind != "dropout" and len(items) == study.pairs
        short += kind != "dropout" and len(items) < study.pairs
    left, right, outcome, judge, prompt = (np.array(column, dtype=int) for column in zip(*rows, strict=True))
    votes = make_votes(
        entrants=tuple(map(str, table.entrants)),
        judges=tuple(f"participant-{number}" for number in range(started)),
        prompts=tuple(f"prompt-{number}" for number in range(questions)),
        left=left,
        right=right,
        outcome=outcome,
        judge=judge,
        prompt=prompt,
    )
    return _Play(votes, theta, started, done, short, seconds)


def _kind(rng: np.random.Generator, crowd: Crowd) -> str:
    luck = rng.random()
    for kind, share in (("dropout", crowd.dropouts), ("hasty", crowd.hasty), ("random", crowd.random)):
        if luck < share:
            return kind
        luck -= share
    return "honest"


def _items(table: Table, length: int, *, seed: int, coverage: Coverage) -> Iterator[Item]:
    """A participant's pairs, as serving makes them: without shared items and repeats."""
    plan, place, keys = make_plan(table, seed=seed, coverage=coverage, horizon=length), Place(), set[str]()
    for _ in range(length):
        item, place = next_regular(
            plan, table, place, lambda items: next((item for item in items if item.key not in keys), None)
        )
        if item is None:
            return
        keys.add(item.key)
        yield item


def _choose(rng: np.random.Generator, crowd: Crowd, appeal: NDArray[Any], item: Item, kind: str) -> int:
    """0 left, 1 right, 2 both good, 3 both bad."""
    if kind == "random":
        return int(rng.integers(4))
    if rng.random() < crowd.undecided:
        return int(rng.integers(2, 4))
    gap = appeal[item.question, item.left] - appeal[item.question, item.right]
    return int(rng.random() >= expit(SKILL[kind] * gap))


def _measure(play: _Play) -> tuple[float, float]:
    """The median width of the 95% intervals, and the share of pairs in their true order."""
    settings = Settings()
    fit = fit_overall(tally_votes(play.votes), settings)
    widths = 2 * ELO * np.asarray(fit.spread.reach(settings.level))
    first, second = np.triu_indices(len(play.truth), 1)
    same = np.sign(fit.theta[first] - fit.theta[second]) == np.sign(play.truth[first] - play.truth[second])
    return float(np.median(widths)), float(np.mean(same))
