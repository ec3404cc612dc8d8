"""The name tables of a run, and the number of each database id in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from generation.models import Run
from judging.models import JudgeTally


@dataclass(frozen=True)
class Names:
    """Name tables in order of the alphabet, as a file's reader makes them, and the number of each database id.

    Two prompts of the same words are one prompt here, as they are in a file.
    """

    names: tuple[str, ...]
    number: Mapping[Any, int]

    def numbers(self, ids: Iterable[Any]) -> list[int]:
        return [self.number.get(i, -1) for i in ids]


def make_names(pairs: Iterable[tuple[Any, str]]) -> Names:
    pairs = list(pairs)
    names = tuple(sorted({name for _, name in pairs}))
    place = {name: number for number, name in enumerate(names)}
    return Names(names, {key: place[name] for key, name in pairs})


def seen(names: Names, ids: Iterable[Any]) -> Names:
    used = {names.number[i] for i in ids if i in names.number}
    return make_names((pk, names.names[number]) for pk, number in names.number.items() if number in used)


@dataclass(frozen=True)
class RunNames:
    """The four name tables of a run."""

    entrants: Names
    judges: Names
    prompts: Names
    categories: Names
    category_of: Mapping[int, str]  # prompt id -> category


def run_names(run: Run) -> RunNames:
    prompts = list(run.prompts.values_list("id", "text", "category"))
    seats = run.seats.filter(is_unknown=False).values_list("id", "pseudonym")
    voted = JudgeTally.objects.filter(run=run).exclude(category="").order_by().values_list("category", flat=True)
    return RunNames(
        entrants=make_names(run.entrants.values_list("id", "name")),
        judges=make_names(seats),
        prompts=make_names((pk, text) for pk, text, _ in prompts),
        categories=make_names((name, name) for name in {*voted.distinct(), *(c for *_, c in prompts if c)}),
        category_of={pk: category for pk, _, category in prompts},
    )
