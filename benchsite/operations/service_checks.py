"""The doctor's checks of what every host shares: database, clock, queue, workers and the other hosts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.timezone import now
from redis import Redis
from redis.exceptions import RedisError

from benchsite.lib.database.errors import sqlstate
from benchsite.operations.findings import Finding, bad, good, warn
from benchsite.operations.health import look_at_queue, try_room, try_write
from generation.queue import (
    SILENT_SECONDS,
    known_queues,
    queue_connection,
    read_presence,
    read_troubles,
    seconds_since_beat,
    workers_by_queue,
)

CLOCKS_APART = 2.0
MISSING_SECONDS = 90


def check_database() -> Iterator[Finding]:
    try:
        connection.ensure_connection()
    except Exception as error:  # any driver's own error class
        state = sqlstate(error)
        reason = " ".join(str(error).split()) or type(error).__name__
        fix = "Free connections, or allow more." if state == "53300" else "Start it, or correct DATABASE_URL."
        yield bad(f"The database does not answer: {reason}{f' ({state})' if state else ''}", fix)
        return
    if wrong := try_write() or try_room():
        yield bad(
            f"The database answers ({connection.vendor}) and takes no writes: {wrong}.",
            "Make it the primary again, free disk space or connections, or correct the file's mode.",
        )
    else:
        yield good(f"The database answers and takes writes ({connection.vendor}).")
    executor = MigrationExecutor(connection)
    if waiting := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        yield bad(f"{len(waiting)} migrations are not applied.", "Run: manage.py migrate")
    else:
        yield good("All migrations are applied.")
    if connection.vendor == "sqlite":
        mode = _value("PRAGMA journal_mode")
        is_wal = str(mode).lower() == "wal"
        yield (
            good("SQLite uses write-ahead logging (WAL).")
            if is_wal
            else bad(
                f"SQLite's journal mode is {mode}, so readers block writers.",
                "Move the file off network disks; WAL needs a local one.",
            )
        )


def _value(query: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()[0]


def check_clock() -> Iterator[Finding]:
    if connection.vendor != "postgresql":
        return
    moment: datetime = _value("SELECT clock_timestamp()")
    apart = abs((moment - now()).total_seconds())
    if apart > CLOCKS_APART:
        yield bad(
            f"This machine's clock and the database's are {apart:.0f} s apart.",
            "Run NTP on both: leases depend on the clock.",
        )
    else:
        yield good("The clocks agree.")


def check_queue() -> Iterator[Finding]:
    connection = queue_connection(settings.REDIS_URL)
    try:
        connection.ping()
    except Exception as error:
        yield bad(
            f"The queue does not answer ({type(error).__name__}).", "Start Valkey or Redis, or correct REDIS_URL."
        )
        return
    if wrong := look_at_queue():
        yield bad(f"The queue takes no jobs: {wrong}.", "Raise its memory limit, or free what else it holds.")
    else:
        yield good("The queue answers and takes jobs.")
    if _is_kept(connection):
        yield good("The queue is persistent.")
    else:
        yield warn(
            "The queue loses its jobs on a restart.", "Set `appendonly yes`; otherwise work waits for the sweeper."
        )
    for name, number in workers_by_queue(connection).items():
        if number:
            yield good(f"{number} worker{'s' if number > 1 else ''} for {name}.")
        else:
            yield bad(f"No worker for {name}.", f"Start one: manage.py work {name}")
    beat = seconds_since_beat(connection)
    if beat is None or beat > 4 * settings.SWEEP_SECONDS:
        last = "No sweep in the last day." if beat is None else f"The last sweep was {beat:.0f} s ago."
        yield bad(last, "Start one: manage.py sweep --forever")
    else:
        yield good("The sweeper is running.")


def check_hosts() -> Iterator[Finding]:
    """Hosts that did their part within the last days, and whether they still do."""
    try:
        connection = queue_connection(settings.REDIS_URL)
        seen, troubles = read_presence(connection), read_troubles(connection)
    except (RedisError, OSError):
        return  # said above
    for host in sorted({host for host, _ in seen}):
        roles = {role: seconds for (name, role), seconds in seen.items() if name == host}
        missing = {role: seconds for role, seconds in roles.items() if seconds > _patience(role)}
        if missing:
            gone = ", ".join(f"{role} for {_duration(seconds)}" for role, seconds in sorted(missing.items()))
            yield bad(
                f"Host {host} is missing: no sign of {gone}.",
                f"Start it again; if it was removed: manage.py doctor --forget {host}",
            )
        else:
            yield good(f"Host {host} is up: {', '.join(sorted(roles))}.")
    for (host, what), words in troubles.items():
        yield bad(f"Host {host} does not reach the {what}: {words}.", "Look at the network between them.")


def _patience(role: str) -> float:
    return SILENT_SECONDS if role in known_queues() else MISSING_SECONDS


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _is_kept(connection: Redis) -> bool:
    if int(connection.info("persistence").get("aof_enabled", 0)):
        return True
    try:
        return bool(connection.config_get("save").get("save"))
    except RedisError:  # a hosted queue hides its configuration, and its operator takes care of this
        return True
