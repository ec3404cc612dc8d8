"""`manage.py migrate`, one at a time: hosts that are upgraded together wait for each other."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management.commands import migrate
from django.db import connections

LOCK = 7_365_823_017  # any number, as long as it is the same on every host


class Command(migrate.Command):
    """Django's own, under a lock that ends with its process."""

    def handle(self, *args: Any, **options: Any) -> None:
        with one_at_a_time(options["database"]):
            lift_idle_limit(options["database"])
            super().handle(*args, **options)


def lift_idle_limit(database: str) -> None:
    """Between two statements of a migration Python may work for longer than a transaction may otherwise be idle."""
    connection = connections[database]
    if "idle_in_transaction" in connection.settings_dict["OPTIONS"].get("options", ""):
        with connection.cursor() as cursor:
            cursor.execute("SET idle_in_transaction_session_timeout = 0")


@contextmanager
def one_at_a_time(database: str) -> Iterator[None]:
    """PostgreSQL keeps the lock by a connection of its own; SQLite's file has one host, so a file beside it will do."""
    connection = connections[database]
    if connection.vendor == "postgresql":
        holder = connection.copy()
        try:
            with holder.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            yield
        finally:
            holder.close()
    else:
        with (settings.VAR_DIR / "migrate.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
