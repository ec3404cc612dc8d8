"""Real workers on a real queue, with a slow provider that keeps a bill."""

from __future__ import annotations

import pytest
from redis import Redis

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
def provider(demo):
    """A provider slow enough to be caught in mid-call."""
    return demo(latency=0.4)


@pytest.fixture
def site(queue, provider, settings):
    settings.REDIS_URL = queue.url
    with floor(redis_url=queue.url, demo_url=provider.url) as opened:
        yield opened
