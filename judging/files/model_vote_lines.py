"""The lines of model_votes.jsonl: one answer of a model judge each. `analyse`, the import and the export share it.

The answer is called `answer`, never `outcome`: a reader of people's votes refuses these lines rather than mix them in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import BadField, BadLine
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.times import EXPECTED as A_TIME
from benchsite.lib.times import parse_stored_time
from judging.files.model_lines import CHECKS as COMMON
from judging.files.model_lines import MAX_REASON, Check, read_lines, text_of, whole
from judging.files.vote_lines import OUTCOMES, STORED, name_fault

LONGEST = {**STORED, "model": 200, "reason": MAX_REASON, "unreadable": MAX_REASON}
FIRST_ATTEMPT = 1  # what a line without attempts means beside drawings
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
    left_attempt: int | None = None  # of a run with drawings the first; unknown where votes came without drawings
    right_attempt: int | None = None
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
    twice = "this judge answered on these drawings in this order"
    return read_lines(path, lambda row, number: _line(row, path.name, number), "votes", twice=twice, progress=progress)


def _line(row: dict[str, Any], file: str, number: int) -> ModelVoteLine:
    if "answer" not in row and "outcome" in row:
        raise BadField("answer", "is missing: this is a person's vote (it has an outcome)")
    return ModelVoteLine(**dict(_values(row)), file=file, number=number)


def _values(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in REQUIRED:
        fault = name_fault(row[name]) if name in row else "is missing"
        if fault:
            raise BadField(name, fault)
        yield name, text_of(row[name], name, LONGEST[name])
    if row["left_model"] == row["right_model"]:
        raise BadField("right_model", f"{row['left_model']!r} cannot be compared with itself")
    for name in ("category", "reason", "unreadable"):
        yield name, text_of(row.get(name) or "", name, LONGEST[name])
    for name, (holds, expected, default) in CHECKS.items():
        value = row.get(name)
        value = default if value is None else value
        if not holds(value):
            raise BadField(name, f"{expected}, not {str(value)[:40]!r}")
        yield name, value
    try:
        yield "answered_at", parse_stored_time(row.get("answered_at") or None, "answered_at")
    except (TypeError, ValueError):
        raise BadField("answered_at", A_TIME) from None


CHECKS: dict[str, Check] = {
    "answer": (lambda value: value in (None, *OUTCOMES), f"must be null or one of {', '.join(OUTCOMES)}", None),
    **COMMON,
    **{
        name: (
            lambda value: value is None or whole(0, 2**31 - 1)(value),
            "must be null or a whole number, 0 or more",
            None,
        )
        for name in ATTEMPTS
    },
}
