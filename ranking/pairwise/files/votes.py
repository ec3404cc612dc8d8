"""Reading files of votes into columns: fast on good rows, exact about bad ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchsite.lib.file_errors import FileError
from benchsite.lib.progress_bar import Progress, unwatched
from judging.files.conventions import OURS, Convention
from judging.files.vote_files import Mapped, VoteFile, open_votes
from judging.files.vote_lines import vote_fault
from ranking.pairwise.files.parquet_columns import batch_columns, batch_fields
from ranking.pairwise.files.vote_columns import NameNumbers, columns_of
from ranking.statistics.grouping import portions
from ranking.statistics.votes import Votes, make_votes


@dataclass(frozen=True)
class ReadVotes:
    """What a file held: all its votes (also withdrawn ones), the bad lines passed over, and how many rows were no vote."""

    votes: Votes
    skipped: tuple[FileError, ...] = ()
    unanswered: int = 0


NAME_COLUMNS = (  # name table, field, columns
    ("entrants", "left_model", ("left", "right")),
    ("judges", "judge", ("judge",)),
    ("prompts", "prompt_text", ("prompt",)),
    ("categories", "category", ("category",)),
)
NOT_COLUMNS = (TypeError, ValueError, KeyError, AttributeError, OverflowError, NotImplementedError)  # the last: lists


class _Held:
    """Columns and names so far."""

    def __init__(self) -> None:
        self.tables = {
            "left_model": NameNumbers(optional=False),
            "judge": NameNumbers(optional=True),
            "prompt_text": NameNumbers(optional=True),
            "category": NameNumbers(optional=True),
        }
        self.columns: dict[str, Any] = {}  # longer than the rows so far, whose end nobody has touched
        self.rows = 0
        self.skipped: list[FileError] = []
        self.unanswered = 0

    def add(self, part: dict[str, Any]) -> None:
        """Rows, column by column. Columns grow by doubling, so that none is held twice when the file ends."""
        rows = self.rows + len(part["left"])
        for name, values in part.items():
            column = self.columns.get(name, values[:0])
            if rows > len(column):
                longer = np.empty(max(rows, 2 * len(column)), values.dtype)
                longer[: self.rows] = column[: self.rows]
                self.columns[name] = column = longer
            column[self.rows : rows] = values
        self.rows = rows

    def known(self) -> dict[str, int]:
        return {name: len(table.names) for name, table in self.tables.items()}

    def forget(self, known: dict[str, int]) -> None:
        for name, table in self.tables.items():
            table.forget(known[name])

    def joined(self) -> Votes:
        columns = {name: column[: self.rows] for name, column in self.columns.items()}
        columns = columns or dict.fromkeys(("left", "right", "outcome"), np.zeros(0, np.int8))
        names = {}
        for table, field, numbered in NAME_COLUMNS:
            names[table], number = _sorted_names(self.tables[field].names)
            for column in (columns[name] for name in numbered if name in columns):
                for here in portions(self.rows):
                    column[here] = number[column[here]]
        return make_votes(**names, **columns)


def read_votes(
    path: Path, *more: Path, skip_bad: bool = False, mapped: Mapped | None = None, progress: Progress = unwatched
) -> ReadVotes:
    """Votes of files of any maker; raises FileError at the first bad line, or counts them with `skip_bad`."""
    held = _Held()
    for each in (path, *more):
        with open_votes(each, mapped=mapped, progress=progress) as file:
            _collect(file, each, held, skip_bad=skip_bad)
            held.unanswered += file.unanswered
    return ReadVotes(held.joined(), tuple(held.skipped), held.unanswered)


def _collect(file: VoteFile, path: Path, held: _Held, *, skip_bad: bool) -> None:
    for numbers, rows, group in file.chunks:
        if group is None:
            _add(file, numbers, rows, path, held, skip_bad=skip_bad)
            continue
        first = numbers[0] + 1
        for batch in group.batches(file.convention.read or batch_fields(group)):
            known = held.known()
            try:
                held.add(batch_columns(batch, file.convention, held.tables))
            except NOT_COLUMNS:
                held.forget(known)
                _add(file, list(range(first, first + len(batch))), batch.to_pylist(), path, held, skip_bad=skip_bad)
            first += len(batch)


def _add(file: VoteFile, numbers: list[int], raw: list[Any], path: Path, held: _Held, *, skip_bad: bool) -> None:
    numbers, rows = (numbers, raw) if file.convention.is_ours else file.converted(numbers, raw)
    known = held.known()
    try:
        held.add(columns_of(rows, held.tables))
    except NOT_COLUMNS:
        held.forget(known)
        faults = [row_fault(row, n, path, file.convention) for n, row in zip(numbers, rows, strict=True)]
        bad = [fault for fault in faults if fault]
        if not skip_bad or not bad:
            raise bad[0] if bad else AssertionError("a chunk failed with no bad line") from None
        held.skipped += bad
        held.add(columns_of([row for row, fault in zip(rows, faults, strict=True) if not fault], held.tables))


def row_fault(row: Any, line: int, path: Path, convention: Convention = OURS) -> FileError | None:
    """The first thing wrong with one row, in the file's own words; None for a good row."""
    if isinstance(row, FileError):
        return row
    fault = vote_fault(row)
    if not fault:
        return None
    fault = convention.fault(fault, row)
    return FileError(str(path), line, fault.field, fault.message)


def _sorted_names(names: list[str]) -> tuple[tuple[str, ...], Any]:
    """Names in order and the new number of each old one, so that a file's line order changes no result."""
    order = sorted(range(len(names)), key=names.__getitem__)
    number = np.full(len(names) + 1, -1, np.int32)  # the last place is "unknown", reached as -1
    number[order] = np.arange(len(names))
    return tuple(names[i] for i in order), number
