"""Adaptive pairs: the ten pairs that a judge is shown next, from what a stored fit says about all of them.

Of every ten, three are of the least seen and up to seven of those whose order is undecided, each pair once; the ten come
twice, the second time with sides mirrored. Questions and attempts go on by the judge's plan as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from random import Random

from judging.pairs.schedule.plans import Plan, all_pairs, follow_plan
from judging.pairs.schedule.rounds import Pair
from judging.pairs.schedule.table import Table

SIZE = 10  # pairs drawn at once
UNDECIDED = 7  # of them, at most
LAPS = 2  # the second one mirrors sides
POOL = (
    4  # the least seen are drawn by lot from a quarter of the pairs, so that judges who draw at once do not draw alike
)
STEEP = 1.5  # a pair comes in proportion to this power of the chance that its order is wrong
BEGINS = 1  # votes a possible pair, on average, before pairs are adaptive


@dataclass(frozen=True)
class Focus:
    """What a fit says about the pairs of a table: votes that count, and how likely the order of an undecided one is wrong."""

    votes: Mapping[Pair, int] = field(default_factory=dict)
    undecided: Mapping[Pair, float] = field(default_factory=dict)

    def weight(self, pair: Pair) -> float:
        return self.undecided.get(pair, 0.0) ** STEEP


def can_focus(table: Table) -> bool:
    """Whether there are pairs enough to choose from: five entrants or more."""
    return len(table.common) >= SIZE


def votes_to_begin(table: Table, focus: Focus) -> int:
    """How many more votes it takes until pairs are adaptive."""
    return max(BEGINS * len(table.common) - sum(focus.votes.get(pair, 0) for pair in table.common), 0)


def has_begun(table: Table, focus: Focus) -> bool:
    return can_focus(table) and not votes_to_begin(table, focus)


def is_turn(plan: Plan, number: int) -> bool:
    """Whether other pairs may follow before regular item `number`: left and right of each entrant are within 1."""
    if plan.is_focused:
        return number - plan.start >= LAPS * len(plan.pairs)
    return (number - plan.start) % SIZE == 0 and plan.lean(number) <= 1


def next_plan(plan: Plan, table: Table, focus: Focus | None, *, number: int, last: Pair | None, seed: int) -> Plan:
    """The plan from regular item `number` on, where it is somebody's turn; without a focus pairs are balanced again."""
    if focus is not None and has_begun(table, focus):
        pairs = draw_pairs(sorted(table.common), focus, Random(seed))
        return follow_plan(plan, _not_first(last, pairs), number=number, seed=seed, is_focused=True)
    return balanced_plan(plan, table, number=number, last=last, seed=seed) if plan.is_focused else plan


def balanced_plan(plan: Plan, table: Table, *, number: int, last: Pair | None, seed: int) -> Plan:
    """All pairs, as at the beginning; also where the ten have no new drawings left and others may."""
    pairs = all_pairs(table, seed=seed)
    return follow_plan(plan, _not_first(last, pairs), number=number, seed=seed, is_focused=False)


def _not_first(last: Pair | None, pairs: list[Pair]) -> list[Pair]:
    return [*pairs[1:], pairs[0]] if pairs[0] == last else pairs


def draw_pairs(possible: Sequence[Pair], focus: Focus, random: Random) -> list[Pair]:
    """Ten of the possible pairs in a random order; undecided ones by how likely their order is wrong."""
    # The largest of log(random()) / weight: a weighted draw in which no pair comes twice.
    lots = {pair: log(1 - random.random()) / w for pair in possible if (w := focus.weight(pair))}
    chosen = sorted(lots, key=lots.__getitem__)[-UNDECIDED:]
    rest = [pair for pair in possible if pair not in chosen]
    random.shuffle(rest)
    rest.sort(key=lambda pair: focus.votes.get(pair, 0))
    pool = rest[: max(len(possible) // POOL, SIZE - len(chosen))]
    chosen += random.sample(pool, SIZE - len(chosen))
    random.shuffle(chosen)
    return chosen
