"""Votes as integer columns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking.statistics.grouping import portions

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
