"""The sweeper's sign of life, in the queue: `doctor` and `/metrics` ask for it."""

from __future__ import annotations

import time

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from generation.queue import queue_connection

KEY = "benchsite:sweeper"
KEPT = 86_400


def beat() -> None:
    """Never raises: a queue that is away is the bell's news."""
    try:
        queue_connection(settings.REDIS_URL).set(KEY, repr(time.time()), ex=KEPT)
    except (RedisError, OSError):
        return


def seconds_since_beat(connection: Redis) -> float | None:
    """None where no sweeper swept within a day."""
    found = connection.get(KEY)
    return None if found is None else max(0.0, time.time() - float(found))
