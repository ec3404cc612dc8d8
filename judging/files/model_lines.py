"""What files of model judges' answers share, whatever these are about: how lines are read, and who answered at what cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from benchsite.lib.file_errors import BadField, BadLine, FileError
from benchsite.lib.json_lines import LONGEST_LINE, json_chunks, json_type, text_file
from benchsite.lib.progress_bar import Progress
from benchsite.lib.text import clean_text
from benchsite.lib.times import EXPECTED as A_TIME
from benchsite.lib.times import parse_stored_time
from judging.files.vote_lines import name_fault

MAX_REASON = 2_000
Value = tuple[str, Any]  # a field and what a line says
Check = tuple[Callable[[Any], bool], str, Any]  # whether a value may stand, what is expected, and what stands for none


class ModelLine:
    """What lines have in common; each kind is a dataclass with its fields in the order of the file, and these among them."""

    judge: str
    model: str
    version: int
    simulated: bool
    unreadable: str
    cost_nano: int | None
    answered_at: datetime | None
    file: str
    number: int

    @property
    def key(self) -> tuple[Any, ...]:
        """What a judge may be asked once."""
        raise NotImplementedError

    def bad(self, problem: str) -> BadLine:
        return BadLine(self.file, self.number, "", problem)

    def as_row(self) -> dict[str, Any]:
        row = {name: getattr(self, name) for name in columns_of(type(self))}
        return row | {"answered_at": self.answered_at.isoformat() if self.answered_at else None}


Line = TypeVar("Line", bound=ModelLine)


def columns_of(line: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(line) if each.name not in ("file", "number"))


def read_lines(
    path: Path, parse: Callable[[dict[str, Any], int], Line], what: str, *, twice: str, progress: Progress
) -> list[Line]:
    """Every line of a JSONL file as `parse` makes it of a row; raises BadLine for the first bad one, or one that repeats another."""
    lines: list[Line] = []
    seen: dict[tuple[Any, ...], int] = {}
    judges: dict[str, tuple[str, int]] = {}
    size = path.stat().st_size
    with text_file(path) as stream:
        bounded = iter(lambda: stream.readline(LONGEST_LINE + 1), "")
        for numbers, rows in json_chunks(bounded, path.name):
            progress(stream.buffer.tell(), size)
            for number, row in zip(numbers, rows, strict=True):
                line = _parsed(row, path.name, number, parse)
                if (first := seen.setdefault(line.key, number)) != number:
                    raise line.bad(f"{twice} in line {first}")
                if judges.setdefault(line.judge, (line.model, line.version)) != (line.model, line.version):
                    raise line.bad(f"the judge {line.judge!r} has another model or version in an earlier line")
                lines.append(line)
    if not lines:
        raise BadLine(path.name, 0, "", f"it contains no model {what}")
    return lines


def _parsed(row: Any, file: str, number: int, parse: Callable[[dict[str, Any], int], Line]) -> Line:
    try:
        if isinstance(row, FileError):
            raise BadField(row.field, row.message)
        if not isinstance(row, dict):
            raise BadField("", f"is {json_type(row)}, not a JSON object")
        return parse(row, number)
    except BadField as bad:
        raise BadLine(file, number, bad.field or "the line", bad.message) from None


def text_of(value: Any, name: str, longest: int) -> str:
    if not isinstance(value, str):
        raise BadField(name, f"must be text, not {json_type(value)}")
    if len(value) > longest:
        raise BadField(name, f"is longer than {longest} characters")
    return clean_text(value)[0]


def texts_of(
    row: dict[str, Any], required: Iterable[str], optional: Iterable[str], longest: dict[str, int]
) -> Iterator[Value]:
    for name in required:
        fault = name_fault(row[name]) if name in row else "is missing"
        if fault:
            raise BadField(name, fault)
        yield name, text_of(row[name], name, longest[name])
    for name in optional:
        yield name, text_of(row.get(name) or "", name, longest[name])


def checked(row: dict[str, Any], checks: dict[str, Check]) -> Iterator[Value]:
    """What is null or left out is as the check says."""
    for name, (holds, expected, default) in checks.items():
        value = row.get(name)
        value = default if value is None else value
        if not holds(value):
            raise BadField(name, f"{expected}, not {str(value)[:40]!r}")
        yield name, value


def time_of(row: dict[str, Any]) -> Value:
    try:
        return "answered_at", parse_stored_time(row.get("answered_at") or None, "answered_at")
    except (TypeError, ValueError):
        raise BadField("answered_at", A_TIME) from None


def whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


CHECKS: dict[str, Check] = {
    "version": (whole(1, 2**31 - 1), "must be a whole number from 1", 1),
    "simulated": (lambda value: isinstance(value, bool), "must be true or false", False),
    "cost_nano": (
        lambda value: value is None or whole(0, 2**62)(value),
        "must be whole nano-dollars, 0 or more",
        None,
    ),
}
