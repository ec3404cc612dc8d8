"""A consistent snapshot of the database for long reads, while others write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """Everything read inside is from one moment. Nothing may be written inside.

    On SQLite this is a deferred transaction of its own: our usual ones take the writer's place at once.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                # It holds no lock anybody waits for, and a slow download leaves it idle between two portions.
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '10min'")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
