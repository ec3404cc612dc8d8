"""The RQ worker we run: one queue, JSON, and a gentle stop that reaches the process that draws."""

from __future__ import annotations

import contextlib
import os
import signal

from django.conf import settings
from django_rq import get_queue
from django_rq.utils import reset_db_connections
from rq import Worker
from rq.serializers import JSONSerializer


class GentleWorker(Worker):
    """Passes SIGTERM on to its child, so that calls in flight are settled instead of awaited for a whole slice."""

    def handle_warm_shutdown_request(self) -> None:
        super().handle_warm_shutdown_request()
        if self.horse_pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.horse_pid, signal.SIGTERM)


def make_worker(queue: str) -> GentleWorker:
    """One queue a worker: RQ loses jobs for good when a worker with two dies between pop and start."""
    found = get_queue(queue)
    worker = GentleWorker([found], connection=found.connection, serializer=JSONSerializer, worker_ttl=60)
    reset_db_connections()
    return worker


def known_queues() -> list[str]:
    return list(settings.RQ_QUEUES)
