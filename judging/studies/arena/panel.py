"""Who is in the crowd: seats that weigh nothing on the judges' board until a curator merges the arena."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from generation.models import Run
from judging.models import Seat, Study


def in_arena() -> dict[str, Any]:
    """Columns of a new seat of the arena."""
    return {"panel": Seat.Panel.ARENA, "weight": 0.0, "excluded_reason": Seat.APART}


def crowd_of(run: Run) -> QuerySet[Seat]:
    """The arena's seats that count in it: nobody took them out by another reason."""
    return run.seats.filter(panel=Seat.Panel.ARENA, excluded_reason__in=(Seat.APART, Seat.MERGED)).defer("plan")


def arena_of(run: Run) -> Study | None:
    return run.studies.filter(arena=True).first()


def open_arenas() -> QuerySet[Study]:
    """Arenas that anybody can come to now, newest first: of published runs whose judging is open."""
    rows = Study.objects.filter(arena=True, state=Study.State.OPEN, run__judging_state=Run.Judging.OPEN)
    rows = rows.filter(run__visibility=Run.Visibility.PUBLISHED)
    return rows.select_related("run").defer("run__config").order_by("-id")
