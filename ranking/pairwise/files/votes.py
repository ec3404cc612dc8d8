"""Reading votes.jsonl and votes.csv into columns: fast on good lines, exact about bad ones."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchsite.lib.file_errors import FileError, unreadable
from benchsite.lib.json_lines import CHUNK, JsonError, json_chunks, read_json, text_file
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import csv_uncell
from judging.files.vote_lines import REQUIRED, vote_fault
from ranking.pairwise.files.vote_columns import NameNumbers, columns_of
from ranking.statistics.votes import Votes, make_votes


@dataclass(frozen=True)
class ReadVotes:
    """What a file held: all its votes (also withdrawn ones), and the bad lines passed over."""

    votes: Votes
    skipped: tuple[FileError, ...] = ()


def read_votes(path: Path, *, skip_bad: bool = False, progress: Progress = unwatched) -> ReadVotes:
    """Votes of a .jsonl or .csv file; raises FileError at the first bad line, or counts them with `skip_bad`."""
    try:
        with text_file(path) as file:
            chunks = csv_chunks(file, path) if path.suffix.lower() == ".csv" else json_chunks(file, str(path))
            size = path.stat().st_size
            return _collect(chunks, path, skip_bad=skip_bad, chunk_read=lambda: progress(file.buffer.tell(), size))
    except OSError as error:
        raise unreadable(path, error) from error


def csv_chunks(file: Any, path: Path) -> Iterator[tuple[list[int], list[Any]]]:
    """The same from CSV: cells as JSON values, formula guards taken off, empty cells as unknown."""
    reader = csv.DictReader(file, strict=True)
    try:
        header = reader.fieldnames or []
    except csv.Error as error:
        raise FileError(str(path), 1, "", str(error)) from error
    missing = [name for name in REQUIRED if name not in header]
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
        "left_model": NameNumbers(optional=False),
        "judge": NameNumbers(optional=True),
        "prompt_text": NameNumbers(optional=True),
        "category": NameNumbers(optional=True),
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
    fault = vote_fault(row)
    return FileError(str(path), line, fault.field, fault.message) if fault else None


def _join(parts: list[dict[str, Any]], tables: dict[str, NameNumbers]) -> Votes:
    empty: dict[str, Any] = {"left": [], "right": [], "outcome": []}
    joined: dict[str, Any] = (
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else empty
    )
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
