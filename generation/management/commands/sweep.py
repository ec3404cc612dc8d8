"""`manage.py sweep`: frees what lost workers held and rings the bell for what is due."""

from __future__ import annotations

import signal
import threading
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

from generation.drawing.pricing import runs_to_price
from generation.drawing.turns import Swept, sweep
from generation.heartbeat import beat
from generation.queue import ring_for_drawing
from generation.reading.backends import ring_for_asked
from generation.reading.measuring import mark_new_scores, ring_for_unmeasured
from generation.runs.notices import send_notices

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    """Sweeps once, or for ever."""

    help = "Give up lapsed calls, free their samples, note finished runs and ring the bell. Safe to run twice at once."
    requires_system_checks = []  # they load every page, and this one serves none

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--forever", action="store_true", help=f"every {settings.SWEEP_SECONDS} seconds")

    def handle(self, *args: Any, forever: bool, **options: Any) -> None:
        if not forever:
            self.stdout.write(describe(sweep_and_ring()))
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            try:
                sweep_and_ring()
            except (DatabaseError, InterfaceError) as error:
                log.warning("database_away", error=type(error).__name__)
                connection.close()
            close_old_connections()
            stop.wait(settings.SWEEP_SECONDS)


def sweep_and_ring() -> Swept:
    swept = sweep()
    if swept.due or runs_to_price():
        ring_for_drawing()
    mark_new_scores()
    ring_for_unmeasured()
    ring_for_asked()
    send_notices()
    beat()
    return swept


def describe(swept: Swept) -> str:
    return (
        f"{swept.lost_calls} lost calls; {swept.again} samples freed, {swept.failed} failed, {swept.cancelled} cancelled; "
        f"{swept.finished_runs} runs finished; {'work is due' if swept.due else 'nothing is due'}."
    )
