"""Whether the database takes writes and the queue takes jobs, answered within seconds whatever they do.

Each look runs in a thread of its own, one at a time for each of the two: a database that hangs keeps that thread, and no
request waits for it longer than `LIMIT_SECONDS`.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWaiting
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from threading import Event, Lock, Thread

import structlog
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from psycopg import OperationalError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from benchsite.lib.database.errors import server_words
from generation.queue import note_presence, note_trouble, queue_connection

log = structlog.get_logger(__name__)
LIMIT_SECONDS = 2.0
QUICK_SECONDS = 0.3  # what a page asks of the database itself takes less, or the probe is asked what is wrong
REPEAT_SECONDS = 10.0  # an outage is logged when it begins, and as often as this while it lasts
NO_ANSWER = "no answer"
PROBE_KEY = "benchsite:probe"
STANDBY_SECONDS = 3
WAITING = """
SELECT count(*), max(extract(epoch FROM clock_timestamp() - state_change)) FROM pg_stat_activity
WHERE wait_event = 'SyncRep' AND datname = current_database() AND clock_timestamp() - state_change > make_interval(secs => %s)
"""
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class Probe:
    """Runs `look` when asked; it returns what is wrong, or nothing. Many who ask at once share one look."""

    def __init__(self, name: str, look: Callable[[], str], *, limit: float = LIMIT_SECONDS) -> None:
        self.name, self.limit = name, limit
        self._look = look
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"probe-{name}")
        self._lock = Lock()
        self._result: Future[str] | None = None
        self._began_at = 0.0
        self._said_at: float | None = None  # when the outage was logged last; none while all is well

    def wrong(self) -> str:
        """What is wrong now, in the server's own words, or nothing."""
        with self._lock:
            age = time.monotonic() - self._began_at
            if self._result is None or (self._result.done() and age >= settings.PROBE_KEPT_SECONDS):
                self._began_at = time.monotonic()
                self._result = self._thread.submit(self._look)
            result, left = self._result, self._began_at + self.limit - time.monotonic()
        try:
            wrong = result.result(timeout=max(left, 0.0))
        except StillWaiting:
            wrong = f"{NO_ANSWER} for {time.monotonic() - self._began_at:.0f} s"
        if not wrong:
            self._said_at = None
        elif self._said_at is None or time.monotonic() - self._said_at >= REPEAT_SECONDS:
            self._said_at = time.monotonic()
            log.warning(f"{self.name}_unreachable", error=wrong)
        return wrong


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


@contextmanager
def ended_if_away() -> Iterator[None]:
    """Statements of this thread that would wait for a database which the probe cannot reach fail, after 3 s or so."""
    over = Event()
    if connection.vendor == "postgresql":
        Thread(target=_hang_up, args=(connections[DEFAULT_DB_ALIAS], over), daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _hang_up(waiting: BaseDatabaseWrapper, over: Event) -> None:
    """The server may have lost a connection that a pooler keeps open: nothing but its own end tells this side.

    Django may then open another one, to the same pooler, so this goes on until the statements have ended.
    """
    pause = QUICK_SECONDS
    while not over.wait(pause):
        if DATABASE.wrong() and (driver := waiting.connection) is not None and not over.is_set():
            with suppress(OSError, OperationalError), socket.socket(fileno=os.dup(driver.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)
            pause = 0.05


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The database takes writes and the queue takes jobs."""
    wrong = {probe.name: words for probe in (DATABASE, QUEUE) if (words := probe.wrong())}
    if not wrong:
        note_presence("web")
    elif DATABASE.name in wrong and QUEUE.name not in wrong:
        note_trouble(DATABASE.name, wrong[DATABASE.name])
    text = "".join(f"{name}: {words}\n" for name, words in wrong.items()) or "ok\n"
    return HttpResponse(text, status=503 if wrong else 200, content_type="text/plain")
