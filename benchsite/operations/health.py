"""Whether the database takes writes and the queue takes jobs, answered within seconds whatever they do.

Each is asked in a thread of its own, and both at the same time.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from threading import Event

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.signals import got_request_exception
from django.db import Error, connection, transaction
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from benchsite.lib.database.errors import server_words, sqlstate
from benchsite.operations.probes import LIMIT_SECONDS, NO_ANSWER, Probe, StillWaiting
from generation.queue import end_presence, note_presence, note_trouble, queue_connection

PROBE_KEY = "benchsite:probe"
STANDBY_SECONDS = 3
WATCH_SECONDS = 10.0
WAITING = """
SELECT count(*), max(extract(epoch FROM clock_timestamp() - state_change)) FROM pg_stat_activity
WHERE wait_event = 'SyncRep' AND datname = current_database() AND clock_timestamp() - state_change > make_interval(secs => %s)
"""
NEW_PAGES = "CREATE TEMPORARY TABLE benchsite_room AS SELECT repeat('x', 1000) FROM generate_series(1, 1000)"
REFUSALS = ("25006", "53100", "53300")  # SQLSTATEs: it only reads, its disk is full, it has no connection left
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def try_write() -> str:
    """A write that is rolled back: a server that only reads, has no room or no connection left says so here."""
    try:
        with transaction.atomic():
            Session(session_key=f"probe-{time.time_ns()}", session_data="", expire_date=LONG_AGO).save(
                force_insert=True
            )
            transaction.set_rollback(True)
        return waiting_commits()
    except Exception as error:  # any driver's own error class
        return server_words(error)


def try_room() -> str:
    """A megabyte of new pages, taken back at once: `try_write` may find room in a page that is there. It is dear, so for the doctor alone."""
    if connection.vendor != "postgresql":
        return ""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(NEW_PAGES)
            transaction.set_rollback(True)
    except Error as error:
        if sqlstate(error) in REFUSALS:
            return server_words(error)
    return ""


def waiting_commits() -> str:
    """What is rolled back waits for no standby, so this asks how long the commits of others do."""
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute(WAITING, [STANDBY_SECONDS])
        number, longest = cursor.fetchone()
    commits = "1 commit waits" if number == 1 else f"{number} commits wait"
    return f"{commits} for the synchronous standby, for up to {longest:.0f} s" if number else ""


def look_at_database() -> str:
    """As `try_write`, by a new connection, as a worker that starts would ask for one."""
    try:
        if connection.vendor == "sqlite":  # else it would wait for another writer longer than anybody waits for us
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA busy_timeout = 500")
        return try_write()
    finally:
        connection.close()


def look_at_queue() -> str:
    """A key that is written: a queue that is out of memory answers, and takes no job."""
    try:
        queue_connection(settings.REDIS_URL).set(PROBE_KEY, "1", ex=60)
    except (RedisError, OSError) as error:
        # Where it is stays among us: a client's own errors name host and port, the server's never do.
        words = NO_ANSWER if isinstance(error, (RedisConnectionError, OSError)) else " ".join(str(error).split())
        return f"{words} ({type(error).__name__})"
    return ""


DATABASE = Probe("database", look_at_database)
QUEUE = Probe("queue", look_at_queue)


@receiver(got_request_exception)
def note_refusal(**kwargs: object) -> None:
    """On a full disk the probe's row may fit for a long time, in a page that is there; others need a new one."""
    error = sys.exc_info()[1]
    if isinstance(error, Error) and sqlstate(error) in REFUSALS:
        DATABASE.note(server_words(error))


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The database takes writes and the queue takes jobs."""
    wrong = look()
    text = "".join(f"{name}: {words}\n" for name, words in wrong.items()) or "ok\n"
    return HttpResponse(text, status=503 if wrong else 200, content_type="text/plain")


def look() -> dict[str, str]:
    """What is wrong, by what it is wrong with; this host's presence, or what it does not reach, is told to the others."""
    for probe in (DATABASE, QUEUE):
        probe.begin()
    wrong = {probe.name: words for probe in (DATABASE, QUEUE) if (words := probe.wrong())}
    if not wrong:
        QUEUE.afterwards(note_presence, "web")
    elif DATABASE.name in wrong and QUEUE.name not in wrong:
        QUEUE.afterwards(note_trouble, DATABASE.name, wrong[DATABASE.name])
    return wrong


def leave() -> None:
    """This host's pages are stopped in good order. After what the last look has to tell, in the same thread."""
    with suppress(StillWaiting):
        QUEUE.afterwards(end_presence, "web").result(timeout=LIMIT_SECONDS)


def watch(stop: Event, *, every: float = WATCH_SECONDS) -> None:
    """Looks until it is stopped: a web host whose `/readyz` nobody asks logs, too, what it does not reach."""
    while not stop.wait(every):
        look()
