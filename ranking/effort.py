"""What an answer takes: median seconds, tokens and cost by entrant. Speed and price are results too, beside quality."""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import Any

from generation.models import Run, Sample
from ranking.models import Fit
from ranking.results import EffortResult


def effort_of(run: Run, *, before: Fit | None = None) -> dict[str, EffortResult]:
    """Medians over the answers that a provider gave; a program's answer is all of its turns.

    `before` is an earlier fit: once a run is drawn to the end nothing here changes, so its medians are taken over.
    """
    done = before is not None and run.finished_at is not None and before.read_at > run.finished_at
    if before is not None and done and (known := before.result.get("run", {}).get("effort")):
        return known
    answers: dict[str, list[_Answer]] = defaultdict(list)
    for name, answer in _answers(run):
        answers[name].append(answer)
    return {name: _medians(group) for name, group in answers.items()}


class _Answer:
    """One answer's calls, summed; None where any of them is unknown."""

    def __init__(self, tokens: int | None) -> None:
        self.sums: dict[str, float | None] = {"seconds": 0, "nano": 0}
        self.tokens = tokens

    def add(self, seconds: float | None, nano: int | None) -> None:
        for key, value in (("seconds", seconds), ("nano", nano)):
            so_far = self.sums[key]
            self.sums[key] = None if value is None or so_far is None else so_far + value


def _answers(run: Run) -> list[tuple[str, _Answer]]:
    drawn = run.samples.filter(state=Sample.State.DRAWN, imported=False)
    rows = drawn.order_by().values_list("id", "entrant__name", "completion_tokens")
    answers = {pk: (name, _Answer(tokens)) for pk, name, tokens in rows.iterator(chunk_size=5000)}
    asked = set()
    calls = run.calls.filter(sample__state=Sample.State.DRAWN).order_by()
    # A retry's cost is part of the answer's; its time is not, for it says more of the provider's day than of the model.
    columns = ("sample_id", "outcome", "latency_ms", "cost_nano")
    for pk, outcome, milliseconds, nano in calls.values_list(*columns).iterator(chunk_size=5000):
        if pk in answers:
            asked.add(pk)
            answered = outcome == "answered"
            seconds = (None if milliseconds is None else milliseconds / 1000) if answered else 0.0
            answers[pk][1].add(seconds, nano)
    return [answers[pk] for pk in answers if pk in asked]


def _medians(answers: list[_Answer]) -> EffortResult:
    def middle(values: list[Any]) -> float | None:
        known = [value for value in values if value is not None]
        return median(known) if known else None

    seconds, nano = (middle([answer.sums[key] for answer in answers]) for key in ("seconds", "nano"))
    return {
        "seconds": None if seconds is None else round(seconds, 3),
        "tokens": middle([answer.tokens for answer in answers]),
        "cost_nano": nano,
        "answers": len(answers),
    }
