"""`manage.py sweep`: frees what lost workers held and enqueues what is due."""

from __future__ import annotations

import signal
import threading
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import Error, close_old_connections, connection

from benchsite.lib.database.errors import server_words
from generation.drawing.pricing import runs_to_price
from generation.drawing.sweeping import Swept, forget_future, sweep
from generation.queue import beat, end_presence, enqueue_drawing, note_trouble
from generation.reading.backends import enqueue_asked_backends
from generation.reading.measuring import enqueue_measuring
from generation.runs.expansion import enqueue_expansions
from generation.runs.notices import send_notices
from generation.runs.staleness import mark_new_answers

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    """Sweeps once, or for ever."""

    help = "Give up expired calls, release their samples, mark finished runs and enqueue what is due. Safe to run twice at once."
    requires_system_checks = []  # they load every page, and this one serves none

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--forever", action="store_true", help=f"every {settings.SWEEP_SECONDS} seconds")

    def handle(self, *args: Any, forever: bool, **options: Any) -> None:
        if not forever:
            self.stdout.write(describe(sweep_and_enqueue()))
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            try:
                sweep_and_enqueue()
            except Error as error:
                log.warning("database_unreachable", error=server_words(error))
                note_trouble("database", server_words(error))
                connection.close()
            close_old_connections()
            stop.wait(settings.SWEEP_SECONDS)
        end_presence("sweeper")


def sweep_and_enqueue() -> Swept:
    forget_future()
    swept = sweep()
    if swept.due or runs_to_price():
        enqueue_drawing()
    enqueue_expansions()
    mark_new_answers()
    enqueue_measuring()
    enqueue_asked_backends()
    send_notices()
    beat()
    return swept


def describe(swept: Swept) -> str:
    return (
        f"{swept.lost_calls} lost calls; {swept.again} samples freed, {swept.failed} failed, {swept.cancelled} cancelled; "
        f"{swept.finished_runs} runs finished; {'work is due' if swept.due else 'nothing is due'}."
    )
