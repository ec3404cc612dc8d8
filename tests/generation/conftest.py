"""Real workers on a real queue, with a slow provider that keeps a bill."""

from __future__ import annotations

from threading import Event

import pytest
from redis import Redis

from tests.generation.drawing_room import AT_ONCE
from tests.processes import floor
from tests.services import Valkey


@pytest.fixture(scope="module")
def valkey():
    server = Valkey()
    server.start()
    yield server
    server.kill()


@pytest.fixture
def queue(valkey):
    Redis.from_url(valkey.url).flushall()
    return valkey


@pytest.fixture
def gate():
    """Where calls after the first round wait until it is opened, so that a plug is pulled in mid-call and nowhere else."""
    return Event()


@pytest.fixture
def provider(demo, request):
    """A provider slow enough to be caught in mid-call."""
    if "gate" not in request.fixturenames:
        return demo(latency=0.4)
    gate = request.getfixturevalue("gate")

    def wait_at_the_gate(number: int, body: dict) -> None:
        if number >= AT_ONCE:
            gate.wait(timeout=60)

    return demo(latency=0.4, plan=wait_at_the_gate)


@pytest.fixture
def site(queue, provider, settings):
    settings.REDIS_URL = queue.url
    with floor(redis_url=queue.url, demo_url=provider.url) as opened:
        yield opened
