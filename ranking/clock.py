"""Repairs timestamps after the system clock was moved back: marks and fits dated in the future would block refits until then."""

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
    """Redate marks and fits of the future to now, so that these runs are refitted; returns how many runs there are.

    A fit that began before the clock was moved may be stored at any time after, so its run is marked again. A frozen run
    stays as it is until it is thawed.
    """
    moment = now()
    marked = Run.objects.filter(frozen_at=None, scores_changed_at__gt=moment + AHEAD + apart)
    future = Fit.objects.filter(until=None, run__frozen_at=None, read_at__gt=moment + apart)
    runs = set(marked.values_list("pk", flat=True)) | set(future.values_list("run", flat=True))
    if not runs:
        return 0
    log.warning("clock_moved_back", runs=len(runs))
    with transaction.atomic():  # a fit that is dated now and lies behind no mark would hide what it missed
        hiding = list(Fit.objects.filter(until=None, read_at__gt=moment, run__in=runs).values_list("pk", flat=True))
        marked.update(scores_changed_at=moment + AHEAD)
        for pk in runs:
            move_mark(pk, AHEAD)
        Fit.objects.filter(pk__in=hiding).update(read_at=moment)
    return len(runs)


def follow_clock(latest: datetime) -> datetime:
    """Forget the future; where the clock is behind the latest time this process saw, even what is seconds ahead.

    Such a time cannot come from another host's clock. Returns the latest time to remember: after a small step back it stays
    until the clock has caught up, because fits may be under way; after a large step these are far enough ahead to be found.
    """
    moment = now()
    behind = latest - moment
    forget_future(apart=timedelta(0) if behind > timedelta(0) else APART)
    return latest if timedelta(0) < behind <= APART + UNDER_WAY else moment
