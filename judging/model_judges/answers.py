"""What the model judges of a run answered, line by line as files hold it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Run, Sample
from judging.files.exports import write_records
from judging.files.model_vote_lines import FIELDS, MAX_REASON, ModelVoteLine
from judging.model_judges.names import costs_of, head_of
from judging.model_judges.pairs import PAIRS


def model_vote_lines(run: Run) -> Iterator[ModelVoteLine]:
    """Every answer that came, also unreadable ones, in order; not those about drawings that a curator excluded."""
    judges = list(PAIRS.judges(run))
    if not judges:
        return
    fields = ("pk", "entrant__name", "attempt", "prompt__text", "prompt__category")
    drawings = {pk: rest for pk, *rest in run.samples.filter(excluded_reason="").values_list(*fields)}
    entrants = dict(run.entrants.values_list("pk", "name"))  # for votes of a file, about which there are no drawings
    prompts = {pk: rest for pk, *rest in run.prompts.values_list("pk", "text", "category")}
    for judge in judges:
        costs, head = costs_of(judge), head_of(judge)
        columns = ("pk", "prompt__facts", "verdict", "facts", "reason", "detail", "drawn_at")
        answered = judge.samples.filter(state=Sample.State.DRAWN).order_by("pk").values_list(*columns)
        for pk, shown, verdict, facts, reason, detail, drawn_at in answered.iterator(chunk_size=2000):
            left, right = (
                (entrants.get(shown["entrants"][place]), None, *prompts[shown["prompt"]])
                if "entrants" in shown
                else drawings.get(shown[side])
                for place, side in enumerate(("left", "right"))
            )
            if left and right:
                yield ModelVoteLine(
                    **head,
                    **_shown(left, right),
                    **_answer(verdict, facts, reason, detail),
                    cost_nano=costs.get(pk, facts.get("cost_nano")),
                    answered_at=drawn_at,
                )


def _shown(left: Sequence[Any], right: Sequence[Any]) -> dict[str, Any]:
    return {
        "left_model": left[0],
        "left_attempt": left[1],
        "right_model": right[0],
        "right_attempt": right[1],
        "prompt_text": left[2],
        "category": left[3],
    }


def _answer(verdict: str, facts: dict[str, Any], reason: str, detail: str) -> dict[str, Any]:
    if verdict == Sample.Verdict.VALID:
        return {"answer": facts["answer"], "reason": facts.get("reason", "")}
    return {"answer": None, "unreadable": f"{reason}: {detail}"[:MAX_REASON]}


def count_model_votes(run: Run) -> int:
    return Sample.objects.filter(run__in=PAIRS.judges(run), state=Sample.State.DRAWN).count()


def write_model_votes(run: Run, stream: TextIO, *, format: Any, progress: Progress = unwatched, **_: Any) -> int:
    """`export model_votes`: one line for each answer."""
    total = count_model_votes(run)
    rows = (line.as_row() for line in model_vote_lines(run))
    return write_records(rows, FIELDS, stream, format=format, progress=lambda done: progress(done, total))
