"""Verbs: say that the ranking of a run is stale: a fit that read its rows before the mark is made once more.

The mark only ever moves forward, and is set after the commit of what changed, so that no fit misses a change. Where the clock
was set back, `ranking/clock.py` moves marks and fits back together.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils.timezone import now

from generation.models import Run

AHEAD = timedelta(seconds=2)


def mark_scores(run_id: int) -> None:
    """Within the transaction too: whoever dies after the commit has left a mark."""
    move_mark(run_id)
    transaction.on_commit(lambda: move_mark(run_id))


def mark_scores_after(run_id: int, *, marked: datetime | None = None) -> None:
    """Only after the commit, a little ahead, and not again before that is reached: votes must not wait for one another here.

    `marked` is the mark as the caller read it: while it lies ahead there is nothing to write.
    """
    transaction.on_commit(lambda: None if marked and marked > now() else move_mark(run_id, AHEAD))


def move_mark(run_id: int, ahead: timedelta = timedelta(0)) -> None:
    moment = now()
    reached = Q(scores_changed_at=None) | Q(scores_changed_at__lt=moment)
    Run.objects.filter(reached, pk=run_id).update(scores_changed_at=moment + ahead)
