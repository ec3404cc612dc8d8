"""Pages of a run with many votes: statements a page asks of the database, and how long it takes, in this process."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from generation.models import Run
from judging.models import Seat
from judging.pairs.serving import take_seat
from ranking.fitting import fit_run

TIMES = 40  # so that the 95th percentile is not the slowest alone


def measure_pages(run: Run, *, votes: int) -> list[dict[str, Any]]:
    """Each page as who asks for it: home and leaderboard by a reader, the gallery by a curator, a pair by its judge."""
    fit_run(run, full=False)
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED)
    judge = User.objects.create_user("bench-judge")
    seat = Seat.objects.create(run=run, judge=judge, pseudonym="bench judge")
    take_seat(seat.pk)
    curator = User.objects.create_user("bench-curator", is_staff=True, is_superuser=True)
    asked = {
        "home": (None, "/"),
        "leaderboard": (None, f"/runs/{run.code}/leaderboard/"),
        "gallery": (curator, f"/runs/{run.code}/gallery/"),
        "judge": (judge, f"/judge/{run.code}/"),
    }
    return [{"page": name, "votes": votes, **_measure(*who)} for name, who in asked.items()]


def _measure(user: User | None, address: str) -> dict[str, float]:
    client = Client(HTTP_HOST="127.0.0.1")
    if user:
        client.force_login(user)
    _get(client, address)  # what a process does once is done here
    asked: list[str] = []
    with connection.execute_wrapper(lambda run, sql, *rest: (asked.append(sql), run(sql, *rest))[1]):
        _get(client, address)
    spent = [_get(client, address) for _ in range(TIMES)]
    return {"queries": len(asked), "median_ms": float(np.median(spent)), "p95_ms": float(np.percentile(spent, 95))}


def _get(client: Client, address: str) -> float:
    began = time.perf_counter()
    answer = client.get(address)
    if answer.status_code != 200:
        raise SystemExit(f"{address} answered {answer.status_code}.")
    return 1000 * (time.perf_counter() - began)
