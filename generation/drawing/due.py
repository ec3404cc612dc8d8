"""What is due, where and when."""

from __future__ import annotations

from django.db.models import DateTimeField, F, Min
from django.db.models.functions import Coalesce, Greatest
from django.utils.timezone import now

from generation.models import Run, Sample


def runs_to_draw(run_id: int | None = None) -> list[int]:
    """Open runs with something due now: this one, or all."""
    due = Sample.objects.claimable()
    if run_id is not None:
        return [run_id] if due.filter(run_id=run_id).exists() else []
    runs = Run.objects.filter(drawing_state=Run.Drawing.OPEN).order_by("pk").values_list("pk", flat=True)
    return [pk for pk in runs if due.filter(run_id=pk).exists()]


def seconds_to_due(run_id: int | None = None) -> float | None:
    """Until the next sample of an open run may be asked; None if there is none. A model's breaker counts."""
    waiting = Sample.objects.filter(
        state=Sample.State.PENDING,
        run__drawing_state=Run.Drawing.OPEN,
        run__setting_up=False,
        model__refused_reason="",
    )
    if run_id is not None:
        waiting = waiting.filter(run_id=run_id)
    at = Greatest(F("next_at"), Coalesce(F("model__open_until"), F("next_at")), output_field=DateTimeField())
    first = waiting.aggregate(first=Min(at))["first"]
    return None if first is None else (first - now()).total_seconds()
