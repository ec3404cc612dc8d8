"""`manage.py refit`: keeps leaderboards fresh. It asks the database what is stale, so no lost message can stop it."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog
from django.core.management.base import BaseCommand, CommandParser
from django.db import Error, close_old_connections, connection

from benchsite.lib.database.errors import is_away, server_words
from benchsite.lib.progress_bar import Bar, Progress
from judging.pairs.voting import mark_missed
from judging.studies.entering import free_places
from ranking.clock import follow_clock, forget_future
from ranking.fitting import queue_full_fit, refit_fast, refit_fully, stale_fits
from ranking.models import Fit
from ranking.public_states import take_public_states
from ranking.webhooks.sending import enqueue_deliveries

log = structlog.get_logger(__name__)
EVERY = 2.0  # seconds between looks: votes that come in between share one fit
RING_AGAIN = 20.0  # seconds before a full fit that is still missing is asked for again
EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Command(BaseCommand):
    """Refits once, or for ever."""

    help = "Fit the runs whose votes, grades or measures have changed. Safe to run twice at once."
    requires_system_checks = []  # they load every page, and this one serves none

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--forever", action="store_true", help=f"look every {EVERY:.0f} seconds")

    def handle(self, *args: Any, forever: bool, **options: Any) -> None:
        if not forever:
            with Bar(self.stderr, "Fitting") as bar:
                made = refit_once(bar.to)
            self.stdout.write(f"{made} leaderboards made.")
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        memory = Memory()
        while not stop.is_set():
            try:
                look(memory)
            except Error as error:
                log.warning("database_unreachable", error=server_words(error))
                connection.close()
            close_old_connections()
            stop.wait(EVERY)


def refit_once(progress: Progress) -> int:
    """Make every fit that is stale, the fast ones first; says how many."""
    forget_future()
    free_places()
    mark_missed()
    fast, full = stale_fits(Fit.Kind.FAST), {run.pk for run, _ in stale_fits(Fit.Kind.FULL)}
    for made, (run, protocol) in enumerate(fast, start=1):
        refit_fast(run, protocol)
        progress(made, len(fast) + len(full))
    made = len(fast)
    for place, pk in enumerate(full, start=1):
        made += len(refit_fully(pk))
        progress(len(fast) + place, len(fast) + len(full))
    take_public_states()
    return made


@dataclass
class Memory:
    """When full fits were last asked for, which runs could not be fitted as they were then, and what the clock has shown."""

    rung: dict[int, float] = field(default_factory=dict)
    failed: dict[tuple[int, str], datetime | None] = field(default_factory=dict)
    latest: datetime = EVER


def look(memory: Memory) -> None:
    """Make the fast fits here, and enqueue the full ones, each run at most once in a while."""
    memory.latest = follow_clock(memory.latest)
    free_places()
    mark_missed()
    for run, protocol in stale_fits(Fit.Kind.FAST):
        if memory.failed.get((run.pk, protocol)) == run.scores_changed_at:
            continue
        try:
            refit_fast(run, protocol)
        except Exception as error:  # one run's odd data must not keep the others' leaderboards stale
            if is_away(error):
                raise
            memory.failed[run.pk, protocol] = run.scores_changed_at
            log.error("refit_failed", run=run.code, protocol=protocol, error=repr(error))
    take_public_states()
    enqueue_deliveries()
    for run, _ in stale_fits(Fit.Kind.FULL):
        if time.monotonic() - memory.rung.get(run.pk, -RING_AGAIN) >= RING_AGAIN:
            memory.rung[run.pk] = time.monotonic()
            queue_full_fit(run)
