"""Rows of an archive on their way into tables: what does not fit is named by file, line and field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import Any, overload

from django.core.validators import slug_re
from django.db import DatabaseError, models, transaction

from benchsite.lib.file_errors import BadLine
from benchsite.lib.progress_bar import Progress
from generation.codes import ALPHABET
from generation.models import Run, Sample
from ranking.archive.reading import Opened

BATCH = 500
# What a database says when a row breaks a rule, and Python when a number is too large for it.
REFUSALS = (DatabaseError, OverflowError, ValueError)
NumberedRow = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Where:
    """A line being read, to say what is wrong with it."""

    member: str
    line: int
    row: dict[str, Any]

    def error(self, field: str, problem: str) -> BadLine:
        return BadLine(self.member, self.line, field, problem)

    def known(self, names: dict[str, int], field: str) -> int:
        return self.look_up(names, field, self.row[field])

    def known_or_null(self, names: dict[str, int], field: str) -> int | None:
        return None if self.row[field] is None else self.known(names, field)

    def look_up(self, names: dict[str, Any], field: str, key: str) -> Any:
        if key not in names:
            raise self.error(field, f"{self.row[field]!r} is not in this archive")
        return names[key]

    def fitting(self, table: type[models.Model], values: dict[str, Any]) -> dict[str, Any]:
        return fitting(table, values, self.member, self.line)


def fitting(table: type[models.Model], values: dict[str, Any], member: str, line: int) -> dict[str, Any]:
    """The values that are columns of the table, each short enough and among its choices; SQLite would take anything."""
    kept = {}
    for column in table._meta.concrete_fields:
        name = column.attname if column.attname in values else column.name
        if name not in values:
            continue
        value = values[name]
        if isinstance(value, str) and column.max_length and len(value) > column.max_length:
            raise BadLine(member, line, name, f"is longer than {column.max_length} characters")
        if isinstance(column, models.SlugField) and not slug_re.fullmatch(value):
            raise BadLine(member, line, name, "is not a name of letters, digits, dashes and underscores")
        if column.choices and value not in {choice for choice, _ in column.flatchoices}:
            raise BadLine(member, line, name, f"{str(value)[:40]!r} is not one of its values")
        kept[name] = value
    return kept


def portions(rows: Iterable[Any]) -> Iterator[list[Any]]:
    rows = iter(rows)
    while portion := list(islice(rows, BATCH)):
        yield portion


def store(rows: list[tuple[int, Any]], member: str) -> None:
    """All at once; if the database refuses, one by one, to name the line."""
    if not rows:
        return
    table = type(rows[0][1])
    try:
        with transaction.atomic():
            table.objects.bulk_create([row for _, row in rows])
    except REFUSALS:
        for line, row in rows:
            row.pk = None
            guarded(partial(row.save, force_insert=True), member, line)
        raise BadLine(member, rows[0][0], "", "cannot be stored together") from None


def guarded(act: Callable[[], Any], member: str, line: int) -> None:
    try:
        with transaction.atomic():
            act()
    except REFUSALS as error:
        reason = str(error).strip().splitlines()[0]
        raise BadLine(member, line, "", f"cannot be stored: {reason}") from error


@dataclass
class ImportState:
    """A running import: the new run, and its rows' keys by the names in the archive."""

    archive: Opened
    run: Run
    renames: bool
    progress: Progress
    total: int
    done: int = 0
    differ: int = 0  # drawings that are not what the archive says
    models: dict[str, int] = field(default_factory=dict)
    prompts: dict[str, int] = field(default_factory=dict)
    entrants: dict[str, int] = field(default_factory=dict)
    seats: dict[str, int] = field(default_factory=dict)
    measured: dict[int, dict[str, Any]] = field(default_factory=dict)  # by us, while we read the answers

    def code(self, given: str) -> str:
        """Public ids stay, unless this site has the run already: then each becomes another, always the same one."""
        if not self.renames:
            return given
        number = int.from_bytes(blake2b(f"{self.run.code}|{given}".encode(), digest_size=16).digest())
        return "".join(ALPHABET[number // len(ALPHABET) ** place % len(ALPHABET)] for place in range(12))


def made(
    state: ImportState, member: str, make: Callable[[dict[str, Any], Where], Any], *, samples: tuple[str, ...] = ()
) -> Iterator[Any]:
    """Rows made of a file's lines (unless None) and stored, by portions; `samples` are fields that name a sample."""
    for portion in portions(state.archive.rows(member)):
        if samples:
            resolve(state, portion, member, samples)
        rows = [(line, make(row, Where(member, line, row))) for line, row in portion]
        rows = [(line, row) for line, row in rows if row is not None]
        store(rows, member)
        advance(state, len(portion))
        for _, row in rows:
            yield row


def resolve(state: ImportState, portion: list[NumberedRow], member: str, fields: tuple[str, ...]) -> None:
    """Put each sample's row number in place of its public id."""
    codes = {state.code(row[name]) for _, row in portion for name in fields if row[name] is not None}
    samples = dict(Sample.objects.filter(run=state.run, code__in=codes).values_list("code", "pk"))
    for line, row in portion:
        where = Where(member, line, row)
        for name in fields:
            if row[name] is not None:
                row[f"{name}_id"] = row[name] = where.look_up(samples, name, state.code(row[name]))


def advance(state: ImportState, lines: int) -> None:
    state.done += lines
    state.progress(state.done, max(state.total, state.done))


@overload
def time_of(text: str) -> datetime: ...
@overload
def time_of(text: None) -> None: ...
def time_of(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
