"""Workers in an outage of the queue: known again once it is back, and no child outlives its worker."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from rq import Worker

from generation.queue import (
    PRESENCE_KEY,
    SILENT_SECONDS,
    WORKER_KEPT,
    forget_host,
    make_worker,
    note_presence,
    note_trouble,
    queue_connection,
    read_presence,
    read_troubles,
    workers_by_queue,
)
from tests.services import valkey_server

ORPHAN = """
import os, signal, sys, threading, time
sys.path.insert(0, {root!r})
os.environ["DJANGO_SETTINGS_MODULE"] = "benchsite.settings"
from generation.queue import end_with_parent
if os.fork() == 0:
    def ended(*_):
        print("asked to stop", flush=True)
        os._exit(0)
    signal.signal(signal.SIGTERM, ended)
    threading.Thread(target=end_with_parent, args=(os.getppid(),), kwargs={{"every": 0.01}}, daemon=True).start()
    print("begun", flush=True)
    while True:
        time.sleep(0.01)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def server():
    with valkey_server() as server:
        yield server


@pytest.fixture
def queue(server, settings):
    settings.REDIS_URL = server.url
    settings.RQ_QUEUES = {name: {**one, "URL": server.url} for name, one in settings.RQ_QUEUES.items()}
    connection = queue_connection(server.url)
    connection.flushall()
    return connection


def test_a_worker_is_known_again_after_the_queue_was_emptied(queue):
    worker = make_worker("draw")
    worker.register_birth()
    queue.flushall()
    assert not Worker.all(connection=queue)

    worker.heartbeat()

    (known,) = Worker.all(connection=queue)
    assert (known.name, known.queue_names(), known.hostname) == (worker.name, ["draw"], worker.hostname)


def test_a_child_whose_worker_is_killed_is_asked_to_stop(settings):
    script = ORPHAN.format(root=str(settings.BASE_DIR))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout.readline() == "begun\n"

        os.kill(worker.pid, signal.SIGKILL)

        assert worker.stdout.readline() == "asked to stop\n"


def test_hosts_are_remembered_until_they_are_forgotten(queue):
    note_presence("web")
    queue.hset(PRESENCE_KEY, "lost-host draw", "0")

    assert read_presence(queue)["lost-host", "draw"] > 1e9

    assert forget_host(queue, "lost-host") == 1
    assert [role for _, role in read_presence(queue)] == ["web"]


def test_a_worker_that_stops_in_good_order_is_not_missed(queue):
    worker = make_worker("draw")
    worker.register_birth()
    worker.heartbeat()
    assert read_presence(queue)

    worker.teardown()

    assert read_presence(queue) == {}


def test_a_worker_that_is_silent_is_not_counted_whatever_its_clock_says(queue, monkeypatch):
    monkeypatch.setattr("rq.worker.base.now", lambda: datetime(2000, 1, 1, tzinfo=UTC))
    worker = make_worker("draw")
    worker.register_birth()
    with queue.pipeline() as pipeline:
        worker.heartbeat(timeout=65, pipeline=pipeline)  # as RQ beats while a job is worked on
        pipeline.execute()
    assert workers_by_queue(queue) == {"draw": 1, "measure": 0, "fit": 0}

    queue.expire(worker.key, WORKER_KEPT - SILENT_SECONDS - 1)  # as after so many seconds

    assert workers_by_queue(queue)["draw"] == 0


def test_what_a_host_does_not_reach_is_told_to_all_and_forgotten(queue):
    note_trouble("provider openrouter", "no answer for 3 s")

    assert read_troubles(queue) == {(socket.gethostname(), "provider openrouter"): "no answer for 3 s"}
    (key,) = queue.keys("benchsite:trouble:*")
    assert 0 < queue.ttl(key) <= 30
