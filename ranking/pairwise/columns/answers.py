"""What entrants answered: valid drawings, how they hold up in every font, and what they cost."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum

from generation.models import ProviderCall, Run, Sample
from ranking.statistics.samples import SampleRate, rates_by_entrant


def sample_rates(run: Run) -> dict[str, SampleRate]:
    """Answers and valid drawings of each entrant, and how well the valid ones hold up in every font."""
    answered = run.samples.filter(state=Sample.State.DRAWN).order_by()
    valid = Count("id", filter=Q(verdict=Sample.Verdict.VALID))
    by_prompt: dict[str, dict[tuple[str, str], tuple[int, int]]] = defaultdict(dict)
    keys = ("entrant__name", "prompt__category", "prompt__text")
    for name, category, text, count, good in answered.values_list(*keys).annotate(samples=Count("id"), good=valid):
        by_prompt[name][category, text] = (count, good)
    measures: dict[str, list[dict[str, Any]]] = defaultdict(list)
    measured = answered.filter(verdict=Sample.Verdict.VALID, measurements__backend=run.measure_backend)
    for name, values in measured.in_order().values_list("entrant__name", "measurements__values"):
        measures[name].append(values)
    return rates_by_entrant(by_prompt, measures)


@dataclass(frozen=True)
class Cost:
    """What an entrant's answers cost; `unknown` calls have no price yet, so the sum is a lower bound then."""

    nano: int
    answers: int
    unknown: int

    @property
    def each_nano(self) -> float | None:
        return self.nano / self.answers if self.answers else None


def costs_of(run: Run) -> dict[str, Cost]:
    unknown = Count("id", filter=Q(cost_nano=None) & ~Q(outcome=ProviderCall.Outcome.OPEN))
    grouped = run.calls.order_by().values_list("sample__entrant__name")
    rows = grouped.annotate(nano=Sum("cost_nano", default=0), unknown=unknown)
    drawn = run.samples.filter(state=Sample.State.DRAWN, imported=False).order_by().values_list("entrant__name")
    answers = dict(drawn.annotate(Count("id")))
    return {name: Cost(nano, answers.get(name, 0), unknown) for name, nano, unknown in rows}
