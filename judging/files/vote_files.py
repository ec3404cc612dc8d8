"""Files of votes of any maker: JSON Lines, CSV or TSV, Parquet, or a list in JSON; rows in chunks, with their numbers."""

from __future__ import annotations

import csv
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any, TextIO

from benchsite.lib.file_errors import BadField, BadLine, FileError, unreadable
from benchsite.lib.json_lines import CHUNK, LONGEST_LINE, JsonError, json_chunks, json_type, read_json, text_file
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import csv_uncell
from judging.files.conventions import Convention, convention_of
from judging.files.label_studio import annotated_rows
from judging.files.parquet import ParquetRows, open_parquet
from judging.files.vote_lines import REQUIRED, VoteLine, vote_line

Chunk = tuple[
    list[int], list[Any], Any
]  # numbers, rows (or their faults), and of Parquet the batch, whose rows are not made yet
EXAMPLES = {"column": "left_model=first", "outcome": "left=1"}
BATCH = 65_536
TABLES, SPREADSHEETS = (".csv", ".tsv"), (".xlsx", ".xls", ".ods")
DIVIDERS = ",;\t|"  # of columns: a comma, or what programs write where the comma is in numbers
LARGEST_JSON = 1 << 30
LARGEST_STRANGE_JSON = 1 << 25  # of a stranger: as objects it takes up to 24 times as many bytes
LARGEST_UNPACKED = 1 << 28  # bytes of a stranger's Parquet file, as JSON: some two million votes
NUMBERS = {"left_attempt", "right_attempt", "response_ms", "attempt_a", "attempt_b"}


@dataclass(frozen=True)
class Mapped:
    """What the caller says of a file's columns: our field to its name, and its words for outcomes to ours."""

    columns: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, columns: Iterable[str], outcomes: Iterable[str]) -> Mapped:
        """From `left_model=NAME` and `left=WORD`, as a command's flags or a form's lines say it; raises ValueError."""
        columns, outcomes = ([text.strip() for text in given if text.strip()] for given in (columns, outcomes))
        for kind, given in {"column": columns, "outcome": outcomes}.items():
            if wrong := next((text for text in given if not all(text.partition("=")[::2])), ""):
                raise ValueError(f"{wrong!r} is no {kind}: write OURS=THEIRS, such as {EXAMPLES[kind]}.")
        ours = dict(text.split("=", 1) for text in columns)
        return cls(ours, {theirs: word for word, theirs in (text.split("=", 1) for text in outcomes)})


def add_mapping(parser: ArgumentParser) -> None:
    """The flags of commands for files with other columns."""
    columns = "our field and the file's column, such as left_model=first; may be repeated"
    outcomes = "our outcome (left, right, tie, fail) and the file's word, such as left=1; may be repeated"
    parser.add_argument("--column", action="append", default=[], metavar="OURS=THEIRS", help=columns)
    parser.add_argument("--outcome", action="append", default=[], metavar="OURS=THEIRS", help=outcomes)


@dataclass
class VoteFile:
    """An open file: whose columns it has, its rows, and how many of those read so far hold no vote."""

    convention: Convention
    chunks: Iterator[Chunk]
    unanswered: int = 0

    def converted(self, numbers: Sequence[int], rows: list[Any]) -> tuple[list[int], list[Any]]:
        """The rows that hold a vote, in our fields, and their numbers."""
        none = self.convention.unanswered
        kept = [not (none and isinstance(row, dict) and none(row)) for row in rows]
        self.unanswered += len(rows) - sum(kept)
        return list(compress(numbers, kept)), [self.convention.converted(row) for row in compress(rows, kept)]


def left_out(rows: int) -> str:
    return f"{rows:,} {'rows hold' if rows > 1 else 'row holds'} no vote and {'were' if rows > 1 else 'was'} left out."


