"""Verb: go on after the clock was set back, when marks and fits of the future would hide every change until they are reached."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.utils.timezone import now

from generation.models import Run
from generation.runs.staleness import AHEAD, move_mark
from ranking.models import Fit

log = structlog.get_logger(__name__)
APART = timedelta(seconds=30)  # what the clocks of several hosts may differ by
UNDER_WAY = timedelta(minutes=1)  # what a full fit may take


def forget_future(*, apart: timedelta = APART) -> int:
    """Date marks and fits of a time that is yet to come as of now, so that these fits are made anew; says for how many runs.

    A fit that began before the clock was set may be stored at any time after, so its run is marked once more. What is frozen
    stays as it is until it is thawed.
    """
    moment = now()
    marked = Run.objects.filter(frozen_at=None, scores_changed_at__gt=moment + AHEAD + apart)
    future = Fit.objects.filter(until=None, run__frozen_at=None, read_at__gt=moment + apart)
    runs = set(marked.values_list("pk", flat=True)) | set(future.values_list("run", flat=True))
    if not runs:
        return 0
    log.warning("clock_was_set_back", runs=len(runs))
    with transaction.atomic():  # a fit that is dated now and lies behind no mark would hide what it missed
        hiding = list(Fit.objects.filter(until=None, read_at__gt=moment, run__in=runs).values_list("pk", flat=True))
        marked.update(scores_changed_at=moment + AHEAD)
        for pk in runs:
            move_mark(pk, AHEAD)
        Fit.objects.filter(pk__in=hiding).update(read_at=moment)
    return len(runs)


def follow_clock(latest: datetime) -> datetime:
    """Where the clock is behind the latest time this process has seen, the future is no other host's, however near it is.

    Returns the latest time to remember. A small step is watched until it is made good, for fits that were under way; after a
    large one these are far enough ahead to be known anyway.
    """
    moment = now()
    behind = latest - moment
    forget_future(apart=timedelta(0) if behind > timedelta(0) else APART)
    return latest if timedelta(0) < behind <= APART + UNDER_WAY else moment
