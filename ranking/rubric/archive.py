"""Grades as a file of a run's archive."""

from __future__ import annotations

from typing import Any

from judging.files.exports import grade_rows, write_grades
from judging.models import Grade
from ranking.archive.fields import fields_of
from ranking.archive.members import Member
from ranking.archive.storing import ImportState, Where, made, time_of

GRADE = fields_of(
    judge=("text", "the judge's pseudonym"),
    entrant=("text", "who drew it"),
    stage=("text", "the rubric's stage, which is the prompt's category"),
    subject=("text", "what was to be drawn"),
    attempt=("whole", "which attempt"),
    dimension=("text", "what was graded"),
    value=("number", "the grade, 0 to 10"),
    sample=("code", "the drawing"),
    graded_at=("time", "when"),
    kept_out=("flag-", "in no score, because the judge could know the names"),
    imported=("flag", "came from a file"),
    unconfirmed=("flag-", "after a curator's link set the judge's password, which the judge has not confirmed"),
    withdrawn_at=("time?", "when it was taken back or replaced; null while it counts"),
)


def load_grades(state: ImportState) -> None:
    def make(row: dict[str, Any], where: Where) -> Grade:
        values = {name: row[name] for name in ("dimension", "value", "imported", "sample_id")}
        values["kept_out"] = row.get("kept_out", False)
        times = {name: time_of(row[name]) for name in ("graded_at", "withdrawn_at")}
        return Grade(run=state.run, seat_id=where.known(state.seats, "judge"), **times, **where.fitting(Grade, values))

    for _ in made(state, "grades.jsonl", make, samples=("sample",)):
        pass


MEMBERS = (
    Member(
        name="grades.jsonl",
        table=Grade,
        fields=GRADE,
        rows=grade_rows,
        load=load_grades,
        write=write_grades,
        always=True,
    ),
)