@contextmanager
def open_votes(
    path: Path, *, mapped: Mapped | None = None, bounded: bool = False, progress: Progress = unwatched
) -> Iterator[VoteFile]:
    """Raises FileError for what cannot be read at all; rows that are no rows come as their FileError.

    With `bounded` neither a line nor a file of JSON can fill the memory: what is cut off is refused as too long.
    """
    try:
        kind = path.suffix.lower()
        if kind in SPREADSHEETS:
            raise FileError(str(path), 0, "", "is a spreadsheet; save it as CSV")
        if kind == ".parquet" and bounded:
            with open_parquet(path) as file:
                yield _opened(path, file.names, iter([([0], [], _Strangers(file))]), mapped)
        elif kind == ".parquet":
            with _parquet(path) as (names, chunks):
                yield _opened(path, names, chunks, mapped)
        elif kind == ".json":
            names, chunks = _json(path, largest=LARGEST_STRANGE_JSON if bounded else LARGEST_JSON)
            yield _opened(path, names, chunks, mapped)
        else:
            size = path.stat().st_size
            with text_file(path) as stream:
                lines, is_table = _bounded(stream) if bounded else stream, kind in TABLES
                names, rows = _csv(stream, path) if is_table else _lines(lines, path)
                opened = _opened(path, names, _watched(rows, stream, size, progress), mapped)
                missing = [name for name in REQUIRED if name not in names]
                if is_table and names and missing and opened.convention.is_ours:
                    raise FileError(str(path), 1, missing[0], "is missing from the header")
                yield opened
    except OSError as error:
        raise unreadable(path, error) from error


def _opened(path: Path, names: list[str], chunks: Iterator[Chunk], mapped: Mapped | None) -> VoteFile:
    mapped = mapped or Mapped()
    try:
        return VoteFile(convention_of(names, mapped.columns, mapped.outcomes), chunks)
    except BadField as bad:
        raise FileError(str(path), 0, bad.field, bad.message) from None


def _watched(chunks: Iterator[Chunk], stream: Any, size: int, progress: Progress) -> Iterator[Chunk]:
    for chunk in chunks:
        progress(stream.buffer.tell(), size)
        yield chunk


def _bounded(stream: TextIO) -> Iterator[str]:
    while line := stream.readline(LONGEST_LINE + 1):
        yield line


def _lines(stream: Iterable[str], path: Path) -> tuple[list[str], Iterator[Chunk]]:
    chunks = json_chunks(stream, str(path))
    first = next(chunks, ([], []))
    names = next((list(row) for row in first[1] if isinstance(row, dict)), [])
    return names, ((numbers, rows, None) for numbers, rows in chain([first], chunks))


def _csv(stream: Any, path: Path) -> tuple[list[str], Iterator[Chunk]]:
    csv.field_size_limit(1 << 24)
    header = stream.readline(LONGEST_LINE)
    divider = max(DIVIDERS, key=header.count)
    reader = csv.DictReader(chain([header], stream), delimiter=divider, strict=True)
    try:
        names = list(reader.fieldnames or [])
        if any("\udc80" <= letter <= "\udcff" for name in names for letter in name):
            raise FileError(str(path), 1, "", "is not UTF-8 text; save the file as UTF-8")
        return names, _csv_chunks(reader, path)
    except csv.Error as error:
        raise FileError(str(path), 1, "", f"is not CSV ({error})") from error


def _csv_chunks(reader: csv.DictReader[str], path: Path) -> Iterator[Chunk]:
    """Cells as JSON values, formula guards taken off, empty cells as unknown."""
    numbers: list[int] = []
    rows: list[Any] = []
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            numbers.append(reader.line_num)
            rows.append(FileError(str(path), reader.line_num, "", f"is not CSV ({error})"))
            continue
        numbers.append(reader.line_num)
        rows.append({key: _csv_value(key, cell) for key, cell in cells.items() if key and isinstance(cell, str)})
        if len(rows) == CHUNK:
            yield numbers, rows, None
            numbers, rows = [], []
    yield numbers, rows, None


def _csv_value(key: str, cell: str) -> Any:
    if key in NUMBERS:
        try:
            number = read_json(cell) if cell else None
        except JsonError:
            return cell
        # What pandas writes for whole numbers in a column with gaps.
        return int(number) if isinstance(number, float) and number.is_integer() and key != "response_ms" else number
    return csv_uncell(cell)


