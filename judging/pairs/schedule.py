"""A judge's balanced sequence: pair, prompt, attempts, sides, shared and repeated items.

What comes next is a function of the judge's `Plan` (drawn once per epoch), the judge's `Place` in it and the table of
eligible drawings. Nothing here looks at votes, and a step costs the same however long the run has been going.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import accumulate
from math import gcd, lcm
from random import Random
from types import MappingProxyType
from typing import Any

from judging.pairs.rounds import Pair, assign_sides, category_word, circle_rounds, word_starts
from judging.pairs.table import Drawing, Item, Table, item_key, unordered

REPEAT_AFTER = 10  # a repeated item comes at least this many items after its first showing
REPEAT_WITHIN = 40
HOPELESS = 3  # few pairs can show what is owed more often: then only half of their turns go to it, not all
LABELLINGS = 12  # how many random labellings compete for the least-seen pairs

SHARED_PAIRS = 1 << 16  # of entrants, by number: those of 256

Unseen = Callable[[Iterator[Item]], Item | None]  # the first of these that the judge has not been shown


@lru_cache(maxsize=SHARED_PAIRS)
def _shared_pair(left: int, right: int) -> Pair:
    """One object for the plans of all judges: a process keeps thousands of plans, each with thousands of pairs."""
    return left, right


@dataclass(frozen=True)
class Plan:
    """One judge's order of things in one epoch: pairs with their sides, questions by category, the category word.

    `pairs` come round and round from regular item `start` on. Questions go by the word and by `cycle`, how many pairs there
    are at all, whichever of them come; `seen` is how often each entrant appeared before `start`. `is_focused` where votes
    chose the pairs (`judging.pairs.adaptive.draws`), and not the round robin. `is_bare` where nothing is inserted, neither
    shared items nor repeats: in a seat of twenty these would upset sides, prompts and coverage.
    """

    seed: int
    pairs: tuple[Pair, ...]
    questions: tuple[tuple[int, ...], ...]
    word: tuple[int, ...]
    cycle: int
    start: int = 0
    seen: Mapping[int, int] = field(default_factory=dict)
    is_focused: bool = False
    is_bare: bool = False

    @cached_property
    def starts(self) -> list[int]:
        return word_starts(self.word, self.cycle)

    @cached_property
    def met(self) -> list[list[int]]:
        """`met[c][i]`: how often category c stands among the first i letters of the word written twice."""
        twice = [*self.word, *self.word]
        return [list(accumulate((int(at == c) for at in twice), initial=0)) for c in range(len(self.questions))]

    @cached_property
    def appearances(self) -> tuple[array[int], array[int], array[int]]:
        """How often left and right entrant of each pair appeared before it in a lap, and how often each entrant does in a whole one."""
        whole = array("I", [0]) * (1 + max(map(max, self.pairs)))
        lefts, rights = array("I"), array("I")
        for left, right in self.pairs:
            lefts.append(whole[left])
            rights.append(whole[right])
            whole[left] += 1
            whole[right] += 1
        return lefts, rights, whole

    def pair_at(self, number: int) -> Pair:
        """Left and right entrant of regular item `number`; every second time round mirrors the one before."""
        lap, turn = divmod(number - self.start, len(self.pairs))
        left, right = self.pairs[turn]
        return (right, left) if lap % 2 else (left, right)

    def appeared(self, number: int) -> Counter[int]:
        """How often each entrant appeared before regular item `number`."""
        laps, turn = divmod(number - self.start, len(self.pairs))
        counts = Counter({entrant: laps * times for entrant, times in enumerate(self.appearances[2]) if times})
        counts.update(entrant for pair in self.pairs[:turn] for entrant in pair)
        counts.update(self.seen)
        return counts

    def lean(self, number: int) -> int:
        """The most that left and right of an entrant differ over the items from `start` to `number`."""
        laps, turn = divmod(number - self.start, len(self.pairs))
        unmirrored = self.pairs[turn:] if laps % 2 else self.pairs[:turn]
        left, right = (Counter(pair[side] for pair in unmirrored) for side in (0, 1))
        return max((abs(left[entrant] - right[entrant]) for entrant in left | right), default=0)

    def to_json(self) -> dict[str, Any]:
        stored = {f.name: getattr(self, f.name) for f in fields(self)}
        return stored | {"seen": list(self.seen.items())}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Plan:
        pairs = tuple(_shared_pair(left, right) for left, right in stored["pairs"])
        questions = tuple(tuple(row) for row in stored["questions"])
        later = {name: stored[name] for name in ("start", "is_focused", "is_bare") if name in stored}
        seen = dict(stored.get("seen", ()))
        cycle = stored.get("cycle", len(pairs))
        return cls(stored["seed"], pairs, questions, tuple(stored["word"]), cycle, seen=seen, **later)


@dataclass(frozen=True)
class Place:
    """How far a judge has come in an epoch: items shown, next number of each kind, the pair shown last, questions owed."""

    served: int = 0
    regular: int = 0
    shared: int = 0
    repeats: int = 0
    last: Pair | None = None
    owed: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Coverage:
    """How often all judges together have met each pair of entrants and each question of a table, by index."""

    pairs: Mapping[Pair, int] = field(default_factory=dict)
    questions: Mapping[int, int] = field(default_factory=dict)


def make_plan(table: Table, *, seed: int, coverage: Coverage | None = None, horizon: int | None = None) -> Plan:
    """Draw a judge's plan: least-seen pairs and questions first, chance among equals.

    `horizon` is how many items the judge is likely to do. Among several random labellings of the round robin the one whose
    first `horizon` pairs have been seen least is taken.
    """
    random = Random(seed)
    coverage = coverage or Coverage()
    orders = [_pair_order(table, random, coverage.pairs) for _ in range(LABELLINGS)]
    reach = horizon or len(table.entrants)
    pairs = min(orders, key=lambda order: sum(coverage.pairs.get(pair, 0) for pair in order[:reach]))
    possible = frozenset().union(*table.common.values())
    categories = [asked for row in table.by_category.values() if (asked := [q for q in row if q in possible])]
    random.shuffle(categories)
    questions = [sorted(row, key=lambda q: (coverage.questions.get(q, 0), random.random())) for row in categories]
    word = category_word([len(row) for row in categories]) if categories else []
    return Plan(seed, tuple(assign_sides(pairs, random)), tuple(map(tuple, questions)), tuple(word), len(pairs))


def all_pairs(table: Table, *, seed: int) -> list[Pair]:
    """Every possible pair once, in rounds."""
    return _pair_order(table, Random(seed), {})


def follow_plan(plan: Plan, pairs: Sequence[Pair], *, number: int, seed: int, is_focused: bool) -> Plan:
    """The same plan with other pairs from regular item `number` on: questions and attempts go on where they are."""
    sides = tuple(assign_sides(pairs, Random(seed)))
    return replace(plan, pairs=sides, start=number, seen=plan.appeared(number), is_focused=is_focused)


def _pair_order(table: Table, random: Random, coverage: Mapping[Pair, int]) -> list[Pair]:
    """The possible pairs, round by round; labels, the order of rounds and the order inside a round are free."""
    labels = random.sample(range(len(table.entrants)), len(table.entrants))
    rounds = []
    for plain in circle_rounds(len(labels)):
        pairs = [unordered(labels[a], labels[b]) for a, b in plain]
        pairs = [pair for pair in pairs if pair in table.common]
        pairs.sort(key=lambda pair: (coverage.get(pair, 0), random.random()))
        rounds.append(pairs)
    rounds.sort(key=lambda pairs: (sum(coverage.get(pair, 0) for pair in pairs), random.random()))
    return [pair for pairs in rounds for pair in pairs]


def visits_at(plan: Plan, category: int, number: int) -> int:
    """How often the word asks for a category (a row of `plan.questions`) before regular item `number`.

    The word is entered anew, one class further, after every lcm(pairs, word) items, at a moment when all counts stand even;
    so no category sticks to a pair.
    """
    start, words, rest = _word_at(plan, number)
    met = plan.met[category]
    return words * met[len(plan.word)] + met[start + rest] - met[start]


def _word_at(plan: Plan, number: int) -> tuple[int, int, int]:
    """Where the word was entered, how many whole words lie behind, and the letters since."""
    length, cycle = len(plan.word), plan.cycle
    block, inside = divmod(number, lcm(cycle, length))
    words, rest = divmod(inside, length)
    return plan.starts[block % len(plan.starts)], block * lcm(cycle, length) // length + words, rest


def category_at(plan: Plan, number: int) -> int:
    """The category that regular item `number` asks for."""
    start, _, rest = _word_at(plan, number)
    return plan.word[(start + rest) % len(plan.word)]


def row_at(plan: Plan, category: int, number: int) -> list[tuple[int, int]]:
    """A category's questions in the order in which they are asked from item `number` on, each with how often it was before.

    A row of questions is shifted by one whenever its own cycle closes, when all counts stand even; so no question sticks to
    a pair.
    """
    row = plan.questions[category]
    visits, shift = _entry(plan, category, number)
    rounds, done = divmod(visits, len(row))
    return [(row[(visits + shift + step) % len(row)], rounds + (step >= len(row) - done)) for step in range(len(row))]


def _entry(plan: Plan, category: int, number: int) -> tuple[int, int]:
    """Where a category's row is entered at item `number`: how often it was asked before, and by how much it is shifted."""
    size, weight = len(plan.questions[category]), plan.met[category][len(plan.word)]
    shift = number // (plan.cycle * len(plan.word)) // (size // gcd(plan.cycle * weight, size))
    return visits_at(plan, category, number), shift


def question_at(plan: Plan, number: int) -> int:
    """The question that regular item `number` asks for."""
    category = category_at(plan, number)
    row = plan.questions[category]
    visits, shift = _entry(plan, category, number)
    return row[(visits + shift) % len(row)]


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
