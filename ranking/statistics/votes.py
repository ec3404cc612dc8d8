"""Votes as integer columns, and the counts every rating is made from."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking.statistics.grouping import count_cells_at, count_rows, portions

OUTCOMES = ("left", "right", "tie", "fail")
OUTCOME_NUMBERS = {name: number for number, name in enumerate(OUTCOMES)}
KINDS = ("regular", "shared", "repeat", "picked")
LEFT, RIGHT, TIE, FAIL = range(4)
REPEAT, PICKED = 2, 3


@dataclass(frozen=True)
class Votes:
    """One row a vote: numbers into the name tables, -1 (or NaN) where a fact is unknown.

    - `left`, `right`: entrants; `outcome`: 0 left, 1 right, 2 tie, 3 fail; `kind`: 0 regular, 1 shared, 2 repeat, 3 picked.
    - `time` and `withdrawn` are seconds since 1970; a vote that stands is withdrawn at +infinity.
    """

    entrants: tuple[str, ...]
    judges: tuple[str, ...]
    prompts: tuple[str, ...]
    categories: tuple[str, ...]
    left: NDArray[Any]
    right: NDArray[Any]
    outcome: NDArray[Any]
    judge: NDArray[Any]
    prompt: NDArray[Any]
    category: NDArray[Any]
    left_attempt: NDArray[Any]
    right_attempt: NDArray[Any]
    kind: NDArray[Any]
    time: NDArray[Any]
    response_ms: NDArray[Any]
    withdrawn: NDArray[Any]

    def __len__(self) -> int:
        return len(self.left)

    def take(self, rows: NDArray[Any]) -> Votes:
        """The votes at `rows` (a mask or row numbers), with the same name tables."""
        columns = {f.name: getattr(self, f.name)[rows] for f in fields(self) if f.name not in NAME_TABLES}
        return replace(self, **columns)


NAME_TABLES = ("entrants", "judges", "prompts", "categories")
COLUMN_DEFAULTS: dict[str, tuple[float, Any]] = {
    "judge": (-1, np.int32),
    "prompt": (-1, np.int32),
    "category": (-1, np.int32),
    "left_attempt": (-1, np.int32),
    "right_attempt": (-1, np.int32),
    "kind": (0, np.int8),
    "time": (np.nan, np.float64),
    "response_ms": (np.nan, np.float64),
    "withdrawn": (np.inf, np.float64),
}


def make_votes(
    *,
    entrants: tuple[str, ...],
    left: ArrayLike,
    right: ArrayLike,
    outcome: ArrayLike,
    judges: tuple[str, ...] = (),
    prompts: tuple[str, ...] = (),
    categories: tuple[str, ...] = (),
    **columns: ArrayLike,
) -> Votes:
    """Votes from columns; a column left out is unknown in every row."""
    size = len(np.asarray(left))
    filled = {}
    for name, (default, dtype) in COLUMN_DEFAULTS.items():
        given = columns.pop(name, None)
        filled[name] = np.full(size, default, dtype) if given is None else np.asarray(given, dtype)
    if columns:
        raise TypeError(f"Votes have no column {', '.join(sorted(columns))}.")
    return Votes(
        entrants=tuple(entrants),
        judges=tuple(judges),
        prompts=tuple(prompts),
        categories=tuple(categories),
        left=np.asarray(left, np.int32),
        right=np.asarray(right, np.int32),
        outcome=np.asarray(outcome, np.int8),
        **filled,
    )


def standing_votes(votes: Votes, *, until: float | None = None) -> Votes:
    """The votes that stood at a time (seconds since 1970), or stand now; a vote with no time has no past.

    Votes on pairs that a curator picked stand nowhere: what was voted before chose them, so they would bend every figure.
    """
    if until is None:
        stands = votes.withdrawn == np.inf
    else:
        stands = (votes.time <= until) & (votes.withdrawn > until)
    stands &= votes.kind != PICKED
    return votes if bool(stands.all()) else votes.take(stands)


def without_judges(votes: Votes, names: Collection[str]) -> Votes:
    """The votes of all but these judges, who then stand in no table of names."""
    out = [number for number, name in enumerate(votes.judges) if name in names]
    return without_unseen(votes.take(~np.isin(votes.judge, out))) if out else votes


def only_judges(votes: Votes, names: Collection[str]) -> Votes:
    """The votes of these judges, and their names alone."""
    kept = [number for number, name in enumerate(votes.judges) if name in names]
    return without_unseen(votes.take(np.isin(votes.judge, kept)))


def in_order_of_time(votes: Votes) -> Votes:
    """The same votes, earliest first; those of one moment, and all if their times are unknown, as they came."""
    later = votes.time[1:] < votes.time[:-1]
    return votes.take(np.argsort(votes.time, kind="stable")) if later.any() else votes


def without_unseen(votes: Votes) -> Votes:
    """Name tables without entrants, judges and categories that no vote mentions."""
    changed: dict[str, Any] = {}
    for table, columns in (
        ("entrants", ("left", "right")),
        ("judges", ("judge",)),
        ("prompts", ("prompt",)),
        ("categories", ("category",)),
    ):
        names = getattr(votes, table)
        used = _mentioned([getattr(votes, column) for column in columns], len(names))
        if used[:-1].all():
            continue
        number = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        number[-1] = -1
        changed[table] = tuple(name for name, keep in zip(names, used, strict=False) if keep)
        changed |= {column: number[getattr(votes, column)] for column in columns}
    return replace(votes, **changed) if changed else votes


def _mentioned(columns: list[NDArray[Any]], names: int) -> NDArray[Any]:
    """Which names [names + 1] stand in these columns; the last place is for none. Looks no further once all of them do."""
    used = np.zeros(names + 1, bool)
    for column in columns:
        for here in portions(len(column)):
            if used[:-1].all():
                return used
            used[column[here]] = True
    return used


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
    _codes: dict[int, NDArray[Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def codes(self, size: int) -> NDArray[Any]:
        """The place of each cell in a table [K, K, 4] of `size` entrants, flattened; worked out once."""
        if size not in self._codes:
            code = self.left.astype(np.int64)
            code *= size
            code += self.right
            code *= 4
            code += self.outcome
            self._codes[size] = code
        return self._codes[size]


@dataclass(frozen=True)
class Tallies:
    """All that ratings and their intervals need: cells by judge and cells by prompt, repeats left out.

    - `by_judge.n` counts votes; `weights[j]` (0 to 1) says how much a vote of judge j counts.
    - `by_prompt.n` must already hold the *weighted* number of votes where weights are in force.
    - `activity[j]`: the class of judge j by number of votes, repeats too (`activity_class`), the same as in `by_prompt.activity`.
    - `homes[j]`: the category in which judge j votes nearly always (`home_categories`), where `by_judge` no longer tells it.
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

    @property
    def judge_homes(self) -> NDArray[Any]:
        if self.homes is not None:
            return self.homes
        return home_categories(self.by_judge, len(self.judges), len(self.categories))

    @property
    def prompt_homes(self) -> NDArray[Any]:
        return home_categories(self.by_prompt, len(self.prompts), len(self.categories))


