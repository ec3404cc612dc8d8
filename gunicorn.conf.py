"""What a web process does besides serving pages; gunicorn reads this file by itself where it is started."""

from __future__ import annotations

from threading import Event, Thread
from typing import Any

LAST_LOOK_SECONDS = 2.0  # for a look that is under way


def post_worker_init(worker: Any) -> None:
    """It watches what it needs. SQLite's file is its own host's, and a look would take turns with those who write."""
    from django.db import connection

    from benchsite.operations.health import watch

    worker.stop_watching = Event()
    worker.watching = Thread(target=watch, args=(worker.stop_watching,), name="watch", daemon=True)
    if connection.vendor != "sqlite":
        worker.watching.start()


def worker_exit(server: Any, worker: Any) -> None:
    """Nobody misses a host whose pages were stopped in good order; while others of its processes serve, they say so."""
    if not worker.booted:
        return
    from benchsite.operations.health import leave

    worker.stop_watching.set()
    if worker.watching.is_alive():
        worker.watching.join(LAST_LOOK_SECONDS)
    leave()
