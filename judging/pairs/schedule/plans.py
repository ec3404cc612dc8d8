"""A judge's plan for an epoch: pairs with their sides, questions by category, drawn at random with the least seen first."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from random import Random
from typing import Any

from judging.pairs.schedule.rounds import Pair, assign_sides, category_word, circle_rounds, word_starts
from judging.pairs.schedule.table import Table, unordered

LABELLINGS = 12  # how many random labellings compete for the least-seen pairs
SHARED_PAIRS = 1 << 16  # of entrants, by number: those of 256


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
