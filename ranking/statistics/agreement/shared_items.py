"""Items that several judges saw, and items one judge saw twice: the votes that agreement rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.agreement.coefficients import (
    Answers,
    Estimate,
    Panel,
    fleiss_kappa,
    gwet_ac1,
    interval_delta,
    krippendorff,
    nominal_delta,
    raw_agreement,
)
from ranking.statistics.agreement.cohen import cohen_matrix
from ranking.statistics.grouping import count_rows, portions, rows_among
from ranking.statistics.ratings.intervals import wilson
from ranking.statistics.votes import LEFT, REPEAT, RIGHT, Votes, in_order_of_time

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


def drawing_pairs(votes: Votes, rows: Array | slice, *, attempts: range | None = None) -> tuple[Array, Array]:
    """A number for the prompt and the two drawings of each of these votes, and whether its right drawing comes first.

    Numbers of two sets of votes can be compared if these have the same name tables and `attempts`, which hold every attempt.
    """
    attempts = attempts or attempt_range(votes)
    pairs = _pairs(votes, attempts)
    kind = np.int32 if len(votes.prompts) * pairs < 2**31 and pairs < 2**29 else np.int64
    left, right = (
        entrant[rows].astype(kind) * len(attempts) + (attempt[rows] - attempts.start)
        for entrant, attempt in ((votes.left, votes.left_attempt), (votes.right, votes.right_attempt))
    )
    swapped = left > right
    last = np.maximum(left, right)
    key = last * (last + 1)
    key //= 2
    key += np.minimum(left, right, out=left)
    key += votes.prompt[rows].astype(kind) * pairs
    return key, swapped


def _pairs(votes: Votes, attempts: range) -> int:
    drawings = len(votes.entrants) * len(attempts)
    return drawings * (drawings + 1) // 2


def attempt_range(*sets: Votes) -> range:
    """From the lowest number of an attempt to the highest; -1 is an unknown one."""
    columns = [column for votes in sets for column in (votes.left_attempt, votes.right_attempt) if len(column)]
    if not columns:
        return range(1)
    return range(min(int(c.min()) for c in columns), max(int(c.max()) for c in columns) + 1)


def oriented(outcome: Array, swapped: Array) -> Array:
    """Outcomes as they are with the sides of the `swapped` ones exchanged."""
    return outcome ^ (swapped & (outcome <= RIGHT)).astype(outcome.dtype)  # left is 0 and right 1


def measure_agreement(votes: Votes) -> Agreement:
    """Agreement between judges and with oneself; a judge's first answer on a unit, by time, is the one that counts.

    A unit is a prompt with an unordered pair of drawings. A vote without a judge or a prompt belongs to none; an unknown
    attempt counts as the entrant's one drawing.
    """
    votes = in_order_of_time(votes)
    usable = (votes.judge >= 0) & (votes.prompt >= 0)
    votes = votes if usable.all() else votes.take(usable)
    judges, side = len(votes.judges), 4 * len(votes.judges)
    code, units = _codes(votes)
    again = votes.kind == REPEAT
    answers = _first_answers(code[~again] if again.any() else code)
    hits, trials = _repeats(code[again], answers, judges)
    low, high = wilson(hits.sum(), trials.sum())
    sizes = count_rows(len(answers), units, lambda here: answers[here] // side)
    edges = np.concatenate([[0], np.cumsum(sizes)])
    answer_codes = _in_portions(answers, lambda some: (some % side).astype(np.int32))
    panel = _panel(answer_codes, edges, judges)
    kappa, shared = cohen_matrix(answer_codes, edges, judges=judges, classes=4, mirror=MIRROR)
    return Agreement(
        units=int(panel.times[panel.table.sum(1) >= 2].sum()),
        alpha_nominal=krippendorff(panel, nominal_delta(4), mirror=MIRROR),
        alpha_interval=krippendorff(panel, interval_delta(CLASS_VALUES), mirror=MIRROR),
        ac1=gwet_ac1(panel, mirror=MIRROR),
        fleiss=fleiss_kappa(panel, mirror=MIRROR),
        raw=raw_agreement(panel),
        cohen=_named_pairs(votes.judges, kappa, shared),
        repeats=Estimate(float(hits.sum() / trials.sum()) if trials.sum() else None, low, high),
        repeats_seen=int(trials.sum()),
        repeat_hits=hits,
        repeat_trials=trials,
    )


def _codes(votes: Votes) -> tuple[Array, int]:
    """(unit x judges + judge) x 4 + class for each vote, and the number of units; the class is that of the unit's first drawing."""
    rows, judges, attempts = len(votes), len(votes.judges), attempt_range(votes)
    key = np.zeros(rows, np.int64 if _pairs(votes, attempts) * len(votes.prompts) >= 2**31 else np.int32)
    label = np.zeros(rows, np.int8)
    for here in portions(rows):
        key[here], swapped = drawing_pairs(votes, here, attempts=attempts)
        label[here] = oriented(votes.outcome[here], swapped)
    units = int(key.max(initial=-1)) + 1
    if units > 4 * rows + 1000:  # far more pairs of drawings than were shown
        shown, number = np.unique(key, return_inverse=True)
        key, units = number.ravel(), len(shown)
    code = np.zeros(rows, np.uint32 if units * judges * 4 < 2**32 else np.uint64)  # short ones sort many times quicker
    for here in portions(rows):
        code[here] = (key[here].astype(np.int64) * judges + votes.judge[here]) * 4 + label[here]
    return code, units


