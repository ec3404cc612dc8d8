"""Items that several judges saw, and items one judge saw twice: the votes that agreement rests on."""

from __future__ import annotations

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
from ranking.statistics.grouping import bits_of, count_rows, edges_of, grouped, packed_in_order, portions
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
    judges = len(votes.judges)
    unit, units, label = _units(votes)
    again = votes.kind == REPEAT
    shown = ~again if again.any() else slice(None)
    answers = _first_answers(unit[shown], units, votes.judge[shown], judges, label[shown])
    hits, trials = _repeats(unit[again], votes.judge[again], label[again], answers, judges)
    low, high = wilson(hits.sum(), trials.sum())
    panel = _panel(answers, judges)
    kappa, shared = cohen_matrix(answers.answer, answers.edges, judges=judges, classes=4, mirror=MIRROR)
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


def _units(votes: Votes) -> tuple[Array, int, Array]:
    """The unit of each vote, the number of units, and each vote's class, which is that of the unit's first drawing."""
    rows, attempts = len(votes), attempt_range(votes)
    key = np.zeros(rows, np.int64 if _pairs(votes, attempts) * len(votes.prompts) >= 2**31 else np.int32)
    label = np.zeros(rows, np.int8)
    for here in portions(rows):
        key[here], swapped = drawing_pairs(votes, here, attempts=attempts)
        label[here] = oriented(votes.outcome[here], swapped)
    units = int(key.max(initial=-1)) + 1
    if units > 4 * rows + 1000:  # far more pairs of drawings than were shown
        shown, number = np.unique(key, return_inverse=True)
        key, units = number.ravel(), len(shown)
    return key, units, label


@dataclass(frozen=True)
class Answered:
    """Unit by unit, each judge's first answer, in order of judges: `answer` is judge x 4 + class, and unit u's begin at edges[u]."""

    unit: Array
    answer: Array
    edges: Array


def _first_answers(unit: Array, units: int, judge: Array, judges: int, label: Array) -> Answered:
    rows, bits = len(unit), bits_of(judges)
    whose = packed_in_order(rows, (unit, units), (judge, judges), (None, rows), (label, 4))
    if whose is None:
        order = grouped(np.arange(rows), judge, judges)
        order = grouped(order, unit[order], units)
        label, whose = label[order], unit[order].astype(np.int64) << bits | judge[order]
    else:
        label = np.concatenate([(whose[here] & 3).astype(np.int8) for here in portions(rows)] or [label])
        whose >>= bits_of(rows) + 2
    kind, parts, last = unit.dtype, [(np.zeros(0, np.int32),) * 2], -1
    for here in portions(rows):
        first = np.diff(whose[here], prepend=last) != 0
        last, part = whose[here][-1], whose[here][first]
        answer = (part & (1 << bits) - 1) * 4 + label[here][first]
        parts.append(((part >> bits).astype(kind), answer.astype(np.int32)))
    unit, answer = map(np.concatenate, zip(*parts, strict=True))
    return Answered(unit, answer, edges_of(unit, units))


def _panel(answers: Answered, judges: int) -> Panel:
    """Units gathered by their counts of classes."""
    unit, answer, units = answers.unit, answers.answer, len(answers.edges) - 1
    counts = count_rows(len(answer), units * 4, lambda here: unit[here].astype(np.int64) * 4 + (answer[here] & 3))
    rows, row = _alike(counts.reshape(-1, 4))
    times = np.bincount(row, minlength=len(rows)).astype(float)
    times[rows.sum(1) == 0] = 0.0
    row = row.astype(np.int32) * 4
    place = np.concatenate([row[unit[here]] + (answer[here] & 3) for here in portions(len(answer))] or [answer])
    return Panel(rows.astype(float), times, Answers(answer >> 2, place, judges))


def _alike(table: Array) -> tuple[Array, Array]:
    """The different rows of a table of counts [U, C], and which of them each row is [U]."""
    spans = table.max(0, initial=0) + 1
    whole = float(np.prod(spans.astype(float)))
    if whole > 4 * len(table) + 1000:
        rows, row = np.unique(table, axis=0, return_inverse=True)
        return rows, row.ravel()
    code = np.concatenate([_codes(table[here], spans) for here in portions(len(table))] or [table[:, 0]])
    present = np.flatnonzero(np.bincount(code, minlength=int(whole)))
    number = np.zeros(int(whole), np.int64)
    number[present] = np.arange(len(present))
    return np.stack(np.unravel_index(present, tuple(spans)), 1), number[code]


def _codes(table: Array, spans: Array) -> Array:
    """Rows of a table [U, C] as numbers, the first column's digit the highest."""
    code = table[:, 0]
    for column, span in zip(table.T[1:], spans[1:], strict=True):
        code = code * span + column
    return code


def _repeats(unit: Array, judge: Array, label: Array, answers: Answered, judges: int) -> tuple[Array, Array]:
    """Per judge: hidden repeats that matched the judge's first answer, and hidden repeats that had one."""
    hits = trials = np.zeros(judges, np.int64)
    if not len(unit):
        return hits, trials
    answered = answers.unit.astype(np.int64) * judges + (answers.answer >> 2)  # in order
    wanted = unit.astype(np.int64) * judges + judge
    at = np.searchsorted(answered, wanted)
    known = at < len(answered)
    known[known] = answered[at[known]] == wanted[known]
    same = answers.answer[at[known]] & 3 == label[known]
    return np.bincount(judge[known][same], minlength=judges), np.bincount(judge[known], minlength=judges)


def _named_pairs(names: tuple[str, ...], kappa: Array, shared: Array) -> tuple[Any, ...]:
    """Of judges who share units."""
    one, other = np.nonzero(np.triu(shared, 1))
    firsts, seconds = (np.array(names, object)[side].tolist() for side in (one, other))
    return tuple(zip(firsts, seconds, shared[one, other].tolist(), kappa[one, other].tolist(), strict=True))
