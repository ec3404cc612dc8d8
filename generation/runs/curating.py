"""Verbs of a curator about drawings, entrants and runs. Nothing is deleted, each can be undone, each says who did it and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.timezone import now

from generation.models import LEAK_MARKED, OFFENSIVE, Entrant, Event, LanguageModel, Run, Sample
from generation.queue import enqueue, enqueue_drawing
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.expansion import expand_samples
from generation.runs.lifecycle import retry_failed
from generation.runs.staleness import mark_stale
from generation.sandbox.programs import OFF, why_not
from generation.suites.suite import Suite

AT_ONCE = 500  # SQLite takes a limited number of values in one statement

Change = Callable[[Sample], dict[str, Any]]


def exclude_samples(samples: QuerySet[Sample], *, by: User, reason: str) -> int:
    """Keep drawings from judges and out of the ranking; those that are out already keep their reason."""
    return _change(
        samples.filter(excluded_reason=""),
        Event.Verb.EXCLUDE_SAMPLES,
        by,
        reason,
        lambda _: {"excluded_reason": reason[:300]},
    )


def restore_samples(samples: QuerySet[Sample], *, by: User, reason: str) -> int:
    """Let excluded drawings in again."""

    def restored(sample: Sample) -> dict[str, Any]:
        return {"excluded_reason": "", "flags": [flag for flag in sample.flags if flag != OFFENSIVE]}

    return _change(samples.exclude(excluded_reason=""), Event.Verb.RESTORE_SAMPLES, by, reason, restored)


def mark_offensive(samples: QuerySet[Sample], *, by: User, reason: str) -> int:
    """Exclude drawings because nobody should have to look at them; `restore_samples` takes it back."""

    def marked(sample: Sample) -> dict[str, Any]:
        return {"excluded_reason": f"offensive: {reason}"[:300], "flags": _with(sample.flags, OFFENSIVE)}

    return _change(samples, Event.Verb.MARK_OFFENSIVE, by, reason, marked)


def mark_identity_leak(samples: QuerySet[Sample], *, by: User, reason: str) -> int:
    """Hold drawings that say who drew them, where our own search did not see it."""

    def marked(sample: Sample) -> dict[str, Any]:
        return {"held": True, "flags": _with(sample.flags, LEAK_MARKED)}

    return _change(samples.filter(held=False), Event.Verb.MARK_IDENTITY_LEAK, by, reason, marked)


def clear_identity_leak(samples: QuerySet[Sample], *, by: User, reason: str) -> int:
    """Release held drawings: they do not say who drew them after all."""

    def cleared(sample: Sample) -> dict[str, Any]:
        return {"held": False, "flags": [flag for flag in sample.flags if flag != LEAK_MARKED]}

    return _change(samples.filter(held=True), Event.Verb.CLEAR_IDENTITY_LEAK, by, reason, cleared)


def _with(flags: list[str], flag: str) -> list[str]:
    return flags if flag in flags else [*flags, flag]


@transaction.atomic
def _change(samples: QuerySet[Sample], verb: Event.Verb, by: User, reason: str, change: Change) -> int:
    """Give each sample its new values; one event a run names them all. Says how many changed."""
    pks = list(samples.order_by("pk").values_list("pk", flat=True))
    codes: dict[int, list[str]] = defaultdict(list)
    for start in range(0, len(pks), AT_ONCE):
        mine = Sample.objects.filter(pk__in=pks[start : start + AT_ONCE])
        # Only the row, not its key: votes that point to these drawings need not wait.
        batch = list(mine.select_for_update(no_key=True).only("code", "run_id", "flags"))
        for sample in batch:
            values = change(sample)
            for name, value in values.items():
                setattr(sample, name, value)
            codes[sample.run_id].append(sample.code)
        Sample.objects.bulk_update(batch, list(values))
    _log_by_run(codes, verb, by, reason, "drawing")
    return len(pks)


def _log_by_run(codes: dict[int, list[str]], verb: Event.Verb, by: User, reason: str, noun: str) -> None:
    for run in Run.objects.filter(pk__in=codes):
        refuse_frozen(run)
        mine = codes[run.pk]
        subject = f"{noun} {mine[0]}" if len(mine) == 1 else f"{len(mine)} {noun}s"
        Event.objects.create(run=run, actor=by, verb=verb, subject=subject, reason=reason, facts={f"{noun}s": mine})
        mark_stale(run.pk)


def disqualify_entrants(entrants: QuerySet[Entrant], *, by: User, reason: str) -> int:
    """Take entrants out of the competition; what they drew stays, and nothing more is drawn for them."""
    competing = entrants.filter(disqualified="")

    def out(pks: list[int]) -> None:
        Entrant.objects.filter(pk__in=pks).update(disqualified=reason, approved=False)
        waiting = Sample.objects.filter(entrant__in=pks, state=Sample.State.PENDING)
        waiting.update(state=Sample.State.CANCELLED)

    return _change_entrants(competing, Event.Verb.DISQUALIFY_ENTRANTS, by, reason, out)


def approve_entrants(entrants: QuerySet[Entrant], *, by: User, reason: str) -> int:
    """Let entrants compete, with what is still to be drawn for them; also takes a disqualification back."""
    waiting = entrants.exclude(disqualified="", approved=True)
    if waiting.exclude(python="").exists() and (why := why_no_programs()):
        raise RunError(why)

    def back(pks: list[int]) -> None:
        Entrant.objects.filter(pk__in=pks).update(disqualified="", approved=True)
        Run.objects.filter(entrants__in=pks).update(finished_at=None)
        bare = Entrant.objects.filter(pk__in=pks, samples=None)  # a program that failed its check has no samples yet
        for run in Run.objects.filter(entrants__in=bare).exclude(drawing_state=Run.Drawing.CANCELLED).distinct():
            expand_samples(run, Suite.from_dict(run.config))
        cancelled = Sample.objects.filter(entrant__in=pks, state=Sample.State.CANCELLED)
        again = cancelled.exclude(run__drawing_state=Run.Drawing.CANCELLED)
        again.update(state=Sample.State.PENDING, next_at=now())
        enqueue_drawing()

    return _change_entrants(waiting, Event.Verb.APPROVE_ENTRANTS, by, reason, back)


def why_no_programs() -> str:
    """Why Python programs are not run here; empty where they are."""
    return why_not() if settings.PYTHON_PROGRAMS else OFF


@transaction.atomic
def _change_entrants(
    entrants: QuerySet[Entrant],
    verb: Event.Verb,
    by: User,
    reason: str,
    change: Callable[[list[int]], None],
) -> int:
    rows = list(entrants.order_by("pk").values_list("pk", "run_id", "name"))
    names: dict[int, list[str]] = defaultdict(list)
    for _, run, name in rows:
        names[run].append(name)
    change([pk for pk, *_ in rows])
    _log_by_run(names, verb, by, reason, "entrant")
    return len(rows)


@transaction.atomic
def retry_runs(runs: QuerySet[Run], *, by: User, reason: str) -> int:
    """Give the failed samples of runs a fresh start; says how many."""
    return sum(retry_failed(run, by=by, reason=reason) for run in runs)


@transaction.atomic
def retry_samples(samples: QuerySet[Sample], *, by: User, reason: str) -> int:
    """Give these samples a fresh start where they failed; says how many."""
    failed = samples.filter(state=Sample.State.FAILED, entrant__disqualified="")
    if failed.filter(run__drawing_state=Run.Drawing.CANCELLED).exists():
        raise RunError("A cancelled run draws nothing more; start a new one.")
    runs = list(failed.values_list("run_id", flat=True).distinct().order_by())
    models = list(failed.values_list("model_id", flat=True).distinct().order_by())
    pks = list(failed.order_by("pk").values_list("pk", flat=True))
    codes: dict[int, list[str]] = defaultdict(list)
    for start in range(0, len(pks), AT_ONCE):
        # Still failed, on the row itself: a late answer is kept, not asked for and paid again.
        still = Sample.objects.filter(pk__in=pks[start : start + AT_ONCE], state=Sample.State.FAILED)
        for code, run in still.select_for_update(no_key=True).values_list("code", "run_id"):
            codes[run].append(code)
        still.update(state=Sample.State.PENDING, claims=0, next_at=now())
    _log_by_run(codes, Event.Verb.RETRY_SAMPLES, by, reason, "drawing")
    Run.objects.filter(pk__in=runs).update(finished_at=None)
    LanguageModel.objects.filter(pk__in=models).update(failures_in_row=0, open_until=None, refused_reason="")
    enqueue_drawing()
    return sum(map(len, codes.values()))


@transaction.atomic
def ask_reread(runs: QuerySet[Run], *, by: User, reason: str) -> int:
    """Have a worker read every answer of runs again by today's rules; its own event says what changed."""
    for run in runs:
        refuse_frozen(run)
        Event.objects.create(run=run, actor=by, verb=Event.Verb.ASK_REREAD, reason=reason)
        enqueue("measure", "generation.jobs.reread", run.pk, by.pk, reason)
    return len(runs)
