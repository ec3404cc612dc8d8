"""Items that several judges saw, and items one judge saw twice: the votes that agreement rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.agreement.coefficients import (
    Answers,
    Estimate,
    cohen_matrix,
    fleiss_kappa,
    gwet_ac1,
    interval_delta,
    krippendorff,
    nominal_delta,
    raw_agreement,
)
from ranking.statistics.ratings.intervals import wilson
from ranking.statistics.votes import LEFT, REPEAT, RIGHT, Votes

Array = NDArray[Any]
MIRROR = (LEFT, RIGHT)  # "first of the pair wins", "second wins": which is first is only a name
CLASS_VALUES = np.array([1.0, 0.0, 0.5, 0.5])


@dataclass(frozen=True)
class Agreement:
    """Agreement over units seen by two or more judges; `cohen` lists (judge, judge, shared units, kappa)."""

    units: int
    alpha_nominal: Estimate
    alpha_interval: Estimate
    ac1: Estimate
    fleiss: Estimate
    raw: Estimate
    cohen: tuple[tuple[str, str, int, float], ...]
    repeats: Estimate
    repeats_seen: int
    repeat_hits: Array  # [J] repeats answered alike
    repeat_trials: Array  # [J] repeats answered


def unit_of_votes(votes: Votes) -> tuple[Array, Array, Array]:
    """(usable rows, unit number, class oriented to the unit); a unit is a prompt with an unordered pair of drawings.

    A vote with no judge or no prompt belongs to no unit. An unknown attempt counts as the entrant's one drawing.
    """
    rows = np.flatnonzero((votes.judge >= 0) & (votes.prompt >= 0))
    if not len(rows):
        return rows, np.zeros(0, np.int64), np.zeros(0, np.int8)
    key, swapped = drawing_pairs(votes, rows)
    return rows, np.unique(key, return_inverse=True)[1].ravel(), oriented(votes.outcome[rows], swapped)


def drawing_pairs(votes: Votes, rows: Array, *, attempts: int | None = None) -> tuple[Array, Array]:
    """A number for the prompt and the two drawings of each of these votes, and whether its right drawing comes first.

    Numbers of two sets of votes can be compared if these have the same name tables and `attempts`, more than any attempt.
    """
    attempts = attempts or attempt_numbers(votes)
    left = votes.left[rows].astype(np.int64) * attempts + votes.left_attempt[rows] + 1
    right = votes.right[rows].astype(np.int64) * attempts + votes.right_attempt[rows] + 1
    drawings = len(votes.entrants) * attempts
    key = (votes.prompt[rows].astype(np.int64) * drawings + np.minimum(left, right)) * drawings
    key += np.maximum(left, right)
    return key, left > right


def attempt_numbers(*sets: Votes) -> int:
    highest = (column.max(initial=-1) for votes in sets for column in (votes.left_attempt, votes.right_attempt))
    return int(max(highest)) + 2


def oriented(outcome: Array, swapped: Array) -> Array:
    """Outcomes as they are with the sides of the `swapped` ones exchanged."""
    label = outcome.copy()
    label[swapped & (outcome == LEFT)] = RIGHT
    label[swapped & (outcome == RIGHT)] = LEFT
    return label


def measure_agreement(votes: Votes) -> Agreement:
    """Agreement between judges and with oneself; a judge's first answer on a unit, by time, is the one that counts."""
    if (np.diff(votes.time) < 0).any():
        votes = votes.take(np.argsort(votes.time, kind="stable"))
    rows, unit, label = unit_of_votes(votes)
    judge = votes.judge[rows].astype(np.int64)
    first = _first_rows(judge, unit, votes.kind[rows])
    hits, trials = _repeats(votes, rows, unit, label, first)
    judge, unit, label = judge[first], unit[first], label[first]
    table: Array = np.zeros((0, 4))
    if len(unit):
        table = np.bincount(unit * 4 + label, minlength=4 * (int(unit.max()) + 1)).reshape(-1, 4)
    several = table.sum(1) >= 2
    keep = several[unit]
    low, high = wilson(hits.sum(), trials.sum())
    answers = Answers(judge, unit, label.astype(np.int64))
    return Agreement(
        units=int(several.sum()),
        alpha_nominal=krippendorff(table, nominal_delta(4), mirror=MIRROR, answers=answers),
        alpha_interval=krippendorff(table, interval_delta(CLASS_VALUES), mirror=MIRROR, answers=answers),
        ac1=gwet_ac1(table, mirror=MIRROR, answers=answers),
        fleiss=fleiss_kappa(table, mirror=MIRROR, answers=answers),
        raw=raw_agreement(table, answers=answers),
        cohen=_cohen_pairs(votes.judges, judge[keep], (np.cumsum(several) - 1)[unit[keep]], label[keep]),
        repeats=Estimate(float(hits.sum() / trials.sum()) if trials.sum() else None, low, high),
        repeats_seen=int(trials.sum()),
        repeat_hits=hits,
        repeat_trials=trials,
    )


def _first_rows(judge: Array, unit: Array, kind: Array) -> Array:
    """Row numbers of each judge's first vote on each unit, repeats aside."""
    own = np.flatnonzero(kind != REPEAT)
    key = unit[own] * (int(judge.max(initial=0)) + 1) + judge[own]
    return np.sort(own[np.unique(key, return_index=True)[1]])


def _repeats(votes: Votes, rows: Array, unit: Array, label: Array, first: Array) -> tuple[Array, Array]:
    """Per judge: hidden repeats that matched the judge's first answer, and hidden repeats that had one."""
    judges = len(votes.judges)
    judge, kind = votes.judge[rows].astype(np.int64), votes.kind[rows]
    again = np.flatnonzero(kind == REPEAT)
    if not len(again):
        return np.zeros(judges, int), np.zeros(judges, int)
    known = unit[first] * judges + judge[first]
    order = np.argsort(known)
    wanted = unit[again] * judges + judge[again]
    at = np.searchsorted(known[order], wanted)
    seen_before = at < len(known)
    seen_before[seen_before] = known[order][at[seen_before]] == wanted[seen_before]
    again, at = again[seen_before], at[seen_before]
    same = label[again] == label[first][order][at]
    return np.bincount(judge[again][same], minlength=judges), np.bincount(judge[again], minlength=judges)


def _cohen_pairs(names: tuple[str, ...], judge: Array, unit: Array, label: Array) -> tuple[Any, ...]:
    if not len(judge):
        return ()
    present, number = np.unique(judge, return_inverse=True)
    kappa, shared = cohen_matrix(number.ravel(), unit, label, judges=len(present), classes=4, mirror=MIRROR)
    pairs = np.argwhere(np.triu(shared, 1) > 0)
    return tuple((names[present[a]], names[present[b]], int(shared[a, b]), float(kappa[a, b])) for a, b in pairs)
