"""What the model judges of a run graded, line by line as files hold it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Run, Sample
from judging.files.exports import write_records
from judging.files.model_grade_lines import FIELDS, MAX_REASON, ModelGradeLine
from judging.model_judges.grading import GRADES
from judging.model_judges.names import costs_of, head_of


def model_grade_lines(run: Run) -> Iterator[ModelGradeLine]:
    """Every answer that came, also unreadable ones, in order; not those about drawings that a curator excluded."""
    judges = list(GRADES.judges(run))
    if not judges:
        return
    fields = ("pk", "entrant__name", "prompt__category", "prompt__subject", "prompt__key", "attempt")
    drawings = {pk: rest for pk, *rest in run.samples.filter(excluded_reason="").values_list(*fields)}
    for judge in judges:
        costs, head = costs_of(judge), head_of(judge)
        columns = ("pk", "prompt__facts", "verdict", "facts", "reason", "detail", "drawn_at")
        answered = judge.samples.filter(state=Sample.State.DRAWN).order_by("pk").values_list(*columns)
        for pk, asked, verdict, facts, reason, detail, drawn_at in answered.iterator(chunk_size=2000):
            if shown := drawings.get(asked["drawing"]):
                entrant, stage, subject, key, attempt = shown
                yield ModelGradeLine(
                    **head,
                    entrant=entrant,
                    stage=stage,
                    subject=subject or key,
                    attempt=attempt,
                    **_answer(asked, verdict, facts, reason, detail),
                    cost_nano=costs.get(pk, facts.get("cost_nano")),
                    answered_at=drawn_at,
                )


def _answer(asked: dict[str, Any], verdict: str, facts: dict[str, Any], reason: str, detail: str) -> dict[str, Any]:
    """By dimension in the rubric's order, whatever the database makes of an object's."""
    if verdict == Sample.Verdict.VALID:
        parts = ("grades", "reasons")
        return {part: {key: facts[part][key] for key in asked["dimensions"] if key in facts[part]} for part in parts}
    return {"grades": None, "unreadable": f"{reason}: {detail}"[:MAX_REASON]}


def count_model_grades(run: Run) -> int:
    return Sample.objects.filter(run__in=GRADES.judges(run), state=Sample.State.DRAWN).count()


def write_model_grades(run: Run, stream: TextIO, *, format: Any, progress: Progress = unwatched, **_: Any) -> int:
    """`export model_grades`: one line for each answer."""
    total = count_model_grades(run)
    rows = (line.as_row() for line in model_grade_lines(run))
    return write_records(rows, FIELDS, stream, format=format, progress=lambda done: progress(done, total))
