"""Votes counted by judge and by prompt: what every rating is made from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking.statistics.grouping import count_cells_at, count_rows
from ranking.statistics.votes import REPEAT, Votes

T = TypeVar("T")


@dataclass(frozen=True)
class Cells:
    """Counts by cluster (a judge or a prompt), category, left, right and outcome; a plain vote is a cell with n = 1.

    `n` is None where every cell is one vote of weight 1. A cluster of -1 is unknown: each of its votes stands alone.
    In cells by prompt, `activity` is the judge's class (`Tallies.activity`; -1 unknown) and `squares` the votes times their
    squared weights, where these are not all 0 or 1.
    """

    cluster: NDArray[Any]
    category: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    outcome: NDArray[Any]
    n: NDArray[Any] | None = None
    activity: NDArray[Any] | None = None
    squares: NDArray[Any] | None = None
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, name: Any, work_out: Callable[[], T]) -> T:
        """What is worked out from these cells, the first time that it is asked for."""
        if name not in self._kept:
            self._kept[name] = work_out()
        kept: T = self._kept[name]
        return kept

    def codes(self, size: int) -> NDArray[Any]:
        """The place of each cell in a table [K, K, 4] of `size` entrants, flattened."""

        def work_out() -> NDArray[Any]:
            code = self.left.astype(np.int64)
            code *= size
            code += self.right
            code *= 4
            code += self.outcome
            return code

        return self.once(("codes", size), work_out)

    def starts(self) -> NDArray[Any] | None:
        """Where each cluster's cells begin, if they stand in order of their clusters and all of these are known."""

        def work_out() -> NDArray[Any] | None:
            steps = np.diff(self.cluster)
            if not len(self.cluster) or self.cluster[0] < 0 or (steps < 0).any():
                return None
            return np.append(0, np.flatnonzero(steps) + 1)

        return self.once("starts", work_out)


@dataclass(frozen=True)
class Tallies:
    """All that ratings and their intervals need: cells by judge and cells by prompt, repeats left out.

    - `by_judge.n` counts votes; `weights[j]` (0 to 1) says how much a vote of judge j counts.
    - `by_prompt.n` must already hold the *weighted* number of votes where weights are in force.
    - `activity[j]`: the class of judge j by number of votes, repeats too (`activity_class`), the same as in `by_prompt.activity`.
    - `homes[j]`: the category in which judge j votes nearly always (`judge_homes`), where `by_judge` no longer tells it.
    """

    entrants: tuple[str, ...]
    judges: tuple[str, ...]
    prompts: tuple[str, ...]
    categories: tuple[str, ...]
    by_judge: Cells
    by_prompt: Cells
    weights: NDArray[Any]
    activity: NDArray[Any]
    homes: NDArray[Any] | None = None


def activity_class(votes: ArrayLike) -> NDArray[Any]:
    """floor(log2 votes), and 0 for a judge without votes."""
    return np.frexp(np.maximum(np.asarray(votes, float), 1))[1] - 1


def tally_votes(votes: Votes, *, weights: Mapping[str, float] | None = None) -> Tallies:
    """Tallies of votes; `weights` by judge name (1 unless named, 0 leaves a judge out); repeats never count."""
    factor = np.ones(len(votes.judges) + 1)  # the last place is the unknown judge, reached as -1
    for name, weight in (weights or {}).items():
        if name in votes.judges:
            factor[votes.judges.index(name)] = weight
    counted = votes.kind != REPEAT
    if (factor == 0).any():
        counted &= factor[votes.judge] > 0
    kept = votes if bool(counted.all()) else votes.take(counted)
    even = (factor == 1).all() or (factor[kept.judge] == 1).all()
    row_weight = None if even else factor[kept.judge]
    rest = (kept.category, kept.left, kept.right, kept.outcome)
    numbers = count_rows(len(votes), len(votes.judges) + 1, lambda here: votes.judge[here] + 1)
    activity = activity_class(numbers[1:])  # the first place is the unknown judge's
    by_class = np.append(activity, -1).astype(np.int8)[kept.judge]
    squares = None if row_weight is None else row_weight**2
    return Tallies(
        entrants=votes.entrants,
        judges=votes.judges,
        prompts=votes.prompts,
        categories=votes.categories,
        by_judge=grouped_cells(Cells(kept.judge, *rest)),
        by_prompt=grouped_cells(Cells(kept.prompt, *rest, n=row_weight, activity=by_class, squares=squares)),
        weights=factor[:-1],
        activity=activity,
    )


MANY = 100_000  # votes from which grouping them pays


def grouped_cells(cells: Cells) -> Cells:
    """Cells that agree in everything as one with their number of votes, where that leaves at most half as many.

    Counts are whole numbers, so sums over cells are the same to the last digit. Votes of an unknown cluster stand alone, and
    so do weighed ones.
    """
    rows = len(cells.left)
    if rows < MANY or cells.cluster.min() < 0 or (cells.n is not None and cells.activity is not None):
        return cells
    columns = [cells.cluster, cells.category, cells.left, cells.right, cells.outcome]
    columns += [] if cells.activity is None else [cells.activity]
    lows = [int(column.min()) for column in columns]
    spans = [int(column.max()) - low + 1 for column, low in zip(columns, lows, strict=True)]
    if math.prod(spans) > 2 * rows:
        return cells

    def place_of(here: slice) -> NDArray[Any]:
        code = np.zeros(here.stop - here.start, np.int64)
        for column, low, span in zip(columns, lows, spans, strict=True):
            code *= span
            code += column[here]
            code -= low
        return code

    counts = count_cells_at(cells.n, rows, math.prod(spans), place_of)
    present = np.flatnonzero(counts)
    if 2 * len(present) > rows:
        return cells
    n = counts[present]
    parts = []
    for column, low, span in zip(columns[::-1], lows[::-1], spans[::-1], strict=True):
        parts.append((present % span + low).astype(column.dtype))
        present = present // span
    cluster, category, left, right, outcome, *activity = parts[::-1]
    return Cells(cluster, category, left, right, outcome, n=n, activity=activity[0] if activity else None)


def count_cells(
    cells: Cells, *, scopes: int, scope: NDArray[Any] | None, size: int, n: NDArray[Any] | None
) -> NDArray[Any]:
    """Counts [scopes, K, K, 4] by left entrant, right entrant and outcome; one pass over the cells.

    `scope` numbers each cell's scope (None: all cells are scope 0); cells of scope -1 are left out.
    """
    code, whole = cells.codes(size), size * size * 4

    def place_of(here: slice) -> NDArray[Any]:
        return code[here] if scope is None else (scope[here].astype(np.int64) + 1) * whole + code[here]

    counts = count_cells_at(n, len(code), (scopes + (scope is not None)) * whole, place_of)
    return counts[whole * (scope is not None) :].reshape(scopes, size, size, 4)
