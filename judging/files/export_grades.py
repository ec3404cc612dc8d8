"""`grades.jsonl` and `grades.csv`: one object or row for each standing grade, in the fields that `analyse` reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TextIO

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Run
from judging.files.export_votes import write_records

FIELDS = ("judge", "entrant", "stage", "subject", "attempt", "dimension", "value", "graded_at", "run", "suite")
_COLUMNS = (
    "seat__pseudonym",
    "seat__judge__username",
    "sample__entrant__name",
    "sample__prompt__category",
    "sample__prompt__subject",
    "sample__prompt__key",
    "sample__attempt",
    "dimension",
    "value",
    "graded_at",
)


def grade_records(run: Run, *, names: bool = False) -> Iterator[dict[str, Any]]:
    """The standing grades of a run in the order they were given; judges by pseudonym unless `names`."""
    rows = run.grades.standing().order_by("graded_at", "id").values_list(*_COLUMNS)
    for pseudonym, username, entrant, stage, subject, key, attempt, dimension, value, at in rows.iterator(
        chunk_size=2000
    ):
        judge = (names and username) or pseudonym
        known = (judge, entrant, stage, subject or key, attempt, dimension, value, at.isoformat(), run.code, run.suite)
        yield dict(zip(FIELDS, known, strict=True))


def write_grades(
    run: Run,
    stream: TextIO,
    *,
    format: Literal["jsonl", "csv"] = "jsonl",
    names: bool = False,
    progress: Progress = unwatched,
) -> int:
    """Write every standing grade and say how many."""
    total = run.grades.standing().count()
    records = grade_records(run, names=names)
    return write_records(records, FIELDS, stream, format=format, progress=lambda done: progress(done, total))
