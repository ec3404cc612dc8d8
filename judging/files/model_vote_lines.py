"""The lines of model_votes.jsonl: one answer of a model judge each. `analyse`, the import and the export share it.

The answer is called `answer`, never `outcome`: a reader of people's votes refuses these lines rather than mix them in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import BadField
from benchsite.lib.progress_bar import Progress, unwatched
from judging.files.model_lines import CHECKS as COMMON
from judging.files.model_lines import (
    MAX_REASON,
    Check,
    ModelLine,
    checked,
    columns_of,
    read_lines,
    texts_of,
    time_of,
    whole,
)
from judging.files.vote_lines import OUTCOMES, STORED

LONGEST = {**STORED, "model": 200, "reason": MAX_REASON, "unreadable": MAX_REASON}
FIRST_ATTEMPT = 1  # what a line without attempts means beside drawings
ATTEMPTS = ("left_attempt", "right_attempt")
REQUIRED = ("judge", "model", "left_model", "right_model", "prompt_text")


@dataclass(frozen=True)
class ModelVoteLine(ModelLine):
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


FIELDS = columns_of(ModelVoteLine)


def read_model_votes(path: Path, *, progress: Progress = unwatched) -> list[ModelVoteLine]:
    """Every answer of a JSONL file; the first bad line refuses the file, by number, and so does an answer given twice."""
    twice = "this judge answered on these drawings in this order"
    return read_lines(path, lambda row, number: _line(row, path.name, number), "votes", twice=twice, progress=progress)


def _line(row: dict[str, Any], file: str, number: int) -> ModelVoteLine:
    if "answer" not in row and "outcome" in row:
        raise BadField("answer", "is missing: this is a person's vote (it has an outcome)")
    return ModelVoteLine(**dict(_values(row)), file=file, number=number)


def _values(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from texts_of(row, REQUIRED, ("category", "reason", "unreadable"), LONGEST)
    if row["left_model"] == row["right_model"]:
        raise BadField("right_model", f"{row['left_model']!r} cannot be compared with itself")
    yield from checked(row, CHECKS)
    yield time_of(row)


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
