"""Verbs of a curator over many rows at once, as the admin's lists call them: rows, who and why in, how many out."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from generation.models import Run, Sample
from judging.curating.invitations import revoke_invitation
from judging.curating.runs import decide_item, decide_report, set_judging, weigh_judge
from judging.models import GradeItem, Invitation, Report, Seat
from judging.pairs.epochs import newest_epoch, refresh_epoch


def open_judging(runs: QuerySet[Run], *, by: User, reason: str) -> int:
    return _set_judging(runs.exclude(judging_state=Run.Judging.OPEN), "open", by, reason)


def pause_judging(runs: QuerySet[Run], *, by: User, reason: str) -> int:
    return _set_judging(runs.filter(judging_state=Run.Judging.OPEN), "pause", by, reason)


def close_judging(runs: QuerySet[Run], *, by: User, reason: str) -> int:
    return _set_judging(runs.exclude(judging_state=Run.Judging.CLOSED), "close", by, reason)


@transaction.atomic
def _set_judging(runs: QuerySet[Run], verb: str, by: User, reason: str) -> int:
    chosen = list(runs)
    for run in chosen:
        set_judging(run=run, verb=verb, by=by, reason=reason)
    return len(chosen)


def exclude_judges(seats: QuerySet[Seat], *, by: User, reason: str) -> int:
    """Their votes stay on record and leave the ranking."""
    return _weigh(seats.filter(weight__gt=0), by, reason, weight=0)


def halve_judges(seats: QuerySet[Seat], *, by: User, reason: str) -> int:
    """Two of their votes count as one; any other share is set on the run's judging page."""
    return _weigh(seats.filter(panel=Seat.Panel.JUDGES).exclude(weight=0.5), by, reason, weight=0.5)


def restore_judges(seats: QuerySet[Seat], *, by: User, reason: str) -> int:
    return _weigh(
        seats.filter(weight__lt=1).exclude(excluded_reason__in=(Seat.APART, Seat.MERGED)), by, reason, weight=1
    )


@transaction.atomic
def _weigh(seats: QuerySet[Seat], by: User, reason: str, *, weight: float) -> int:
    chosen = list(seats.select_related("run"))
    for seat in chosen:
        weigh_judge(seat=seat, weight=weight, by=by, reason=reason)
    return len(chosen)


def exclude_reported(reports: QuerySet[Report], *, by: User, reason: str) -> int:
    """The judges are right: the drawings they named leave judging."""
    return _decide(reports, by, reason, exclude=True)


def dismiss_reports(reports: QuerySet[Report], *, by: User, reason: str) -> int:
    return _decide(reports, by, reason, exclude=False)


@transaction.atomic
def _decide(reports: QuerySet[Report], by: User, reason: str, *, exclude: bool) -> int:
    waiting = reports.filter(decided_at=None).select_related("matchup__run")
    return sum(decide_report(report=report, exclude=exclude, by=by, reason=reason) for report in waiting)


def exclude_graded(items: QuerySet[GradeItem], *, by: User, reason: str) -> int:
    """The judges are right: the drawings they reported while grading leave judging and the scores."""
    return _decide_items(items, by, reason, exclude=True)


def dismiss_graded(items: QuerySet[GradeItem], *, by: User, reason: str) -> int:
    """The drawings go back on the lists of the judges who reported them."""
    return _decide_items(items, by, reason, exclude=False)


@transaction.atomic
def _decide_items(items: QuerySet[GradeItem], by: User, reason: str, *, exclude: bool) -> int:
    waiting = items.filter(decision="").exclude(reported_at=None).select_related("seat__run", "sample")
    return sum(decide_item(item=item, exclude=exclude, by=by, reason=reason) for item in waiting)


@transaction.atomic
def revoke_invitations(invitations: QuerySet[Invitation], *, by: User, reason: str) -> int:
    usable = list(invitations.filter(revoked_at=None).select_related("run"))
    for invitation in usable:
        revoke_invitation(invitation=invitation, by=by, reason=reason)
    return len(usable)


def with_new_epoch(verb: Callable[..., int]) -> Callable[..., int]:
    """A verb about samples, after which judges are served by what it left and not by what was there a minute ago."""

    @wraps(verb)
    @transaction.atomic
    def followed(samples: QuerySet[Sample], *, by: User, reason: str) -> int:
        runs = list(Run.objects.filter(pk__in=set(samples.order_by().values_list("run", flat=True))))
        changed = verb(samples, by=by, reason=reason)
        for run in runs:
            if changed and newest_epoch(run) is not None:
                refresh_epoch(run)
        return changed

    return followed
