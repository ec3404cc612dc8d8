"""What may be shown in one epoch: entrants, questions, and the distinct drawings of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import combinations
from typing import Any, NamedTuple

from judging.pairs.schedule.rounds import Pair


class Drawing(NamedTuple):
    """One distinct drawing of an entrant for a question, and the samples that look like it."""

    digest: str
    samples: tuple[int, ...]


class Item(NamedTuple):
    """Two samples to compare, by indices of their table; `key` names the two drawings whatever their sides."""

    left: int
    right: int
    question: int
    left_sample: int
    right_sample: int
    key: str

    @property
    def pair(self) -> Pair:
        return unordered(self.left, self.right)

    def swapped(self) -> Item:
        return Item(self.right, self.left, self.question, self.right_sample, self.left_sample, self.key)


@dataclass(frozen=True)
class Table:
    """The eligible drawings of one epoch.

    - `entrants` are ids; elsewhere an entrant is its index here.
    - `questions` are (prompt id, model name or None): both samples of an item answer the same question, so where programs
      compete both come from the same model.
    - `categories[q]` is the category of question q, any hashable name.
    - `drawings[e, q]` are the distinct drawings of entrant e for question q; absent where there is none.
    """

    entrants: tuple[int, ...]
    questions: tuple[tuple[int, str | None], ...]
    categories: tuple[str, ...]
    drawings: Mapping[Pair, tuple[Drawing, ...]]

    @cached_property
    def by_category(self) -> dict[str, tuple[int, ...]]:
        questions: dict[str, list[int]] = {}
        for question, category in enumerate(self.categories):
            questions.setdefault(category, []).append(question)
        return {category: tuple(questions[category]) for category in sorted(questions)}

    @cached_property
    def common(self) -> dict[Pair, frozenset[int]]:
        """For each pair (low, high) of entrants the questions both answered; pairs without any are left out."""
        answered: list[set[int]] = [set() for _ in self.entrants]
        for entrant, question in self.drawings:
            answered[entrant].add(question)
        both = {(a, b): frozenset(answered[a] & answered[b]) for a, b in combinations(range(len(self.entrants)), 2)}
        return {pair: questions for pair, questions in both.items() if questions}

    def gaps(self) -> list[tuple[Pair, str]]:
        """Pairs × categories that cannot be shown at all: what the balance must do without in this epoch."""
        pairs = combinations(range(len(self.entrants)), 2)
        return [
            (pair, category)
            for pair in pairs
            for category, questions in self.by_category.items()
            if self.common.get(pair, frozenset()).isdisjoint(questions)
        ]

    def to_json(self) -> dict[str, Any]:
        drawings = [[e, q, [[d.digest, *d.samples] for d in made]] for (e, q), made in self.drawings.items()]
        return {
            "entrants": self.entrants,
            "questions": self.questions,
            "categories": self.categories,
            "drawings": drawings,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Table:
        drawings = {
            (entrant, question): tuple(Drawing(digest, tuple(samples)) for digest, *samples in made)
            for entrant, question, made in stored["drawings"]
        }
        questions = tuple((prompt, model) for prompt, model in stored["questions"])
        return cls(tuple(stored["entrants"]), questions, tuple(stored["categories"]), drawings)


def unordered(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def digest_of(drawing: str) -> str:
    return blake2b(drawing.encode(), digest_size=12).hexdigest()


def item_key(prompt: int, one: str, other: str) -> str:
    """The same two drawings for the same prompt have the same key, whoever drew them and wherever they stand."""
    low, high = sorted((one, other))
    return blake2b(f"{prompt}|{low}|{high}".encode(), digest_size=16).hexdigest()
