"""Verbs: what a judge is shown, and the pick."""

from __future__ import annotations

from typing import Any

from generation.models import Prompt, Sample
from generation.runs.staleness import mark_stale
from judging.models import Seat
from tests.best_of_four.judging.models import Pick


def next_prompt(seat: Seat) -> Prompt | None:
    return seat.run.prompts.exclude(pk__in=seat.picks.values("sample__prompt")).first()


def drawings_of(seat: Seat, prompt: Prompt) -> list[Sample]:
    """Four drawings of one prompt, always the same for a judge, in an order that says nothing about who drew them."""
    drawings = list(seat.run.samples.judgeable().filter(prompt=prompt, attempt=1).order_by("code"))
    return drawings[:4]


def pick_best(*, seat: Seat, code: str) -> Pick:
    """Store the judge's pick among what is shown now; the leaderboard follows."""
    prompt = next_prompt(seat)
    shown = {sample.code: sample for sample in drawings_of(seat, prompt)} if prompt else {}
    pick = Pick.objects.create(run=seat.run, seat=seat, sample=shown[code])
    mark_stale(seat.run_id)
    return pick


def home_part(seats: list[Seat]) -> dict[str, Any]:
    return {"rows": [(seat, seat.picks.count()) for seat in seats]}
