"""A batch of a Parquet file as columns of votes: each name is looked up once, and no row is ever made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from judging.files.conventions import NOT_TAKEN_BACK, Convention, prompt_of
from judging.files.vote_lines import OPTIONAL, REQUIRED
from ranking.pairwise.files.vote_columns import KIND_NUMBERS, NAMED, NameNumbers, durations, times_of, withdrawals
from ranking.statistics.votes import OUTCOME_NUMBERS


def batch_fields(group: Any) -> list[str]:
    """Which of our own columns the file has."""
    names = set(group.file.schema_arrow.names)
    return [name for name in (*REQUIRED, *OPTIONAL) if name in names]


def batch_columns(batch: Any, convention: Convention, tables: Mapping[str, NameNumbers]) -> dict[str, Any]:
    """Raises some error at anything unusual; the rows, one by one, then say what it is."""
    if convention.outcome_of:
        raise ValueError("outcomes are read row by row")
    names = convention.columns or {name: name for name in batch.schema.names}
    cells = {ours: batch.column(theirs) for ours, theirs in names.items() if theirs in batch.schema.names}
    rows = len(batch)
    columns = {
        column: _named(
            cells[field], tables[table], prompt_of if field == "prompt_text" else None, numbered=field == "judge"
        )
        if field in cells
        else _unknown(tables[table], rows)
        for column, field, table in NAMED
    }
    if (columns["left"] == columns["right"]).any():
        raise ValueError("an entrant against itself")
    outcomes = {name: OUTCOME_NUMBERS[ours] for name, ours in convention.outcomes.items()} or OUTCOME_NUMBERS
    columns["outcome"] = _looked_up(cells["outcome"], outcomes.__getitem__, np.int8)
    kinds = _looked_up(cells["kind"], KIND_NUMBERS.__getitem__, np.int8) if "kind" in cells else None
    columns["kind"] = np.zeros(rows, np.int8) if kinds is None else kinds
    for name in ("left_attempt", "right_attempt"):
        columns[name] = _attempts(cells[name]) if name in cells else np.full(rows, -1, np.int32)
    pace = _numbers(cells["response_ms"]) if "response_ms" in cells else None
    columns["response_ms"] = durations([None] * rows) if pace is None else pace
    columns["time"] = _times(cells["voted_at"]) if "voted_at" in cells else np.full(rows, np.nan)
    columns["withdrawn"] = _withdrawn(cells.get("withdrawn"), rows, ours=convention.is_ours)
    return columns


def _encoded(array: Any) -> tuple[list[Any], Any]:
    """The different values, and the number of each row's; -1 where it is empty."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    numbers = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return array.dictionary.to_pylist(), numbers.astype(np.int64, copy=False)


def _looked_up(array: Any, look_up: Callable[[Any], Any], kind: Any) -> Any:
    values, numbers = _encoded(array)
    empty = [look_up(None)] if len(numbers) and numbers.min() < 0 else [0]
    return np.array([look_up(value) for value in values] + empty, kind)[numbers]


def _named(array: Any, table: NameNumbers, words: Callable[[Any], Any] | None, *, numbered: bool) -> Any:
    """`numbered`: a judge may be a number; a model that is one is a fault."""
    import pyarrow as pa

    if words and not (pa.types.is_string(array.type) or pa.types.is_dictionary(array.type)):
        array = pa.array([words(value) for value in array.to_pylist()], pa.string())
        words = None
    if pa.types.is_integer(array.type) and numbered:
        array = array.cast(pa.string())
    look_up = table.__getitem__
    return _looked_up(array, (lambda value: look_up(words(value))) if words else look_up, np.int32)


def _unknown(table: NameNumbers, rows: int) -> Any:
    return np.full(rows, table[None], np.int32)


def _numbers(array: Any) -> Any:
    import pyarrow as pa

    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        raise TypeError("not numbers")
    numbers = array.cast(pa.float64()).fill_null(math.nan).to_numpy(zero_copy_only=False)
    if ((numbers < 0) | (numbers > 1e12)).any():
        raise ValueError("not a duration")
    return numbers


def _attempts(array: Any) -> Any:
    numbers = _numbers(array)
    whole = np.where(np.isnan(numbers), -1, numbers)
    if (whole != np.floor(whole)).any() or (whole >= 2**31).any():
        raise ValueError("not whole numbers")
    return whole.astype(np.int32)


def _times(array: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_timestamp(array.type):
        moments = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64())
        seconds = moments.fill_null(0).to_numpy(zero_copy_only=False) / 1e6
        return np.where(array.is_null().to_numpy(zero_copy_only=False), np.nan, seconds)
    return _numbers(array) if pa.types.is_floating(array.type) else times_of(array.to_pylist())


def _withdrawn(array: Any, rows: int, *, ours: bool) -> Any:
    if array is None:
        return np.full(rows, math.inf)
    if ours:
        return withdrawals(array.to_pylist())
    stands = {None, "", NOT_TAKEN_BACK}
    return _looked_up(array, lambda reason: math.inf if reason in stands else -math.inf, np.float64)
