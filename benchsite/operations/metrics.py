"""The site's metrics in Prometheus text format.

The number of queries is fixed. Votes and money come from running totals; samples by state and
calls by outcome are counted along an index, which takes about a tenth of a second per million rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import wait
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import Error, connection
from django.db.models import Count, Max, Sum
from django.db.models.functions import Coalesce
from django.utils.timezone import now
from django_rq import get_queue
from redis.exceptions import RedisError

from benchsite.lib.database.errors import NO_CONNECTION, server_words
from benchsite.operations.health import DATABASE, QUEUE
from benchsite.operations.probes import NO_ANSWER, Aside
from benchsite.version import VERSION
from generation.models import Notice, ProviderCall, Run, Sample
from generation.money import NANO
from generation.queue import queue_connection, read_presence, read_troubles, seconds_since_beat, workers_by_queue
from judging.models import JudgeTally
from ranking.fitting import stale_fits
from ranking.models import Fit

PENDING = Sample.State.PENDING
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
NEWEST_CALLS = 1_000  # among which the one that ended last is looked for
Series = Iterable[tuple[dict[str, str], float]]


class Numbers(Aside[list[str]]):
    """What the database is asked for. A large site may take longer over it than a page waits: then the page has the last ones."""

    def __init__(self) -> None:
        super().__init__("metrics", self._collect)
        self._last: tuple[float, list[str]] = (float("-inf"), [])

    def _collect(self) -> list[str]:
        try:
            lines = number_lines()
        finally:
            connection.close()
        self._last = (time.monotonic(), lines)
        return lines

    def lines(self, end: float) -> list[str]:
        answer, _ = self.begin()
        wait([answer], timeout=max(end - time.monotonic(), 0.0))
        if answer.done():
            answer.result()  # or its error
        at, lines = self._last
        age = time.monotonic() - at
        if age > settings.METRICS_KEPT_SECONDS:
            return []
        about = "Seconds since the database was asked for its numbers: more than a few where that takes long."
        return [*_metric("numbers_seconds_ago", "gauge", about, [({}, age)]), *lines]


NUMBERS = Numbers()


def metrics_text() -> str:
    began = time.monotonic()
    for probe in (DATABASE, QUEUE):
        probe.begin()
    about = {"version": VERSION}
    lines = [
        *_metric("build_info", "gauge", "1, with the release that is running.", [(about, 1)]),
        *_queue_metrics(),
        *_database_metrics(began + settings.METRICS_PATIENCE_SECONDS),
    ]
    lines += _metric(
        "scrape_seconds", "gauge", "Seconds it took to collect these metrics.", [({}, time.monotonic() - began)]
    )
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, description: str, series: Series) -> Iterator[str]:
    yield f"# HELP benchsite_{name} {description}"
    yield f"# TYPE benchsite_{name} {kind}"
    for labels, value in series:
        pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"benchsite_{name}{f'{{{pairs}}}' if pairs else ''} {value:.15g}"


def _escaped(text: str) -> str:
    return str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _queue_metrics() -> Iterator[str]:
    wrong, connection = QUEUE.wrong(), queue_connection(settings.REDIS_URL)
    depths, workers, beat, seen, troubles = [], [], None, [], []
    with suppress(RedisError, OSError):
        if not wrong.startswith(NO_ANSWER):  # one that is out of memory still has its numbers
            depths = [({"queue": name}, get_queue(name, connection=connection).count) for name in settings.RQ_QUEUES]
            workers = [({"queue": name}, number) for name, number in workers_by_queue(connection).items()]
            beat = seconds_since_beat(connection)
            seen = [({"host": host, "role": role}, age) for (host, role), age in read_presence(connection).items()]
            troubles = [({"host": host, "with": what}, 1) for host, what in read_troubles(connection)]
    yield from _metric("queue_up", "gauge", "1 if the queue takes jobs.", [({}, not wrong)])
    yield from _metric("queue_depth", "gauge", "Waiting jobs, by queue.", depths)
    yield from _metric("workers", "gauge", "Live workers, by queue.", workers)
    swept: Series = [] if beat is None else [({}, beat)]
    yield from _metric("sweeper_seconds_ago", "gauge", "Seconds since the last sweep.", swept)
    yield from _metric("host_seconds_ago", "gauge", "Seconds since each host last did its part.", seen)
    yield from _metric("host_trouble", "gauge", "1 for what a host says it does not reach.", troubles)


def _database_metrics(end: float) -> list[str]:
    """All that comes from the database, or only that it is away: the rest of the page is served all the same."""
    wrong, lines = DATABASE.wrong(), list[str]()
    if not wrong.startswith((NO_ANSWER, NO_CONNECTION)):  # a database that only reads still has its numbers
        try:
            lines = NUMBERS.lines(end)
        except Error as error:
            wrong = wrong or server_words(error)
    return [*_metric("database_up", "gauge", "1 if the database takes writes.", [({}, not wrong)]), *lines]


def number_lines() -> list[str]:
    return [*_drawing_metrics(), *_judging_metrics(), *_age_metrics()]


def _by(counted: Any, label: str) -> Series:
    return [({label: value or "none"}, number) for value, number in counted]


def _drawing_metrics() -> Iterator[str]:
    rows = list(Sample.objects.order_by().values_list("state", "run__drawing_state").annotate(Count("id")))
    samples: dict[str, int] = {}
    for state, _, number in rows:
        samples[state] = samples.get(state, 0) + number
    due = sum(number for state, drawing, number in rows if (state, drawing) == (PENDING, Run.Drawing.OPEN))
    calls = ProviderCall.objects.order_by().values_list("outcome").annotate(Count("id"))
    lately = ProviderCall.objects.filter(
        outcome__in=["retry", "refused", "unknown"], lease_until__gte=now() - timedelta(hours=1)
    )
    runs = list(
        Run.objects.order_by()
        .values_list("drawing_state")
        .annotate(Count("id"), Sum("spent_nano"), Sum("reserved_nano"))
    )
    yield from _metric("runs", "gauge", "Runs, by state of drawing.", [({"state": r[0]}, r[1]) for r in runs])
    yield from _metric("samples", "gauge", "Samples, by state.", _by(samples.items(), "state"))
    yield from _metric("samples_due", "gauge", "Samples that wait to be drawn, of runs that draw.", [({}, due)])
    yield from _metric("calls_total", "counter", "Calls to providers, by outcome.", _by(calls, "outcome"))
    errors = lately.order_by().values_list("error").annotate(Count("id"))
    yield from _metric(
        "call_errors_last_hour", "gauge", "Failed calls of about the last hour, by code.", _by(errors, "code")
    )
    spent, reserved = sum(r[2] or 0 for r in runs), sum(r[3] or 0 for r in runs)
    yield from _metric("cost_dollars_total", "counter", "What calls cost, as far as it is known.", [({}, spent / NANO)])
    yield from _metric(
        "reserved_dollars", "gauge", "Held for calls whose cost is not known yet.", [({}, reserved / NANO)]
    )
    unsent = Notice.objects.filter(sent_at=None).count()
    yield from _metric("notices_unsent", "gauge", "E-mails and webhooks that have not gone out.", [({}, unsent)])


def seconds_behind(run: Run) -> float:
    """Since the newest vote or answer that a stale leaderboard of this run does not know."""
    return _age(run.scores_changed_at) if run.scores_changed_at else 0.0


def _age(moment: datetime) -> float:
    return max(0.0, (now() - moment).total_seconds())  # a clock that was set back makes nothing younger than now


def _age_metrics() -> Iterator[str]:
    """How long nothing has come of the runs that are open; nothing where none is."""
    drawing = Run.objects.filter(drawing_state=Run.Drawing.OPEN, finished_at=None)
    newest = ProviderCall.objects.filter(run__in=drawing).order_by("-pk")[:NEWEST_CALLS]
    settled = newest.aggregate(last=Max(Coalesce("ended_at", "started_at")))["last"]
    judging = Run.objects.filter(judging_state=Run.Judging.OPEN, frozen_at=None)
    fitted = Fit.objects.filter(run__in=judging, until=None).aggregate(last=Max("created_at"))["last"]
    ages = (
        ("settled_seconds_ago", "Since the last call of a run that is drawing ended.", settled),
        ("fit_seconds_ago", "Since the last leaderboard of a run that is being judged was made.", fitted),
    )
    for name, description, moment in ages:
        yield from _metric(name, "gauge", description, [] if moment is None else [({}, _age(moment))])


def _judging_metrics() -> Iterator[str]:
    votes = JudgeTally.objects.aggregate(sum=Sum("votes", default=0))["sum"]
    yield from _metric("votes_total", "gauge", "Votes that stand.", [({}, votes)])
    stale = stale_fits(Fit.Kind.FAST)
    age = max((seconds_behind(run) for run, _ in stale), default=0.0)
    yield from _metric("stale_fits", "gauge", "Leaderboards that do not know the newest votes.", [({}, len(stale))])
    yield from _metric(
        "stale_fit_seconds", "gauge", "Since the last change of the one that is behind longest.", [({}, age)]
    )
