"""Rows of an archive on their way into tables: what does not fit is named by file, line and field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import DatabaseError, models, transaction

from ranking.archive_reading import ArchiveError

BATCH = 500
# What a database says when a row breaks a rule, and Python when a number is too large for it.
REFUSALS = (DatabaseError, OverflowError, ValueError)


@dataclass(frozen=True)
class Where:
    """A line being read, to say what is wrong with it."""

    member: str
    line: int
    row: dict[str, Any]

    def error(self, field: str, problem: str) -> ArchiveError:
        return ArchiveError(problem, member=self.member, line=self.line, field=field)

    def known(self, names: dict[str, int], field: str, *, optional: bool = False) -> int | None:
        value = self.row[field]
        return None if optional and value is None else self.found(names, field, value)

    def found(self, names: dict[str, Any], field: str, key: str) -> Any:
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
            raise ArchiveError(f"is longer than {column.max_length} characters", member=member, line=line, field=name)
        if column.choices and value not in {choice for choice, _ in column.flatchoices}:
            raise ArchiveError(f"{str(value)[:40]!r} is not one of its values", member=member, line=line, field=name)
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
            guarded(lambda row=row: row.save(force_insert=True), member, line)
        raise ArchiveError("cannot be stored together", member=member, line=rows[0][0]) from None


def guarded(act: Callable[[], Any], member: str, line: int) -> None:
    try:
        with transaction.atomic():
            act()
    except REFUSALS as error:
        said = str(error).strip().splitlines()[0]
        raise ArchiveError(f"cannot be stored: {said}", member=member, line=line) from error
