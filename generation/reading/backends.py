"""Verbs about the backend that measures a run: switch to another one, at once or by a worker."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.timezone import now

from benchsite.lib.progress_bar import Progress, unwatched
from generation.formats import get_format
from generation.formats.base import BackendMissing
from generation.models import Event, Measurement, Run, Sample
from generation.queue import enqueue, enqueue_if_idle
from generation.reading.measuring import measure_run
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.staleness import mark_stale

JOB = ("measure", "generation.jobs.switch_backend")
NEWS = (Event.Verb.ASK_BACKEND, Event.Verb.USE_BACKEND, Event.Verb.MEASURE_FAILED)
RETRIED_FOR = timedelta(days=1)  # requests older than this are not retried


def refuse_backend(run: Run, backend: str) -> None:
    known = get_format(run.format).measure_backends
    if backend not in known:
        raise RunError(f"{run.format} has no backend {backend!r}; it has {', '.join(known)}.")


def use_backend(run: Run, backend: str, *, by: User | None = None, reason: str = "") -> None:
    """Score the run by another measuring backend; what the old one said stays stored, apart."""
    refuse_frozen(run)
    refuse_backend(run, backend)
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(measure_backend=backend)
        mark_stale(run.pk)
        Event.objects.create(run=run, actor=by, verb=Event.Verb.USE_BACKEND, reason=reason, facts={"backend": backend})
    run.refresh_from_db()


def switch_backend(
    run: Run,
    backend: str,
    *,
    everything: bool = False,
    by: User | None = None,
    reason: str = "",
    progress: Progress = unwatched,
) -> int:
    """Measure by a backend, then score the run by it, unless it measured nothing; says how many were measured."""
    refuse_backend(run, backend)
    try:
        done = measure_run(run, backend=backend, everything=everything, progress=progress)
    except BackendMissing as missing:
        raise RunError(str(missing)) from None
    stored = Measurement.objects.filter(sample__run=run, backend=backend).exists()
    if not done and (everything or not stored) and run.samples.filter(state=Sample.State.DRAWN).exists():
        raise RunError(f"The backend {backend} measured nothing; the log may say why.")
    use_backend(run, backend, by=by, reason=reason)
    return done


@transaction.atomic
def ask_backend(run: Run, backend: str, *, by: User, reason: str = "") -> None:
    """Has a worker switch the run; its own event says when it did, or why it could not."""
    refuse_frozen(run)
    refuse_backend(run, backend)
    Event.objects.create(run=run, actor=by, verb=Event.Verb.ASK_BACKEND, subject=backend, reason=reason)
    enqueue(*JOB, run.pk)


def news_of_backend(run: Run) -> Event | None:
    """What was last said about the run's backend: asked for, in use, or failed."""
    return run.events.filter(verb__in=NEWS).order_by("-at", "-pk").first()


def switch_as_asked(run: Run) -> None:
    """What a worker does; a second job for the same request finds it done."""
    asked = news_of_backend(run)
    if asked is None or asked.verb != Event.Verb.ASK_BACKEND:
        return
    try:
        switch_backend(run, asked.subject, by=asked.actor, reason=asked.reason)
    except RunError as error:
        Event.objects.create(run=run, verb=Event.Verb.MEASURE_FAILED, subject=asked.subject, reason=str(error))


def enqueue_asked_backends() -> int:
    """Enqueues every request that is not done yet; returns how many."""
    since = now() - RETRIED_FOR
    runs = Run.objects.filter(frozen_at=None, events__verb=Event.Verb.ASK_BACKEND, events__at__gt=since).distinct()
    waiting = [run for run in runs.only("pk") if (news := news_of_backend(run)) and news.verb == Event.Verb.ASK_BACKEND]
    for run in waiting:
        enqueue_if_idle(*JOB, run.pk)
    return len(waiting)
