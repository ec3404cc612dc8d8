"""Pull any plug while a run draws: nothing is lost, drawn twice, or paid twice knowingly."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections
from django.db.utils import load_backend
from redis import Redis

from generation.drawing.sweeping import sweep
from generation.models import ProviderCall, Run, Sample
from generation.runs.lifecycle import pause_run, resume_run, start_run
from tests.generation.drawing_room import AT_ONCE, MASTER, assert_all_drawn, assert_invariants, claim, make_suite
from tests.processes import child_of, database_url, floor
from tests.services import Postgres, find_postgres

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def new_run(samples: int = 16, **options) -> Run:
    return start_run(make_suite(models=[MASTER], prompts=samples // 2, attempts=2, concurrency=AT_ONCE), **options)


def is_done(run: Run) -> Callable[[], bool]:
    return lambda: not Sample.objects.filter(run=run).unended().exists()


def is_settled(run: Run) -> Callable[[], bool]:
    return lambda: not ProviderCall.objects.filter(run=run, outcome="open").exists()


def all_wait(provider) -> Callable[[], bool]:
    """The second round of calls stands at the gate; until it opens, the crew has nothing to do but to wait for them."""
    return lambda: provider.bill.requests == 2 * AT_ONCE and provider.bill.in_flight == AT_ONCE


def assert_whole(run: Run, provider, *, kills: int = 0) -> None:
    assert_all_drawn(run)
    assert_invariants(run, billed_nano=provider.bill.total_nano, requests=provider.bill.requests, kills=kills)
    assert provider.bill.requests - run.samples.count() <= kills, (
        "a sample is asked again only where a call was cut off"
    )


def test_a_worker_draws_a_run(site, provider):
    run = new_run()
    site.keep("work", "draw")

    site.wait_until(is_done(run), "the end of the run")

    assert_whole(run, provider)
    assert provider.bill.most_in_flight == AT_ONCE


@pytest.mark.once
def test_kill_of_the_workers_child_in_mid_call(site, provider, gate):
    run = new_run()
    worker = site.keep("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(all_wait(provider), "calls in flight")

    os.kill(child_of(worker.pid), signal.SIGKILL)
    gate.set()

    site.wait_until(is_done(run), "the end of the run")
    assert ProviderCall.objects.filter(run=run, outcome="unknown").exists()
    assert_whole(run, provider, kills=AT_ONCE)


@pytest.mark.once
def test_kill_of_the_worker_in_mid_call(site, provider, gate):
    """RQ's child lives on as an orphan and goes on drawing; a second worker joins, and nothing is asked twice."""
    run = new_run()
    worker = site.keep("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(all_wait(provider), "calls in flight")

    worker.kill()
    gate.set()

    site.wait_until(is_done(run), "the end of the run")
    site.wait_until(is_settled(run), "the orphan's last call")
    assert_whole(run, provider)


def test_kill_of_worker_and_child_together(site, provider, gate):
    run = new_run()
    worker = site.keep("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(all_wait(provider), "calls in flight")

    child = child_of(worker.pid)
    worker.kill()
    os.kill(child, signal.SIGKILL)
    gate.set()

    site.wait_until(is_done(run), "the end of the run")
    assert_whole(run, provider, kills=AT_ONCE)


@pytest.mark.once
def test_flushall_loses_nothing(site, provider, queue):
    run = new_run()
    client = Redis.from_url(queue.url)
    assert client.llen("rq:queue:draw") == 1, "a job was enqueued"
    client.flushall()
    site.keep("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(lambda: provider.bill.requests > AT_ONCE, "a second round of calls")

    client.flushall()

    site.wait_until(is_done(run), "the end of the run")
    assert_whole(run, provider)


@pytest.mark.once
def test_valkey_restarted_empty_loses_nothing(site, provider, queue):
    run = new_run(24)
    site.keep("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(lambda: provider.bill.requests > AT_ONCE, "a second round of calls")

    queue.restart_empty()

    site.wait_until(is_done(run), "the end of the run")
    site.wait_until(is_settled(run), "the last call")
    assert_whole(run, provider)


@pytest.mark.once
def test_start_without_a_queue_is_healed_by_the_sweeper(site, provider, queue):
    queue.kill()
    run = new_run(8)
    queue.start()
    site.keep("work", "draw")
    site.keep("sweep", "--forever")

    site.wait_until(is_done(run), "the end of the run")

    assert_whole(run, provider)


def test_a_worker_stopped_past_its_lease(site, provider, gate):
    run = new_run()
    worker = site.start("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(all_wait(provider), "calls in flight")
    child = child_of(worker.pid)
    for pid in (worker.pid, child):  # on SQLite nobody could write if it held a transaction
        os.kill(pid, signal.SIGSTOP)
    gate.set()
    site.keep("work", "draw")
    site.wait_until(is_done(run), "the end of the run by another worker")

    for pid in (child, worker.pid):
        os.kill(pid, signal.SIGCONT)

    site.wait_until(lambda: child_of(worker.pid) is None, "the end of the stopped worker's job")
    assert_whole(run, provider, kills=AT_ONCE)


def test_start_pressed_twice_and_three_workers(site, provider, queue):
    gate = threading.Barrier(3)

    def press(_: int) -> int:
        gate.wait()
        try:
            return new_run(24, key="pressed").pk
        finally:
            connection.close()

    for _ in range(3):
        site.keep("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(lambda: Redis.from_url(queue.url).scard("rq:workers") == 3, "three workers at the queue")
    with ThreadPoolExecutor(3) as threads:
        started = set(threads.map(press, range(3)))
    (run,) = Run.objects.filter(pk__in=started)

    site.wait_until(is_done(run), "the end of the run")
    site.wait_until(is_settled(run), "the last call")

    assert run.samples.count() == 24
    assert provider.bill.requests == 24
    assert provider.bill.most_in_flight > AT_ONCE, "more than one worker drew"
    assert_whole(run, provider)


def test_two_sweepers_at_the_same_moment(provider):
    run = new_run(24)
    claimed = len(claim(run, 24))
    Sample.objects.filter(run=run).update(lease_until="2020-01-01T00:00Z")
    ProviderCall.objects.filter(run=run).update(lease_until="2020-01-01T00:00Z")
    gate = threading.Barrier(4)

    def sweep_once(_: int) -> tuple[int, int]:
        gate.wait()
        try:
            swept = sweep()
            return swept.again, swept.lost_calls
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(sweep_once, range(4)))

    assert claimed == 24
    assert tuple(map(sum, zip(*counts, strict=True))) == (24, 24), "each lapse is handled once"
    assert run.samples.filter(state="pending", claims=1).count() == 24
    assert_invariants(run, billed_nano=0, requests=0)


@pytest.mark.once
def test_pause_with_calls_in_flight(site, provider, gate):
    run = new_run()
    site.keep("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(all_wait(provider), "calls in flight")

    pause_run(run, reason="Test.")
    gate.set()

    site.wait_until(is_settled(run), "the end of the calls in flight")
    asked = provider.bill.requests
    counts = run.samples.progress()
    assert counts["drawn"] == asked, "what was in flight counts"
    assert counts["asking"] == 0 < counts["pending"]
    site.wait_for_sweeps(3)  # if anything still asked a paused run, it would by now
    assert provider.bill.requests == asked
    resume_run(run)
    site.wait_until(is_done(run), "the end of the run")
    assert_whole(run, provider)


@pytest.mark.once
def test_sigterm_ends_a_worker_gently(site, provider, gate):
    run = new_run()
    worker = site.start("work", "draw")
    site.wait_until(all_wait(provider), "calls in flight")

    worker.terminate()
    gate.set()

    assert worker.wait(timeout=30) == 0
    assert is_settled(run)(), "calls in flight were settled before it left"
    assert_invariants(run, billed_nano=provider.bill.total_nano, requests=provider.bill.requests)
    assert run.samples.filter(state="pending").exists()


@pytest.mark.once
def test_database_restarted_while_settling(queue, provider, settings):
    """PostgreSQL dies without a word while answers come in; the crew holds them until it is back."""
    settings.REDIS_URL = queue.url
    database = Postgres(find_postgres())
    database.start()
    usual = connections["default"]
    try:
        copy = database.copy_of(database_url())
        connections["default"] = connect_to(database)
        with floor(redis_url=queue.url, demo_url=provider.url, database=copy) as site:
            run = new_run(24)
            site.keep("work", "draw")
            site.keep("sweep", "--forever")
            site.wait_until(lambda: provider.bill.requests > AT_ONCE, "a second round of calls")

            connection.close()
            database.restart()

            site.wait_until(is_done(run), "the end of the run")
            site.wait_until(is_settled(run), "the last call")
            assert_whole(run, provider)
    finally:
        connection.close()
        connections["default"] = usual
        database.stop("immediate")


def connect_to(database: Postgres):
    import dj_database_url

    config = dj_database_url.parse(database.url)
    return load_backend(config["ENGINE"]).DatabaseWrapper({**usual_options(), **config}, "default")


def usual_options() -> dict:
    return {
        "ATOMIC_REQUESTS": False,
        "AUTOCOMMIT": True,
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": False,
        "OPTIONS": {},
        "TIME_ZONE": None,
        "TEST": {"CHARSET": None, "COLLATION": None, "MIGRATE": True, "MIRROR": None, "NAME": None},
    }