@contextmanager
def _parquet(path: Path) -> Iterator[tuple[list[str], Iterator[Chunk]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
        # Names come as numbers into a list of them, as they are stored, and not as ten million texts.
        words = [column.name for column in schema if pa.types.is_string(column.type)]
        with pq.ParquetFile(path, read_dictionary=words) as file:
            yield list(schema.names), _batches(file)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise FileError(str(path), 0, "", f"is not a whole Parquet file ({str(error).splitlines()[0]})") from None


def _batches(file: Any) -> Iterator[Chunk]:
    """Row groups one by one; who reads asks a batch for the columns it wants, so that others are never made."""
    done = 0
    for group in range(file.num_row_groups):
        yield [done], [], _Group(file, group)
        done += file.metadata.row_group(group).num_rows


@dataclass(frozen=True)
class _Group:
    """Rows of a Parquet file that are not read yet."""

    file: Any
    number: int

    def batches(self, columns: list[str]) -> Iterator[Any]:
        yield from self.file.iter_batches(BATCH, row_groups=[self.number], columns=columns or None, use_threads=False)

    def lists(self, columns: list[str]) -> Iterator[list[dict[str, Any]]]:
        for batch in self.batches(columns):
            yield batch.to_pylist()


@dataclass(frozen=True)
class _Strangers:
    """All rows of a stranger's Parquet file."""

    file: ParquetRows

    def lists(self, columns: list[str]) -> Iterator[list[dict[str, Any]]]:
        rows = self.file.rows(columns, most=LARGEST_UNPACKED)
        while made := list(islice(rows, CHUNK)):
            yield made


def rows_of(file: VoteFile) -> Iterator[tuple[list[int], list[Any]]]:
    """Every row of a file in our fields."""
    for numbers, rows, group in file.chunks:
        if group is None:
            yield file.converted(numbers, rows)
            continue
        first = numbers[0] + 1
        for rows in group.lists(file.convention.read):
            yield file.converted(range(first, first + len(rows)), rows)
            first += len(rows)


def read_vote_lines(
    path: Path, *, mapped: Mapped | None = None, progress: Progress = unwatched
) -> tuple[list[VoteLine], VoteFile]:
    """Every vote of a file, and the file, which was read to its end; the first bad line refuses the file, by number.

    One judge's vote on the same drawings at the same moment is one vote: the second line with it refuses the file too.
    """
    lines: list[VoteLine] = []
    seen: dict[VoteLine, str] = {}
    try:
        with open_votes(path, mapped=mapped, bounded=True, progress=progress) as file:
            for numbers, rows in rows_of(file):
                for number, row in zip(numbers, rows, strict=True):
                    line = vote_line(row, path.name, number, words=file.convention.fault)
                    if line.judge and line.voted_at and (first := seen.setdefault(line, line.where)) != line.where:
                        raise line.bad(f"this repeats the vote of {first}")
                    lines.append(line)
    except BadLine:
        raise
    except FileError as error:  # an upload's own name, not where it is kept
        raise BadLine(path.name, error.line, error.field, error.message) from None
    if not lines:
        raise BadLine(path.name, 0, "", "it contains no votes")
    return lines, file


def _json(path: Path, *, largest: int) -> tuple[list[str], Iterator[Chunk]]:
    """A list of tasks as Label Studio exports them, or of plain records."""
    if path.stat().st_size > largest:
        raise FileError(str(path), 0, "", f"is over {largest} bytes; convert it to JSON Lines")
    try:
        tasks = read_json(path.read_text("utf-8-sig"))
    except (JsonError, UnicodeDecodeError) as error:
        raise FileError(str(path), 0, "", str(error)) from None
    if not isinstance(tasks, list):
        raise FileError(
            str(path),
            0,
            "",
            f"is {json_type(tasks)}, not a list of tasks or votes; JSON Lines are read from a .jsonl file",
        )
    numbers: list[int] = []
    rows: list[Any] = []
    for number, task in enumerate(tasks, start=1):
        for row in annotated_rows(task, path, number) if isinstance(task, dict) and "annotations" in task else [task]:
            numbers.append(number)
            rows.append(row)
    names = next((list(row) for row in rows if isinstance(row, dict)), [])
    return names, iter([(numbers, rows, None)])
