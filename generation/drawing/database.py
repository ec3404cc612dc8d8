"""The thread in which a crew speaks to the database, so that calls to models go on meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import structlog
from django.db import Error as DatabaseFailure
from django.db import connection

from benchsite.lib.database.errors import is_away, server_words
from generation.queue import note_trouble

log = structlog.get_logger(__name__)
T = TypeVar("T")


class DatabaseThread:
    """Call it with a function and its arguments; once `stopping` is set, it waits no longer than `patience` for a database that is away."""

    def __init__(self, stopping: asyncio.Event, *, patience: float) -> None:
        self.stopping, self.patience = stopping, patience
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")

    async def __call__(self, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """With the database away, wait for it and try again: answers are not dropped."""
        loop, wait = asyncio.get_running_loop(), 0.2
        while True:
            try:
                return await loop.run_in_executor(self.thread, lambda: work(*arguments, **named))
            except DatabaseFailure as error:
                if not is_away(error):
                    raise
                log.warning("database_unreachable", error=server_words(error))
                await asyncio.to_thread(note_trouble, "database", server_words(error))
                await loop.run_in_executor(self.thread, _close_connection)
                if self.stopping.is_set() and wait > self.patience:
                    raise
            await asyncio.sleep(wait)
            wait = min(wait * 2, 5.0)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self.thread, _close_connection)
        self.thread.shutdown()


def _close_connection() -> None:
    # Each thread has its own; a broken one may complain even about being closed.
    with contextlib.suppress(Exception):
        connection.close()
