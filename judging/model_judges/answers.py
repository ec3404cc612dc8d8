"""What the model judges of a run answered, votes and grades, line by line as files hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from django.db.models import Sum

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import ProviderCall, Run, Sample
from judging.files import model_grade_lines as grades
from judging.files import model_vote_lines as votes
from judging.files.exports import write_records
from judging.files.model_grade_lines import ModelGradeLine
from judging.files.model_lines import MAX_REASON, ModelLine
from judging.files.model_vote_lines import ModelVoteLine
from judging.model_judges.grading import GRADES
from judging.model_judges.instructions import about_judge
from judging.model_judges.kinds import Kind
from judging.model_judges.names import judge_name
from judging.model_judges.pairs import PAIRS

Facts = dict[str, Any]


def model_vote_lines(run: Run) -> Iterator[ModelVoteLine]:
    """Every answer that came, also unreadable ones, in order; not those about drawings that a curator excluded."""
    judges = list(PAIRS.judges(run))
    if not judges:
        return
    drawings = _drawings(run, "entrant__name", "attempt", "prompt__text", "prompt__category")
    entrants = dict(run.entrants.values_list("pk", "name"))  # for votes of a file, about which there are no drawings
    prompts = {pk: rest for pk, *rest in run.prompts.values_list("pk", "text", "category")}
    for shown, answer, common in _answers(judges):
        sides: list[Sequence[Any] | None] = [
            (entrants.get(shown["entrants"][place]), None, *prompts[shown["prompt"]])
            if "entrants" in shown
            else drawings.get(shown[side])
            for place, side in enumerate(("left", "right"))
        ]
        left, right = sides
        if left and right:
            yield ModelVoteLine(
                **common,
                answer=answer["answer"] if answer else None,
                reason=answer.get("reason", "") if answer else "",
                left_model=left[0],
                left_attempt=left[1],
                right_model=right[0],
                right_attempt=right[1],
                prompt_text=left[2],
                category=left[3],
            )


def model_grade_lines(run: Run) -> Iterator[ModelGradeLine]:
    """The same of grades, by dimension in the rubric's order, whatever the database makes of an object's."""
    judges = list(GRADES.judges(run))
    if not judges:
        return
    drawings = _drawings(run, "entrant__name", "prompt__category", "prompt__subject", "prompt__key", "attempt")
    for asked, answer, common in _answers(judges):
        if shown := drawings.get(asked["drawing"]):
            entrant, stage, subject, key, attempt = shown
            parts: Facts = {"grades": None}
            if answer:
                parts = {
                    part: {key: answer[part][key] for key in asked["dimensions"] if key in answer[part]}
                    for part in ("grades", "reasons")
                }
            yield ModelGradeLine(
                **common, **parts, entrant=entrant, stage=stage, subject=subject or key, attempt=attempt
            )


def _drawings(run: Run, *fields: str) -> dict[int, Sequence[Any]]:
    return {pk: rest for pk, *rest in run.samples.filter(excluded_reason="").values_list("pk", *fields)}


def _answers(judges: Iterable[Run]) -> Iterator[tuple[Facts, Facts | None, Facts]]:
    """What each answer is about, what was read of it (None where nothing could be), and what all lines have in common."""
    for judge in judges:
        model = judge.models.get()
        head = {
            "judge": judge_name(judge, model.model_id),
            "model": model.model_id,
            "version": about_judge(judge)["version"],
            "simulated": model.profile.get("kind") == "demo",
        }
        calls = ProviderCall.objects.filter(run=judge).order_by().values_list("sample_id")
        costs = dict(calls.annotate(Sum("cost_nano")))
        columns = ("pk", "prompt__facts", "verdict", "facts", "reason", "detail", "drawn_at")
        answered = judge.samples.filter(state=Sample.State.DRAWN).order_by("pk").values_list(*columns)
        for pk, asked, verdict, facts, reason, detail, drawn_at in answered.iterator(chunk_size=2000):
            common = {**head, "cost_nano": costs.get(pk, facts.get("cost_nano")), "answered_at": drawn_at}
            if verdict == Sample.Verdict.VALID:
                yield asked, facts, common
            else:
                yield asked, None, {**common, "unreadable": f"{reason}: {detail}"[:MAX_REASON]}


def count_model_votes(run: Run) -> int:
    return _count(run, PAIRS)


def count_model_grades(run: Run) -> int:
    return _count(run, GRADES)


def _count(run: Run, kind: Kind) -> int:
    return Sample.objects.filter(run__in=kind.judges(run), state=Sample.State.DRAWN).count()


def write_model_votes(run: Run, stream: TextIO, *, format: Any, progress: Progress = unwatched, **_: Any) -> int:
    """`export model_votes`: one line for each answer."""
    return _write(model_vote_lines(run), votes.FIELDS, stream, format, count_model_votes(run), progress)


def write_model_grades(run: Run, stream: TextIO, *, format: Any, progress: Progress = unwatched, **_: Any) -> int:
    """`export model_grades`: one line for each answer."""
    return _write(model_grade_lines(run), grades.FIELDS, stream, format, count_model_grades(run), progress)


def _write(
    lines: Iterator[ModelLine], fields: tuple[str, ...], stream: TextIO, format: Any, total: int, progress: Progress
) -> int:
    rows = (line.as_row() for line in lines)
    return write_records(rows, fields, stream, format=format, progress=lambda done: progress(done, total))
