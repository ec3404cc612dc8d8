"""Marks a run's leaderboards as out of date; `refit` recomputes every fit older than the mark.

The mark only moves forward and is set after the commit of what changed, so that no fit misses a change. Where the clock
was set back, `ranking/clock.py` moves marks and fits back together.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils.timezone import now

from generation.models import Run, Sample

AHEAD = timedelta(seconds=2)
LATE = timedelta(seconds=5)  # between an answer's time and its commit
EVER = datetime(1970, 1, 1, tzinfo=UTC)


def mark_stale(run_id: int) -> None:
    """Marks within the transaction too: a process that dies after the commit has left a mark."""
    move_mark(run_id)
    transaction.on_commit(lambda: move_mark(run_id))


def mark_stale_after_commit(run_id: int, *, marked: datetime | None = None) -> None:
    """Marks a little ahead, and not again before that moment is reached: votes must not wait for one another here.

    `marked` is the mark as the caller read it: while it lies ahead there is nothing to write.
    """
    transaction.on_commit(lambda: None if marked and marked > now() else move_mark(run_id, AHEAD))


def move_mark(run_id: int, ahead: timedelta = timedelta(0)) -> None:
    moment = now()
    reached = Q(scores_changed_at=None) | Q(scores_changed_at__lt=moment)
    Run.objects.filter(reached, pk=run_id).update(scores_changed_at=moment + ahead)


def automatic_runs() -> list[Run]:
    """Runs that a formula scores and that may change; filtered here, because only one database can search a JSON list."""
    columns = ("pk", "code", "format", "protocols", "measure_backend", "scores_changed_at")
    runs = Run.objects.filter(frozen_at=None).only(*columns)
    return [run for run in runs if run.is_measured]


def mark_new_answers() -> int:
    """Marks each automatic run with new answers and returns how many; once a sweep, so that a large run is not scored
    again for every answer."""
    marked = 0
    for run in automatic_runs():
        if has_new_answers(run):
            fresh = Q(scores_changed_at=None) | Q(scores_changed_at__lt=now() - LATE)
            marked += Run.objects.filter(fresh, pk=run.pk, frozen_at=None).update(scores_changed_at=now())
    return marked


def has_new_answers(run: Run) -> bool:
    """Whether a formula has something to score that came after the run's mark.

    Not what was drawn before the clock was set back: of the future, it would be new at every sweep.
    """
    since = (run.scores_changed_at or EVER) - LATE
    answers = run.samples.filter(state=Sample.State.DRAWN, drawn_at__gt=since, drawn_at__lte=now())
    return run.is_measured and answers.exists()
