"""`/readyz` in every kind of trouble: it answers soon, in the server's own words."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path
from threading import Event, Timer
from threading import enumerate as enumerate_threads
from types import SimpleNamespace

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.urls import path

from benchsite.operations import health, metrics, probes
from benchsite.operations.health import look_at_database, look_at_queue
from benchsite.operations.probes import Probe
from generation.queue import note_presence, queue_connection, read_presence
from tests.benchsite.lib.database.test_errors import READ_ONLY
from tests.services import valkey_server

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def server():
    with valkey_server() as server:
        yield server


@pytest.fixture
def queue(server, settings):
    settings.REDIS_URL = server.url
    connection = queue_connection(server.url)
    connection.flushall()
    yield connection
    connection.config_set("maxmemory", 0)


def test_a_site_that_is_ready_says_ok_and_leaves_nothing_behind(client, queue):
    response = client.get("/readyz")

    assert (response.status_code, response.content) == (200, b"ok\n")
    assert not Session.objects.exists()
    health.QUEUE.begin()[0].result()  # a later look, of the same thread
    assert [field.split(b" ")[1] for field in queue.hkeys("benchsite:presence")] == [b"web"]


def test_a_host_that_nobody_asks_tells_that_it_is_there(queue):
    moments = iter([False, True])
    health.watch(SimpleNamespace(wait=lambda seconds: next(moments)))

    health.QUEUE.begin()[0].result()
    assert [field.split(b" ")[1] for field in queue.hkeys("benchsite:presence")] == [b"web"]


def test_a_web_process_watches_where_the_database_is_on_another_host_and_takes_its_leave(queue):
    server = run_path(str(ROOT / "gunicorn.conf.py"))
    worker = SimpleNamespace(booted=True)
    server["post_worker_init"](worker)
    watching = [thread for thread in enumerate_threads() if thread.name == "watch"]
    note_presence("web")

    server["worker_exit"](None, worker)

    assert len(watching) == (connection.vendor == "postgresql")
    for thread in watching:
        thread.join()
    assert read_presence(queue) == {}
    server["worker_exit"](None, SimpleNamespace(booted=False))  # one that never came up has no leave to take


def test_a_queue_out_of_memory_is_not_ready(client, queue):
    queue.config_set("maxmemory", 1)

    response = client.get("/readyz")

    assert response.status_code == 503
    assert re.fullmatch(rb"queue: .*maxmemory.* \(OutOfMemoryError\)\n", response.content)


def test_a_queue_that_is_away_is_named(client, queue, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    assert client.get("/readyz").content.startswith(b"queue: ")
    assert "ConnectionError" in look_at_queue()


def test_a_database_that_only_reads_is_named(queue):
    setting, words = READ_ONLY[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(setting)

    wrong = look_at_database()

    assert wrong == words


def test_a_database_that_hangs_is_given_up_and_asked_once(queue):
    hanging, looks = Event(), []

    def look():
        looks.append(1)
        hanging.wait()
        return ""

    probe = Probe("database", look, limit=0.05)

    answers = [probe.wrong() for _ in range(3)]
    hanging.set()

    assert all(answer.startswith(probes.NO_ANSWER) for answer in answers)
    assert len(looks) == 1


def test_metrics_are_served_while_the_database_is_away(client, queue, monkeypatch):
    monkeypatch.setattr(health.DATABASE, "ask", lambda: "no connection (OperationalError)")

    lines = client.get("/metrics").content.decode().splitlines()

    assert "benchsite_database_up 0" in lines and "benchsite_queue_up 1" in lines
    assert not any(line.startswith("benchsite_votes_total") for line in lines)


@pytest.fixture
def locked():
    """Another session's lock: the statement that meets it waits as for a server that says nothing more. Gone after a minute at most."""
    holder = connection.copy()
    holder.set_autocommit(False)
    with holder.cursor() as cursor:
        cursor.execute("LOCK TABLE generation_sample IN ACCESS EXCLUSIVE MODE")
    giving_up = Timer(60, holder.close)
    giving_up.start()
    yield holder
    giving_up.cancel()
    holder.close()
    metrics.NUMBERS.begin()[0].result()  # leaves the test's database


@pytest.mark.skipif(connection.vendor != "postgresql", reason="a file does not hang")
def test_metrics_do_not_wait_for_a_database_that_is_lost_meanwhile(client, queue, locked, settings):
    settings.METRICS_PATIENCE_SECONDS, settings.METRICS_KEPT_SECONDS = 0.2, 0.0

    lines = client.get("/metrics").content.decode().splitlines()

    assert "benchsite_database_up 1" in lines and "benchsite_queue_up 1" in lines
    assert not any(line.startswith("benchsite_votes_total") for line in lines)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="a file does not hang")
def test_numbers_that_came_too_late_are_on_the_next_page(client, queue, locked, settings):
    settings.METRICS_PATIENCE_SECONDS = 0.2
    client.get("/metrics")
    locked.rollback()
    metrics.NUMBERS.begin()[0].result()
    with locked.cursor() as cursor:
        cursor.execute("LOCK TABLE generation_sample IN ACCESS EXCLUSIVE MODE")

    lines = client.get("/metrics").content.decode().splitlines()

    assert "benchsite_votes_total 0" in lines
    assert any(line.startswith("benchsite_numbers_seconds_ago ") for line in lines)


def refused(request, state):
    with connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{state}'; END $$")


urlpatterns = [path("refused/<state>/", refused), path("readyz", health.readyz)]


@pytest.mark.urls(__name__)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's errors have no SQLSTATE")
@pytest.mark.parametrize(("state", "status"), [("53100", 503), ("25006", 503), ("23505", 200)])
def test_what_a_page_was_refused_counts_though_the_probe_is_not(client, queue, monkeypatch, state, status):
    """On a full disk a small row still fits where there is room in its table's last page."""
    monkeypatch.setattr(health.DATABASE, "_noted_at", float("-inf"))
    client.raise_request_exception = False

    assert client.get(f"/refused/{state}/").status_code == 500
    assert client.get("/readyz").status_code == status


def test_an_outage_is_logged_again_while_it_lasts_and_anew_when_it_comes_back(queue, monkeypatch):
    logged = []
    monkeypatch.setattr(probes.log, "warning", lambda event, **_: logged.append(event))
    answers = iter(["away", "away", "", "away"])
    probe = Probe("database", lambda: next(answers))

    states = [probe.wrong() for _ in range(4)]

    assert states == ["away", "away", "", "away"] and logged == ["database_unreachable"] * 2
    impatient = Probe("database", lambda: "away", repeat=0)
    assert [impatient.wrong(), impatient.wrong()] == ["away", "away"]
    assert len(logged) == 4
