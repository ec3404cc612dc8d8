"""The lines of model_grades.jsonl: one answer of a model judge about one drawing each.

Grades are called `grades`, never `value`: a reader of people's grades refuses these lines rather than mix them in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import BadField
from benchsite.lib.json_lines import json_type
from benchsite.lib.progress_bar import Progress, unwatched
from generation.suites.suite import Rubric
from judging.files.model_lines import (
    CHECKS,
    MAX_REASON,
    ModelLine,
    checked,
    columns_of,
    read_lines,
    text_of,
    texts_of,
    time_of,
    whole,
)

NAMES = ("judge", "model", "entrant", "stage", "subject")
LONGEST = {**dict.fromkeys(NAMES, 200), "judge": 100, "stage": 80, "reason": MAX_REASON, "unreadable": MAX_REASON}


@dataclass(frozen=True)
class ModelGradeLine(ModelLine):
    """One answer: a grade and a reason for each dimension of the drawing's stage. `grades` is None where nothing readable came."""

    judge: str
    model: str
    entrant: str
    stage: str
    subject: str
    grades: dict[str, float] | None
    attempt: int = 1
    version: int = 1
    simulated: bool = False
    reasons: dict[str, str] = field(default_factory=dict)
    unreadable: str = ""
    cost_nano: int | None = None
    answered_at: datetime | None = None
    file: str = field(default="", compare=False)
    number: int = field(default=0, compare=False)

    @property
    def item(self) -> tuple[str, str, str, int]:
        """The drawing."""
        return (self.entrant, self.stage, self.subject, self.attempt)

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.judge, *self.item)


FIELDS = columns_of(ModelGradeLine)


def read_model_grades(path: Path, *, rubric: Rubric, progress: Progress = unwatched) -> list[ModelGradeLine]:
    """Every answer of a JSONL file; the first bad line refuses the file, by number, and so does a drawing graded twice."""
    twice = "this judge graded this drawing"
    return read_lines(
        path, lambda row, number: _line(row, path.name, number, rubric), "grades", twice=twice, progress=progress
    )


def _line(row: dict[str, Any], file: str, number: int, rubric: Rubric) -> ModelGradeLine:
    if "grades" not in row and "value" in row:
        raise BadField("grades", "is missing: this is a person's grade (it has a value)")
    line = ModelGradeLine(**dict(_values(row)), file=file, number=number)
    check_grades(line, rubric)
    return line


def _values(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from texts_of(row, NAMES, ("unreadable",), LONGEST)
    yield "attempt", _attempt(row.get("attempt", 1))
    yield from checked(row, CHECKS)
    grades, reasons = row.get("grades"), row.get("reasons") or {}
    for name, given in (("grades", grades), ("reasons", reasons)):
        if given is not None and not isinstance(given, dict):
            raise BadField(name, f"must be an object by dimension, not {json_type(given)}")
    yield "grades", grades
    yield "reasons", {key: text_of(reason, f"reasons.{key}", MAX_REASON) for key, reason in reasons.items()}
    yield time_of(row)


def _attempt(value: Any) -> int:
    if not whole(0, 10**6)(value):
        raise BadField("attempt", f"must be a whole number, 0 or more, not {str(value)[:40]!r}")
    return int(value)


def check_grades(line: ModelGradeLine, rubric: Rubric) -> None:
    """A BadField where the grades are not those of the stage's dimensions, on the scale."""
    stages = {stage.key: [dimension.key for dimension in stage.dimensions] for stage in rubric.stages}
    if line.stage not in stages:
        raise BadField("stage", f"{line.stage[:60]!r} is none of {', '.join(stages)}")
    dimensions = stages[line.stage]
    if not set(line.reasons) <= set(dimensions):
        raise BadField("reasons", f"must be of {', '.join(dimensions)}")
    for key, reason in line.reasons.items():
        if text_of(reason, f"reasons.{key}", MAX_REASON) != reason:
            raise BadField(f"reasons.{key}", "has a character that no database can hold")
    if line.grades is None:
        return
    if set(line.grades) != set(dimensions):
        raise BadField("grades", f"must be of {', '.join(dimensions)}")
    for key, value in line.grades.items():
        if fault := rubric.fault(value):
            raise BadField(f"grades.{key}", fault)
