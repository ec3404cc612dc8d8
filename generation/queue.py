"""The doorbell: tells a worker that there may be work. Losing a ring loses nothing, because the sweeper rings again."""

from __future__ import annotations

from functools import cache
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django_rq import get_queue
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = structlog.get_logger(__name__)
# A queue takes this long to be called away: a page must not wait for one that does not answer.
PATIENCE = 1.0


@cache
def queue_connection(url: str) -> Redis:
    return Redis.from_url(
        url, socket_connect_timeout=PATIENCE, socket_timeout=PATIENCE, retry=Retry(NoBackoff(), retries=0)
    )


def ring(queue: str, job: str, *arguments: Any) -> None:
    """Put a job in the queue once the transaction commits; never raises, even with the queue away."""
    transaction.on_commit(lambda: _ring(queue, job, arguments), robust=True)


def ring_once(queue: str, job: str, *arguments: Any) -> None:
    """As `ring`, unless something waits in that queue already."""
    transaction.on_commit(lambda: _ring(queue, job, arguments, once=True), robust=True)


def ring_for_drawing() -> None:
    """At most one ring waits at a time: whoever answers draws everything that is due."""
    ring_once("draw", "generation.jobs.draw")


def _ring(name: str, job: str, arguments: tuple[Any, ...], *, once: bool = False) -> None:
    try:
        queue = get_queue(name, connection=queue_connection(settings.REDIS_URL), commit_mode="auto")
        # The length of the queue is asked, not a job's id: a job whose id was lost between pop and start would
        # otherwise keep the bell silent for ever.
        if not (once and queue.count):
            queue.enqueue_call(job, args=arguments, result_ttl=0, failure_ttl=3600)
    except (RedisError, OSError) as error:
        log.warning("bell_not_heard", queue=name, error=type(error).__name__)