def _first_answers(code: Array) -> Array:
    """In order, one code for each judge and unit: that of the first answer."""
    ordered = np.sort(code)
    again = np.zeros(len(code), bool)  # whether it is of the same judge and unit as the one before
    changed = [ordered[:0]]
    for here in portions(max(len(code) - 1, 0)):
        before, after = ordered[here], ordered[here.start + 1 : here.stop + 1]
        same = before >> 2 == after >> 2
        again[here.start + 1 : here.stop + 1] = same
        changed.append(after[same & (before != after)] >> 2)
    first = ordered[~again] if again.any() else ordered
    minds = np.concatenate(changed)  # judges with units on which they gave several answers
    if len(minds):
        minds = minds[np.append(True, minds[1:] != minds[:-1])]
        some = _in_turn(code[rows_among(code, minds, shift=2)])
        first[np.searchsorted(first, minds << 2)] = some[np.searchsorted(some >> 2, minds)]
    return first


def _in_turn(code: Array) -> Array:
    """In order of judge and unit, those of one in the order in which they came."""
    bits = len(code).bit_length()
    if int(code.max()).bit_length() + bits > 64:
        return code[np.argsort(code >> 2, kind="stable")]
    # As one number: sorting whole numbers is many times quicker than sorting their places.
    packed = code.astype(np.uint64) >> 2 << bits + 2 | np.arange(len(code), dtype=np.uint64) << 2 | code & 3
    packed.sort()
    return (packed >> bits + 2 << 2 | packed & 3).astype(code.dtype)


def _in_portions(values: Array, work: Callable[[Array], Array]) -> Array:
    return np.concatenate([work(values[here]) for here in portions(len(values))] or [work(values)])


def _panel(said: Array, edges: Array, judges: int) -> Panel:
    """Units gathered by their counts of classes; `said` is judge x 4 + class, that of unit u from edges[u] on."""
    sizes = np.diff(edges)
    unit = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    counts = count_rows(len(said), len(sizes) * 4, lambda here: unit[here].astype(np.int64) * 4 + said[here] % 4)
    rows, row = _alike(counts.reshape(-1, 4))
    times = np.bincount(row, minlength=len(rows)).astype(float)
    times[rows.sum(1) == 0] = 0.0
    row = row.astype(np.int32) * 4
    place = np.concatenate([row[unit[here]] + said[here] % 4 for here in portions(len(said))] or [said])
    return Panel(rows.astype(float), times, Answers(said >> 2, place, judges))


def _alike(table: Array) -> tuple[Array, Array]:
    """The different rows of a table of counts [U, C], and which of them each row is [U]."""
    spans = table.max(0, initial=0) + 1
    whole = float(np.prod(spans.astype(float)))
    if whole > 4 * len(table) + 1000:
        rows, row = np.unique(table, axis=0, return_inverse=True)
        return rows, row.ravel()
    code = np.ravel_multi_index(tuple(table.T), tuple(spans))
    present = np.flatnonzero(np.bincount(code, minlength=int(whole)))
    number = np.zeros(int(whole), np.int64)
    number[present] = np.arange(len(present))
    return np.stack(np.unravel_index(present, tuple(spans)), 1), number[code]


def _repeats(repeated: Array, answers: Array, judges: int) -> tuple[Array, Array]:
    """Per judge: hidden repeats that matched the judge's first answer, and hidden repeats that had one."""
    at = np.searchsorted(answers, repeated >> 2 << 2)
    known = at < len(answers)
    known[known] = answers[at[known]] >> 2 == repeated[known] >> 2
    judge = ((repeated[known] >> 2) % max(judges, 1)).astype(np.int64)
    same = answers[at[known]] == repeated[known]
    return np.bincount(judge[same], minlength=judges), np.bincount(judge, minlength=judges)


def _named_pairs(names: tuple[str, ...], kappa: Array, shared: Array) -> tuple[Any, ...]:
    """Of judges who share units."""
    one, other = np.nonzero(np.triu(shared, 1))
    firsts, seconds = ([names[j] for j in side.tolist()] for side in (one, other))
    return tuple(zip(firsts, seconds, shared[one, other].tolist(), kappa[one, other].tolist(), strict=True))
