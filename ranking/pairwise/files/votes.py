"""Reading votes.jsonl and votes.csv into columns: fast on good lines, exact about bad ones."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchsite.lib.file_errors import FileError
from benchsite.lib.json_lines import FAST, JsonError, json_type, read_json, read_object
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import csv_uncell
from ranking.pairwise.files.vote_columns import (
    KIND_NUMBERS,
    Names,
    columns_of,
    durations,
    name_fault,
    times_of,
    whole_numbers,
    withdrawals,
)
from ranking.statistics.votes import KINDS, OUTCOMES, Votes, make_votes

__all__ = [
    "ReadVotes",
    "json_chunks",
    "name_fault",
    "read_votes",
    "row_fault",
]

CHUNK = 250  # lines read at a time: many enough for columns to pay, few enough to stay in the processor's cache


@dataclass(frozen=True)
class ReadVotes:
    """What a file held: all its votes (also withdrawn ones), and the bad lines passed over."""

    votes: Votes
    skipped: tuple[FileError, ...] = ()


def read_votes(path: Path, *, skip_bad: bool = False, progress: Progress = unwatched) -> ReadVotes:
    """Votes of a .jsonl or .csv file; raises FileError at the first bad line, or counts them with `skip_bad`."""
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            chunks = csv_chunks(file, path) if path.suffix.lower() == ".csv" else json_chunks(file, path)
            size = path.stat().st_size
            return _collect(chunks, path, skip_bad=skip_bad, chunk_read=lambda: progress(file.buffer.tell(), size))
    except OSError as error:
        raise FileError(str(path), 0, "", error.strerror or "cannot be read") from error


def json_chunks(file: Any, path: Path) -> Iterator[tuple[list[int], list[Any]]]:
    """Lists of line numbers and parsed lines; a line that is no JSON object becomes its FileError."""
    scan = FAST.scan_once
    first = 1
    while lines := list(islice(file, CHUNK)):
        numbers, rows = list(range(first, first + len(lines))), []
        try:
            for line in lines:
                row, end = scan(line, 0)
                if line[end:] != "\n" and line[end:].strip():
                    raise ValueError("more than one value")
                rows.append(row)
        except (ValueError, StopIteration, RecursionError):
            pairs = [(n, _parse_line(line, n, path)) for n, line in zip(numbers, lines, strict=True) if line.strip()]
            numbers, rows = [n for n, _ in pairs], [row for _, row in pairs]
        first += len(lines)
        yield numbers, rows


def _parse_line(line: str, number: int, path: Path) -> Any:
    try:
        return read_object(line, decoder=FAST)
    except JsonError as error:
        return FileError(str(path), number, "", str(error))


def csv_chunks(file: Any, path: Path) -> Iterator[tuple[list[int], list[Any]]]:
    """The same from CSV: cells as JSON values, formula guards taken off, empty cells as unknown."""
    reader = csv.DictReader(file, strict=True)
    try:
        header = reader.fieldnames or []
    except csv.Error as error:
        raise FileError(str(path), 1, "", str(error)) from error
    missing = [name for name in ("left_model", "right_model", "outcome") if name not in header]
    if header and missing:
        raise FileError(str(path), 1, missing[0], "is missing from the header")
    numbers: list[int] = []
    rows: list[Any] = []
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            numbers.append(reader.line_num)
            rows.append(FileError(str(path), reader.line_num, "", str(error)))
            continue
        numbers.append(reader.line_num)
        rows.append({key: _csv_value(key, cell) for key, cell in cells.items() if key and isinstance(cell, str)})
        if len(rows) == CHUNK:
            yield numbers, rows
            numbers, rows = [], []
    yield numbers, rows


def _csv_value(key: str, cell: str) -> Any:
    if key in ("left_attempt", "right_attempt", "response_ms"):
        try:
            return read_json(cell) if cell else None
        except JsonError:
            return cell
    return csv_uncell(cell)


def _collect(
    chunks: Iterator[tuple[list[int], list[Any]]], path: Path, *, skip_bad: bool, chunk_read: Callable[[], None]
) -> ReadVotes:
    tables = {
        "left_model": Names(optional=False),
        "judge": Names(optional=True),
        "prompt_text": Names(optional=True),
        "category": Names(optional=True),
    }
    parts: list[dict[str, Any]] = []
    skipped: list[FileError] = []
    for numbers, rows in chunks:
        chunk_read()
        known = {name: len(table.names) for name, table in tables.items()}
        try:
            parts.append(columns_of(rows, tables))
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
            for name, table in tables.items():
                table.forget(known[name])
            faults = [row_fault(row, line, path) for line, row in zip(numbers, rows, strict=True)]
            bad = [fault for fault in faults if fault]
            if not skip_bad or not bad:
                raise bad[0] if bad else AssertionError("a chunk failed with no bad line") from None
            skipped += bad
            parts.append(columns_of([row for row, fault in zip(rows, faults, strict=True) if not fault], tables))
    return ReadVotes(_join(parts, tables), tuple(skipped))


def row_fault(row: Any, line: int, path: Path) -> FileError | None:
    """The first thing wrong with one row, in words; None for a good row."""
    if isinstance(row, FileError):
        return row
    for field, fault in _faults(row):
        if fault:
            return FileError(str(path), line, field, fault)
    return None


def _faults(row: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(row, dict):
        yield "", f"is {json_type(row)}, not a JSON object"
        return
    for field in ("left_model", "right_model"):
        yield field, name_fault(row[field]) if field in row else "is missing"
    if row["left_model"] == row["right_model"]:
        yield "right_model", f"{row['left_model']!r} cannot be compared with itself"
    yield "outcome", _choice_fault(row, "outcome", OUTCOMES) if "outcome" in row else "is missing"
    if row.get("kind"):
        yield "kind", _choice_fault(row, "kind", KINDS)
    for field in ("judge", "prompt_text", "category"):
        yield field, name_fault(row[field]) if row.get(field) not in (None, "") else ""
    for field, check in (
        ("kind", lambda value: KIND_NUMBERS[value]),
        ("left_attempt", lambda value: whole_numbers([value])),
        ("right_attempt", lambda value: whole_numbers([value])),
        ("response_ms", lambda value: durations([value])),
        ("voted_at", lambda value: times_of([value])),
        ("withdrawn", lambda value: withdrawals([value])),
    ):
        yield field, _try(check, row.get(field), EXPECTED[field])


EXPECTED = {
    "kind": f"must be one of {', '.join(KINDS)}",
    "left_attempt": "must be a whole number, 0 or more",
    "right_attempt": "must be a whole number, 0 or more",
    "response_ms": "must be a number of milliseconds, 0 or more",
    "voted_at": "must be a time such as 2026-05-01T12:00:00Z",
    "withdrawn": "must be true, false, or the time of withdrawal",
}


def _try(check: Any, value: Any, expected: str) -> str:
    try:
        check(value)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return f"{expected}, not {str(value)[:40]!r}"
    return ""


def _choice_fault(row: dict[str, Any], field: str, choices: tuple[str, ...]) -> str:
    value = row[field]
    known = isinstance(value, str) and value in choices
    return "" if known else f"must be one of {', '.join(choices)}, not {str(value)[:40]!r}"


def _join(parts: list[dict[str, Any]], tables: dict[str, Names]) -> Votes:
    empty = {"left": [], "right": [], "outcome": []}
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else empty
    names = {}
    for table, field, columns in (
        ("entrants", "left_model", ("left", "right")),
        ("judges", "judge", ("judge",)),
        ("prompts", "prompt_text", ("prompt",)),
        ("categories", "category", ("category",)),
    ):
        names[table], number = _sorted_names(tables[field].names)
        for column in columns:
            joined[column] = number[joined[column]] if len(joined["left"]) else joined["left"]
    return make_votes(**names, **joined)


def _sorted_names(names: list[str]) -> tuple[tuple[str, ...], Any]:
    """Names in order and the new number of each old one, so that a file's line order changes no result."""
    order = sorted(range(len(names)), key=names.__getitem__)
    number = np.full(len(names) + 1, -1, np.int32)  # the last place is "unknown", reached as -1
    number[order] = np.arange(len(names))
    return tuple(names[i] for i in order), number