HOME_SHARE = 0.75  # of a group's votes that make a category its home


def home_categories(cells: Cells, groups: int, categories: int) -> NDArray[Any]:
    """The category [groups] in which nearly all votes of each judge (or prompt) are; -1 where they are in several."""
    if categories < 2:
        return np.full(groups, -1)
    votes = votes_by_category(cells, groups, categories)
    top = votes.argmax(0)
    return np.where(votes[top, np.arange(groups)] > HOME_SHARE * votes.sum(0), top, -1)


def votes_by_category(cells: Cells, groups: int, categories: int) -> NDArray[Any]:
    """Votes [categories, groups] of each judge (or prompt) in each category; those of an unknown one are left out."""

    def place_of(here: slice) -> NDArray[Any]:
        return (cells.category[here] + 1).astype(np.int64) * (groups + 1) + cells.cluster[here] + 1

    votes = count_cells_at(cells.n, len(cells.left), (categories + 1) * (groups + 1), place_of)
    return votes.reshape(categories + 1, groups + 1)[1:, 1:]


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


def pool_categories(tallies: Tallies) -> Tallies:
    """The same votes of all categories together, where that leaves far fewer cells by judge."""
    cells = tallies.by_judge
    of_none = np.broadcast_to(np.int32(-1), cells.category.shape)
    pooled = grouped_cells(replace(cells, category=of_none))
    return replace(tallies, by_judge=pooled, homes=tallies.judge_homes)


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
