"""A chunk of parsed vote lines as integer columns: fast, and strict enough that a bad row never passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

import numpy as np

from benchsite.lib.times import parse_time
from judging.files import vote_lines
from judging.files.vote_lines import OPTIONAL, REQUIRED, name_fault
from ranking.statistics.votes import KINDS, OUTCOME_NUMBERS

KIND_NUMBERS = {None: 0, "": 0} | {name: number for number, name in enumerate(KINDS)}
WITHDRAWN: dict[str | bool | None, float] = {None: math.inf, False: math.inf, True: -math.inf}
WITHDRAWN |= {word: WITHDRAWN[meant] for word, meant in vote_lines.WITHDRAWN.items()}
FIELDS = (*REQUIRED, *OPTIONAL)
PICK = itemgetter(*FIELDS)
UNKNOWN = dict.fromkeys(OPTIONAL)
NAMED = (  # column, field, name table
    ("left", "left_model", "left_model"),
    ("right", "right_model", "left_model"),
    ("judge", "judge", "judge"),
    ("prompt", "prompt_text", "prompt_text"),
    ("category", "category", "category"),
)


class NameNumbers(dict[Any, int]):
    """Numbers names in order of first sight; refuses what is no name, at the cost of one check a name."""

    def __init__(self, *, optional: bool) -> None:
        super().__init__({None: -1, "": -1} if optional else {})
        self.names: list[str] = []

    def __missing__(self, name: Any) -> int:
        fault = name_fault(name)
        if fault:
            raise ValueError(fault)
        self[name] = number = len(self.names)
        self.names.append(name)
        return number

    def forget(self, kept: int) -> None:
        """Take back all names after the first `kept`."""
        for name in self.names[kept:]:
            del self[name]
        del self.names[kept:]


def columns_of(rows: list[Any], tables: dict[str, NameNumbers]) -> dict[str, Any]:
    """A chunk of good rows as columns; raises some error at any bad row, which `row_fault` then names."""
    try:
        cells = (
            dict(zip(FIELDS, zip(*map(PICK, rows), strict=True), strict=True)) if rows else dict.fromkeys(FIELDS, ())
        )
    except KeyError:  # only three fields are required; the others are unknown where they are missing
        full = [UNKNOWN | row for row in rows]
        cells = dict(zip(FIELDS, zip(*map(PICK, full), strict=True), strict=True))
    columns = {
        column: np.fromiter(map(tables[table].__getitem__, cells[field]), np.int32, len(rows))
        for column, field, table in NAMED
    }
    if (columns["left"] == columns["right"]).any():
        raise ValueError("an entrant against itself")
    columns["outcome"] = np.fromiter(map(OUTCOME_NUMBERS.__getitem__, cells["outcome"]), np.int8, len(rows))
    columns["kind"] = np.fromiter(map(KIND_NUMBERS.__getitem__, cells["kind"]), np.int8, len(rows))
    columns["left_attempt"], columns["right_attempt"] = (
        whole_numbers(cells["left_attempt"]),
        whole_numbers(cells["right_attempt"]),
    )
    columns["response_ms"] = durations(cells["response_ms"])
    columns["time"] = times_of(cells["voted_at"])
    columns["withdrawn"] = withdrawals(cells["withdrawn"])
    return columns


def whole_numbers(values: Sequence[Any]) -> Any:
    kinds = set(map(type, values))
    if kinds - {int, type(None)}:
        raise TypeError("not whole numbers")
    if None in values:
        known = np.array([value is not None for value in values], bool)
        numbers = np.full(len(values), -1, np.int32)
        numbers[known] = whole_numbers([value for value in values if value is not None])
        return numbers
    numbers = np.fromiter(values, np.int32, len(values))
    if (numbers < 0).any():
        raise ValueError("negative")
    return numbers


def durations(values: Sequence[Any]) -> Any:
    kinds = set(map(type, values))
    if kinds - {int, float, type(None)}:
        raise TypeError("not numbers")
    if None in values:
        values = [math.nan if value is None else value for value in values]
    numbers = np.fromiter(values, np.float64, len(values))
    if ((numbers < 0) | (numbers > 1e12)).any():
        raise ValueError("not a duration")
    return numbers


def times_of(values: Sequence[Any]) -> Any:
    try:
        moments = list(map(datetime.fromisoformat, values))
        if None not in {moment.tzinfo for moment in moments}:
            return np.fromiter(map(datetime.timestamp, moments), np.float64, len(moments))
    except (TypeError, ValueError):
        pass
    known = [parse_time(value).timestamp() if value not in (None, "") else math.nan for value in values]
    return np.array(known, np.float64)


def withdrawals(values: Sequence[Any]) -> Any:
    kinds = set(map(type, values))
    if kinds - {bool, str, type(None)}:
        raise TypeError("neither true, false nor a time")
    try:
        return np.fromiter(map(WITHDRAWN.__getitem__, values), np.float64, len(values))
    except KeyError:
        return np.array([WITHDRAWN[v] if v in WITHDRAWN else parse_time(v).timestamp() for v in values], np.float64)
