"""The lines of model_votes.jsonl: one answer of a model judge each. `analyse`, the import and the export share it.

The answer is called `answer`, never `outcome`: a reader of people's votes refuses these lines rather than mix them in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import BadField, BadLine, FileError
from benchsite.lib.json_lines import LONGEST_LINE, json_chunks, json_type, text_file
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import clean_text
from benchsite.lib.times import EXPECTED as A_TIME
from benchsite.lib.times import parse_stored_time
from judging.files.vote_lines import OUTCOMES, STORED, name_fault

MAX_REASON = 2_000
LONGEST = {**STORED, "model": 200, "reason": MAX_REASON, "unreadable": MAX_REASON}
ATTEMPTS = ("left_attempt", "right_attempt")
REQUIRED = ("judge", "model", "left_model", "right_model", "prompt_text")


@dataclass(frozen=True)
class ModelVoteLine:
    """One answer: `left` is the drawing that was shown first. `answer` is None where nothing readable came back."""

    judge: str
    model: str
    left_model: str
    right_model: str
    prompt_text: str
    answer: str | None
    version: int = 1
    simulated: bool = False
    category: str = ""
    left_attempt: int | None = 1  # None where votes without drawings were imported
    right_attempt: int | None = 1
    reason: str = ""
    unreadable: str = ""
    cost_nano: int | None = None
    answered_at: datetime | None = None
    file: str = field(default="", compare=False)
    number: int = field(default=0, compare=False)

    @property
    def key(self) -> tuple[Any, ...]:
        """What a judge may be asked once: these two drawings in this order."""
        left, right = (-1 if each is None else each for each in (self.left_attempt, self.right_attempt))
        return (self.judge, self.prompt_text, self.left_model, left, self.right_model, right)

    def bad(self, problem: str) -> BadLine:
        return BadLine(self.file, self.number, "", problem)

    def as_row(self) -> dict[str, Any]:
        row = {key: value for key, value in asdict(self).items() if key not in ("file", "number")}
        return row | {"answered_at": self.answered_at.isoformat() if self.answered_at else None}


FIELDS = tuple(each.name for each in fields(ModelVoteLine) if each.name not in ("file", "number"))


def read_model_votes(path: Path, *, progress: Progress = unwatched) -> list[ModelVoteLine]:
    """Every answer of a JSONL file; the first bad line refuses the file, by number, and so does an answer given twice."""
    lines: list[ModelVoteLine] = []
    seen: dict[tuple[Any, ...], int] = {}
    judges: dict[str, tuple[str, int]] = {}
    size = path.stat().st_size
    with text_file(path) as stream:
        bounded = iter(lambda: stream.readline(LONGEST_LINE + 1), "")
        for numbers, rows in json_chunks(bounded, path.name):
            progress(stream.buffer.tell(), size)
            for number, row in zip(numbers, rows, strict=True):
                line = _line(row, path.name, number)
                if (first := seen.setdefault(line.key, number)) != number:
                    raise line.bad(f"this judge answered on these drawings in this order in line {first}")
                if judges.setdefault(line.judge, (line.model, line.version)) != (line.model, line.version):
                    raise line.bad(f"the judge {line.judge!r} has another model or version in an earlier line")
                lines.append(line)
    if not lines:
        raise BadLine(path.name, 0, "", "it contains no model votes")
    return lines


def _line(row: Any, file: str, number: int) -> ModelVoteLine:
    try:
        if isinstance(row, FileError):
            raise BadField(row.field, row.message)
        if not isinstance(row, dict):
            raise BadField("", f"is {json_type(row)}, not a JSON object")
        if "answer" not in row and "outcome" in row:
            raise BadField("answer", "is missing: this is a person's vote (it has an outcome)")
        return ModelVoteLine(**dict(_values(row)), file=file, number=number)
    except BadField as bad:
        raise BadLine(file, number, bad.field or "the line", bad.message) from None


def _values(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in REQUIRED:
        fault = name_fault(row[name]) if name in row else "is missing"
        if fault:
            raise BadField(name, fault)
        yield name, _text(row[name], name)
    if row["left_model"] == row["right_model"]:
        raise BadField("right_model", f"{row['left_model']!r} cannot be compared with itself")
    for name in ("category", "reason", "unreadable"):
        yield name, _text(row.get(name) or "", name)
    for name, (holds, expected, default) in CHECKS.items():
        value = row.get(name)
        unknown = name in ATTEMPTS and name in row
        value = default if value is None and not unknown else value
        if not holds(value):
            raise BadField(name, f"{expected}, not {str(value)[:40]!r}")
        yield name, value
    try:
        yield "answered_at", parse_stored_time(row.get("answered_at") or None, "answered_at")
    except (TypeError, ValueError):
        raise BadField("answered_at", A_TIME) from None


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise BadField(name, f"must be text, not {json_type(value)}")
    if len(value) > LONGEST[name]:
        raise BadField(name, f"is longer than {LONGEST[name]} characters")
    return clean_text(value)[0]


def _whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


CHECKS: dict[str, tuple[Callable[[Any], bool], str, Any]] = {
    "answer": (lambda value: value in (None, *OUTCOMES), f"must be null or one of {', '.join(OUTCOMES)}", None),
    "version": (_whole(1, 2**31 - 1), "must be a whole number from 1", 1),
    "simulated": (lambda value: isinstance(value, bool), "must be true or false", False),
    **{
        name: (
            lambda value: value is None or _whole(0, 2**31 - 1)(value),
            "must be null or a whole number, 0 or more",
            1,
        )
        for name in ATTEMPTS
    },
    "cost_nano": (
        lambda value: value is None or _whole(0, 2**62)(value),
        "must be whole nano-dollars, 0 or more",
        None,
    ),
}
