"""A judge's next item: pair, question, attempts and sides; shared and repeated items between the regular ones.

What comes next is a function of the judge's `Plan` (drawn once per epoch), the judge's `Place` in it and the table of
eligible drawings. Nothing here looks at votes, and a step costs the same however long the run has been going.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import lcm
from types import MappingProxyType
from typing import Any

from judging.pairs.schedule.plans import Plan
from judging.pairs.schedule.questions import category_at, question_at, row_at
from judging.pairs.schedule.rounds import Pair
from judging.pairs.schedule.table import Drawing, Item, Table, item_key, unordered

REPEAT_AFTER = 10  # a repeated item comes at least this many items after its first showing
REPEAT_WITHIN = 40
HOPELESS = 3  # few pairs can show what is owed more often: then only half of their turns go to it, not all

Unseen = Callable[[Iterator[Item]], Item | None]  # the first of these that the judge has not been shown


@dataclass(frozen=True)
class Place:
    """How far a judge has come in an epoch: items shown, next number of each kind, the pair shown last, questions owed."""

    served: int = 0
    regular: int = 0
    shared: int = 0
    repeats: int = 0
    last: Pair | None = None
    owed: Mapping[int, int] = field(default_factory=dict)


def regular_items(
    plan: Plan, table: Table, number: int, owed: Mapping[int, int] = MappingProxyType({})
) -> Iterator[Item]:
    """What regular item `number` may show: the planned choice first, then whatever else this pair can still offer.

    `owed` says how often a question was planned and not shown, less how often it was shown unplanned. Without gaps nothing is
    owed, and the plan is kept to the letter; otherwise what came short is made up for by the pairs that can.
    """
    left, right = plan.pair_at(number)
    low, high = unordered(left, right)
    lap, turn = divmod(number - plan.start, len(plan.pairs))
    lefts, rights, whole = plan.appearances
    before = dict(zip(plan.pairs[turn], (lefts[turn], rights[turn]), strict=True))
    ranks = {
        e: plan.seen.get(e, 0) + lap * whole[e] + before[e] + int(999 * _chance(plan.seed, "attempt", e))
        for e in (low, high)
    }
    ranks[high] += (
        number // plan.cycle // len(table.questions)
    )  # when a question comes round again, other drawings meet
    for question in _questions(plan, number, owed):
        for item in _combinations(table, low, high, question, (ranks[low], ranks[high])):
            yield item if item.left == left else item.swapped()


def _questions(plan: Plan, number: int, owed: Mapping[int, int]) -> Iterator[int]:
    """All questions for regular item `number`, the best first: of the category owed most, those that were shown least."""
    if not any(owed.values()):
        first = question_at(plan, number)  # nearly always the only one that is needed
        yield first
        yield from (question for question in _ranked(plan, number, owed) if question != first)
    else:
        yield from _ranked(plan, number, owed)


def _ranked(plan: Plan, number: int, owed: Mapping[int, int]) -> Iterator[int]:
    patient = _chance(plan.seed, "patient", number) < 0.5
    planned = category_at(plan, number)
    debts = [sum(owed.get(question, 0) for question in row) + (c == planned) for c, row in enumerate(plan.questions)]

    def by_debt(category: int) -> tuple[bool, int, bool, float]:
        debt, tie = debts[category], _chance(plan.seed, "category", number, category)
        return patient and debt > HOPELESS, -debt, category != planned, tie

    def by_shown(asked: tuple[int, int]) -> tuple[bool, int]:
        debt = owed.get(asked[0], 0)
        return patient and debt > HOPELESS, asked[1] - debt

    for category in sorted(range(len(debts)), key=by_debt):
        yield from (question for question, _ in sorted(row_at(plan, category, number), key=by_shown))


def _combinations(table: Table, low: int, high: int, question: int, ranks: Pair) -> Iterator[Item]:
    """Each combination of the two entrants' drawings for a question once, both sides stepping on together."""
    lows, highs = table.drawings.get((low, question), ()), table.drawings.get((high, question), ())
    for step in range(len(lows) * len(highs)):
        lap = step // lcm(len(lows), len(highs))
        one, other = lows[(ranks[0] + step) % len(lows)], highs[(ranks[1] + step + lap) % len(highs)]
        samples = (_attempt(one, ranks[0] // len(lows)), _attempt(other, ranks[1] // len(highs)))
        yield Item(low, high, question, *samples, item_key(table.questions[question][0], one.digest, other.digest))


def _attempt(drawing: Drawing, turn: int) -> int:
    return drawing.samples[turn % len(drawing.samples)]


def _chance(seed: int, *what: object) -> float:
    return int.from_bytes(blake2b(repr((seed, *what)).encode(), digest_size=7).digest()) / 2**56


def is_due(done: int, *, share: float, served: int, seed: int, kind: str) -> bool:
    """Whether an inserted item is due after `served` items; its moment in its stretch of 1/share items is random."""
    return served * share > done + _chance(seed, kind, done)


def is_picked_turn(plan: Plan, served: int, *, share: float) -> bool:
    """Whether the item after `served` items is for a picked pair: one random place in each stretch of 1/share items."""
    if plan.is_bare or not share:
        return False
    stretch, place = divmod(served, round(1 / share))
    return place == int(_chance(plan.seed, "picked", stretch) * round(1 / share))


def neighbours(plan: Plan, place: Place) -> set[Pair | None]:
    """Pairs an inserted item must not show: the one just shown and the regular one that follows."""
    if len(plan.pairs) < 3:
        return set()
    return {place.last, unordered(*plan.pair_at(place.regular))}


def next_shared(
    plan: Plan, shared: Plan, table: Table, place: Place, unseen: Unseen, *, overlap: float
) -> tuple[Item | None, Place]:
    """The next item of the run's shared sequence, same samples for every judge, if it is due and fits here.

    Between neighbours of its own pair it waits a turn or two. Drawings this judge has already met are passed over: that
    earlier vote serves for agreement just as well.
    """
    if not is_due(place.shared, share=overlap, served=place.served, seed=plan.seed, kind="shared"):
        return None, place
    if unordered(*shared.pair_at(place.shared)) in neighbours(plan, place):
        return None, place
    item = next(regular_items(shared, table, place.shared))
    after = replace(place, shared=place.shared + 1)
    if unseen(iter([item])) is None:
        return None, after
    turned = item.swapped() if _chance(plan.seed, "side", place.shared) < 0.5 else item
    return turned, replace(after, served=place.served + 1, last=item.pair)


def next_regular(plan: Plan, table: Table, place: Place, unseen: Unseen) -> tuple[Item | None, Place]:
    """The next regular item, passing over pairs that have nothing new left; no item when no pair has."""
    owed = Counter(place.owed)
    for number in range(place.regular, place.regular + len(plan.pairs)):
        if plan.is_focused and unordered(*plan.pair_at(number)) == place.last:  # the others have nothing left
            continue
        item = unseen(regular_items(plan, table, number, owed))
        owed[question_at(plan, number)] += 1
        if item is not None:
            owed[item.question] -= 1
            left = {question: times for question, times in owed.items() if times}
            return item, replace(place, served=place.served + 1, regular=number + 1, last=item.pair, owed=left)
    return None, place


def next_repeat(plan: Plan, place: Place, earlier: Sequence[tuple[Pair, Any]]) -> tuple[Any | None, Place]:
    """One of the judge's own earlier items to show again with its sides swapped; none when nothing fits here."""
    fitting = [(pair, what) for pair, what in earlier if pair not in neighbours(plan, place)]
    if not fitting:
        return None, place
    pair, what = fitting[int(_chance(plan.seed, "repeat of", place.repeats) * len(fitting))]
    return what, replace(place, served=place.served + 1, repeats=place.repeats + 1, last=pair)
