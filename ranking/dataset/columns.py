"""The columns of a published dataset: what each means, its type in Parquet, in Croissant, and in a data dictionary."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from generation.models import Run
    from ranking.dataset.study_answers import StudyAnswers

Rows = Iterator[dict[str, Any]]
# Our type: its name in Parquet's dictionary, and in Croissant.
TYPES = {
    "text": ("string", "sc:Text"),
    "whole": ("int64", "sc:Integer"),
    "number": ("float64", "sc:Float"),
    "flag": ("bool", "sc:Boolean"),
    "time": ("timestamp, UTC", "sc:DateTime"),
    "json": ("string of JSON", "sc:Text"),
}


@dataclass(frozen=True)
class Column:
    """One column; any of its cells may be empty."""

    name: str
    type: str
    says: str

    def in_parquet(self, value: Any) -> Any:
        return json.dumps(value, sort_keys=True) if self.type == "json" and value is not None else value

    def in_json(self, value: Any) -> Any:
        if self.type == "json" and value is not None:  # keys in one order, whatever database they come from
            return json.loads(self.in_parquet(value))
        return value.isoformat() if isinstance(value, datetime) else value


@dataclass(frozen=True)
class Table:
    """One kind of rows; `splits` says what is in each of its files, and a row's `split` key in which file it is."""

    name: str
    says: str
    columns: tuple[Column, ...]
    rows: Callable[[Published], Rows]
    splits: tuple[tuple[str, str], ...] = (("train", "all rows"),)

    @property
    def schema(self) -> pa.Schema:
        import pyarrow as pa

        types = {
            "text": pa.string(),
            "whole": pa.int64(),
            "number": pa.float64(),
            "flag": pa.bool_(),
            "time": pa.timestamp("us", "UTC"),
            "json": pa.string(),
        }
        return pa.schema([(column.name, types[column.type]) for column in self.columns])


def columns_of(**given: tuple[str, str]) -> tuple[Column, ...]:
    return tuple(Column(name, *words) for name, words in given.items())


@dataclass(frozen=True)
class Published:
    """A run on its way out: its judges by number, how much each counts, its leaderboards, and what judges said in studies."""

    run: Run
    judges: dict[int, str | None]  # by seat; null for the seat of votes that name nobody
    weights: dict[int, float]
    results: dict[str, Any]
    study_answers: StudyAnswers
