"""Verbs about who sees a run, and when it is final: publish, unpublish, archive, freeze, thaw."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.timezone import now

from generation.models import Event, Run
from generation.runs.errors import RunError
from generation.runs.staleness import has_new_answers, mark_stale


def publish_runs(runs: Iterable[Run], *, by: User | None, reason: str) -> int:
    """Show runs to everybody."""
    return _show(runs, Run.Visibility.PUBLISHED, Event.Verb.PUBLISH_RUN, by, reason)


def unpublish_runs(runs: Iterable[Run], *, by: User | None, reason: str) -> int:
    """Show runs to curators only; also takes them out of the archive."""
    return _show(runs, Run.Visibility.PRIVATE, Event.Verb.UNPUBLISH_RUN, by, reason)


def archive_runs(runs: Iterable[Run], *, by: User | None, reason: str) -> int:
    """Put runs away instead of deleting them: not drawn, not judged, not shown; every row stays."""
    return _show(runs, Run.Visibility.ARCHIVED, Event.Verb.ARCHIVE_RUN, by, reason)


def coming_demo_runs() -> QuerySet[Run]:
    """Demo runs of a new site that were never published: `manage.py demo_runs` draws, judges and ranks them."""
    return Run.objects.filter(start_key__startswith="demo-").exclude(events__verb=Event.Verb.PUBLISH_RUN)


@transaction.atomic
def _show(runs: Iterable[Run], visibility: str, verb: Event.Verb, by: User | None, reason: str) -> int:
    changed = [run for run in runs if run.visibility != visibility]
    if visibility == Run.Visibility.PUBLISHED and any(run.judged_run_id for run in changed):
        raise RunError("A model judge is not published: its figures are on the board of the run that it judges.")
    for run in changed:
        if visibility == Run.Visibility.ARCHIVED:
            _stop(run, f"Archived: {reason}")
        Run.objects.filter(pk=run.pk).update(visibility=visibility)
        Event.objects.create(run=run, actor=by, verb=verb, reason=reason, facts={"was": run.visibility})
    return len(changed)


@transaction.atomic
def freeze_runs(runs: Iterable[Run], *, by: User | None, reason: str) -> int:
    """Make the leaderboards of runs final: nothing is drawn, judged, excluded or read again until they are thawed.

    What came before is still ranked, and so are votes that commit at the same moment. An answer that was in flight is stored,
    and ranked when the run is thawed, unless it came before the last fit.
    """
    changed = [run for run in runs if not run.frozen_at]
    for run in changed:
        _stop(run, f"Frozen: {reason}")
        if has_new_answers(run):
            mark_stale(run.pk)
        Event.objects.create(run=run, actor=by, verb=Event.Verb.FREEZE_RUN, reason=reason)
    # Last, because it is compared with the times of fits, and votes are let in until this commits.
    Run.objects.filter(pk__in=[run.pk for run in changed]).update(frozen_at=now())
    return len(changed)


@transaction.atomic
def thaw_runs(runs: Iterable[Run], *, by: User | None, reason: str) -> int:
    """Let frozen runs be changed again; drawing and judging stay as they are until somebody opens them."""
    changed = [run for run in runs if run.frozen_at]
    for run in changed:
        Run.objects.filter(pk=run.pk).update(frozen_at=None)
        mark_stale(run.pk)  # for the answers that came in meanwhile
        Event.objects.create(run=run, actor=by, verb=Event.Verb.THAW_RUN, reason=reason)
    return len(changed)


def _stop(run: Run, paused_reason: str) -> None:
    mine = Run.objects.filter(pk=run.pk)
    mine.filter(drawing_state=Run.Drawing.OPEN).update(drawing_state=Run.Drawing.PAUSED, paused_reason=paused_reason)
    mine.filter(judging_state__in=[Run.Judging.OPEN, Run.Judging.PAUSED]).update(judging_state=Run.Judging.CLOSED)
