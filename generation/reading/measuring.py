"""Verbs about measurements: what still waits for one, ringing for it, and telling rankings that there is something new."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import structlog
from django.db.models import Exists, F, OuterRef, Q
from django.utils.timezone import now

from generation.formats import get_format
from generation.formats.base import BackendMissing
from generation.models import Event, Measurement, Run, Sample
from generation.queue import ring_once
from generation.reading.answers import measure_run

log = structlog.get_logger(__name__)
LATE = timedelta(seconds=5)  # between an answer's time and its commit
EVER = datetime(1970, 1, 1, tzinfo=UTC)


def unmeasured(run: Run) -> int:
    """Answers that the run's backend has not measured yet."""
    mine = Measurement.objects.filter(sample=OuterRef("pk"), backend=run.measure_backend)
    return run.samples.filter(~Exists(mine), state=Sample.State.DRAWN).count()


def automatic_runs() -> list[Run]:
    """Runs that a formula scores and that may change; read whole, because only one database can search a JSON list."""
    columns = ("pk", "code", "format", "protocols", "measure_backend", "scores_changed_at")
    runs = Run.objects.filter(frozen_at=None).only(*columns)
    return [run for run in runs if run.is_measured]


def ring_for_unmeasured() -> int:
    """Have workers measure what a slower backend has not seen yet; says for how many runs. Losing a ring loses nothing."""
    waiting = [
        run
        for run in automatic_runs()
        if run.measure_backend != get_format(run.format).measure_backends[0] and unmeasured(run)
    ]
    for run in waiting:
        ring_once("measure", "generation.jobs.measure", run.pk, run.measure_backend)
    return len(waiting)


def mark_new_scores() -> int:
    """Say that the ranking of each automatic run with new answers is stale; says how many. At most once a sweep, so that a
    large run is not scored again for every answer."""
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


def measure_by(run: Run, backend: str) -> int:
    """What a worker does; a backend that is not installed is noted on the run once, in words."""
    try:
        return measure_run(run, backend=backend)
    except BackendMissing as missing:
        log.error("backend_missing", run=run.code, backend=backend, detail=str(missing))
        last = run.events.filter(verb__in=["measure_failed", "use_backend"]).order_by(F("at").desc(), "-pk").first()
        if last is None or last.verb != "measure_failed":
            Event.objects.create(run=run, verb="measure_failed", subject=backend, reason=str(missing))
        return 0
