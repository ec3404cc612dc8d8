"""Who asks: each call names its worker, which says every few seconds that it still waits for it."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Max, Q
from django.utils.timezone import now

from generation.models import ProviderCall, Run

MISSED = 4  # reports: one answer that takes all the time it may to be read delays two at most


def worker_name() -> str:
    return f"{socket.gethostname()[:60]}, process {os.getpid()}"


def note_alive(worker: str) -> int:
    """Says that a worker still waits for its calls."""
    return ProviderCall.objects.filter(outcome=ProviderCall.Outcome.OPEN, worker=worker).update(seen_at=now())


@dataclass(frozen=True)
class LostWorker:
    """A worker that was not heard of for a while, and what it still holds."""

    name: str
    calls: int
    seen_at: datetime
    lease_until: datetime

    def __str__(self) -> str:
        held = "Its drawing" if self.calls == 1 else f"Its {self.calls} drawings"
        return (
            f"Worker {self.name} last reported at {self.seen_at:%H:%M:%S} UTC and seems to be lost. {held} will be retried "
            f"when its lease ends, at {self.lease_until:%H:%M:%S} UTC; until then the cost of the lost calls is unknown."
        )


@dataclass(frozen=True)
class Workers:
    """The workers of a run: those that are lost, and how many calls the others are waiting for."""

    lost: list[LostWorker]
    waiting: int


def workers_of(run: Run) -> Workers:
    calls = run.calls.filter(outcome=ProviderCall.Outcome.OPEN).exclude(worker="")
    silent = Q(seen_at__lt=now() - timedelta(seconds=MISSED * settings.ALIVE_SECONDS))
    rows = (
        calls.order_by("worker")
        .values("worker")
        .annotate(calls=Count("id"), seen=Max("seen_at"), lease=Max("lease_until"), silent=Count("id", filter=silent))
    )
    lost = [
        LostWorker(row["worker"], row["calls"], row["seen"], row["lease"])
        for row in rows
        if row["silent"] == row["calls"]
    ]
    return Workers(lost, sum(row["calls"] for row in rows) - sum(worker.calls for worker in lost))
