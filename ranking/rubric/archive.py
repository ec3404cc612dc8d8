"""Grades as a file of a run's archive."""

from __future__ import annotations

from typing import Any

from benchsite.lib.file_errors import BadField, BadLine
from generation.models import Run, Sample
from judging.files.exports import grade_rows, write_grades
from judging.files.model_grade_lines import ModelGradeLine, check_grades
from judging.grades.sheets import rubric_of
from judging.model_judges.answers import count_model_grades, model_grade_lines
from judging.model_judges.importing_grades import store_model_grades
from judging.models import Grade
from ranking.archive.fields import fields_of
from ranking.archive.lines import Rows
from ranking.archive.members import Member
from ranking.archive.storing import ImportState, Where, advance, guarded, made, time_of

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


MODEL_GRADE = fields_of(
    judge=("text", "the model judge's name"),
    model=("text", "its model's id"),
    entrant=("text", "who drew it"),
    stage=("text", "the rubric's stage, which is the prompt's category"),
    subject=("text", "what was to be drawn"),
    attempt=("whole", "which attempt"),
    grades=("object?", "a grade for each dimension; null where the answer was unreadable"),
    version=("whole", "of its instructions"),
    simulated=("flag", "by a simulated judge"),
    reasons=("object", "the judge's own words for each dimension"),
    unreadable=("text", "what was wrong with an unreadable answer"),
    cost_nano=("whole?", "what it cost, in nano-dollars; null if unknown"),
    answered_at=("time?", "when"),
)


def model_grade_rows(run: Run) -> Rows:
    return (line.as_row() for line in model_grade_lines(run))


def load_model_grades(state: ImportState) -> None:
    """Model judges whose questions were asked at the other site; their grades are in no table of grades here either."""
    name, lines = "model_grades.jsonl", []
    rubric = rubric_of(state.run.code)
    for number, row in state.archive.rows(name):
        line = ModelGradeLine(**row | {"answered_at": time_of(row["answered_at"])}, file=name, number=number)
        try:
            check_grades(line, rubric)
        except BadField as bad:
            raise BadLine(name, number, bad.field, bad.message) from None
        lines.append(line)
    guarded(lambda: store_model_grades(state.run, lines), name, 1)
    advance(state, len(lines))


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
    Member(
        name="model_grades.jsonl",
        table=Sample,
        fields=MODEL_GRADE,
        rows=model_grade_rows,
        load=load_model_grades,
        listed=False,
        optional=True,
        total=count_model_grades,
    ),
)
