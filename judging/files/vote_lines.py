"""The lines of votes.jsonl: what each field may hold, and a vote made of it. `analyse` and the import of votes share it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from benchsite.lib.file_errors import BadField, BadLine, FileError
from benchsite.lib.json_lines import json_type
from benchsite.lib.text import clean_text
from benchsite.lib.times import EXPECTED as A_TIME
from benchsite.lib.times import parse_stored_time, parse_time

Words = Callable[[BadField, Any], BadField]
REQUIRED = ("left_model", "right_model", "outcome")
OPTIONAL = (
    *("judge", "prompt_text", "category", "left_attempt", "right_attempt"),
    *("voted_at", "response_ms", "kind", "withdrawn"),
)
OUTCOMES = ("left", "right", "tie", "fail")
KINDS = ("regular", "shared", "repeat", "picked")
WITHDRAWN = {"true": True, "True": True, "false": False, "False": False, "": False}
MAX_NAME = 10_000
# Characters that the database has room for.
STORED = {"left_model": 200, "right_model": 200, "judge": 100, "category": 80, "prompt_text": 20_000}


def name_fault(name: Any) -> str:
    if not isinstance(name, str):
        return f"must be text, not {json_type(name)}"
    if not name.strip():
        return "is empty"
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "is not valid UTF-8"
    return ""


def vote_fault(row: Any) -> BadField | None:
    """The first field of a parsed line that no vote has so; None for a vote."""
    return next((BadField(name, fault) for name, fault in _faults(row) if fault), None)


def _faults(row: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(row, dict):
        yield "", f"is {json_type(row)}, not a JSON object"
        return
    for name in ("left_model", "right_model"):
        yield name, name_fault(row[name]) if name in row else "is missing"
    if row["left_model"] == row["right_model"]:
        yield "right_model", f"{row['left_model']!r} cannot be compared with itself"
    if "outcome" not in row:
        yield (
            "outcome",
            "is missing" + (": this is a model judge's answer, not a person's vote" if "answer" in row else ""),
        )
    for name in ("judge", "prompt_text", "category"):
        yield name, name_fault(row[name]) if row.get(name) not in (None, "") else ""
    for name, (holds, expected) in CHECKS.items():
        value = row.get(name)
        yield name, "" if holds(value) else f"{expected}, not {str(value)[:40]!r}"


def _is_attempt(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value < 2**31)


def _is_duration(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and 0 <= value <= 1e12)


def _is_time(value: Any) -> bool:
    try:
        return value in (None, "") or bool(parse_time(value))
    except (TypeError, ValueError):
        return False


def _is_withdrawal(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value in WITHDRAWN) or _is_time(value)


CHECKS = {
    "outcome": (lambda value: value in OUTCOMES, f"must be one of {', '.join(OUTCOMES)}"),
    "kind": (lambda value: value in (None, "", *KINDS), f"must be one of {', '.join(KINDS)}"),
    "left_attempt": (_is_attempt, "must be a whole number, 0 or more"),
    "right_attempt": (_is_attempt, "must be a whole number, 0 or more"),
    "response_ms": (_is_duration, "must be a number of milliseconds, 0 or more"),
    "voted_at": (_is_time, A_TIME),
    "withdrawn": (_is_withdrawal, "must be true, false, or the time of withdrawal"),
}


@dataclass(frozen=True)
class VoteLine:
    """One vote of a file, as a database can hold it; only the two entrants and the outcome are sure to be there."""

    left_model: str
    right_model: str
    outcome: str
    judge: str | None = None
    prompt_text: str | None = None
    category: str = ""
    left_attempt: int | None = None
    right_attempt: int | None = None
    voted_at: datetime | None = None
    response_ms: int | None = None
    kind: str = "regular"
    withdrawn: bool | datetime = False
    file: str = field(default="", compare=False)
    number: int = field(default=0, compare=False)

    @property
    def where(self) -> str:
        return f"{self.file}:{self.number}"

    def bad(self, problem: str) -> BadLine:
        return BadLine(self.file, self.number, "", problem)


def vote_line(row: Any, file: str, number: int, *, words: Words = lambda fault, row: fault) -> VoteLine:
    """One vote; raises BadLine, with the fault in the file's own words."""
    try:
        if fault := row if isinstance(row, FileError) else vote_fault(row):
            raise words(BadField(fault.field, fault.message), row)
        return VoteLine(**_stored(row), file=file, number=number)
    except BadField as bad:
        raise BadLine(file, number, bad.field or "the line", bad.message) from None


def _stored(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a vote as a database holds them; raises BadField for what it cannot."""
    names = {name: _stored_name(row.get(name), name) for name in STORED}
    if names["left_model"] == names["right_model"]:
        raise BadField("right_model", "is left_model, once characters are replaced that no database can hold")
    duration = row.get("response_ms")
    if not _is_attempt(duration):
        raise BadField("response_ms", "must be a whole number below 2147483648")
    withdrawn = row.get("withdrawn") or False
    if isinstance(withdrawn, str):
        withdrawn = WITHDRAWN[withdrawn] if withdrawn in WITHDRAWN else _stored_time(withdrawn, "withdrawn")
    return {
        **names,
        "category": names["category"] or "",
        "left_attempt": row.get("left_attempt"),
        "right_attempt": row.get("right_attempt"),
        "response_ms": duration,
        "outcome": row["outcome"],
        "kind": row.get("kind") or "regular",
        "voted_at": _stored_time(row.get("voted_at") or None, "voted_at"),
        "withdrawn": withdrawn,
    }


def _stored_name(value: str | None, name: str) -> str | None:
    if value and len(value) > STORED[name]:
        raise BadField(name, f"is longer than {STORED[name]} characters")
    return clean_text(value)[0] if value else None


def _stored_time(value: str | None, name: str) -> datetime | None:
    try:
        return parse_stored_time(value, name)
    except ValueError:
        raise BadField(name, A_TIME) from None
