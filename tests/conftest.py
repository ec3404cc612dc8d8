"""A demo server for each test that asks."""

from __future__ import annotations

import pytest

from generation.demo.server import start


@pytest.fixture
def demo(monkeypatch):
    """Starts demo servers: `demo(plan=[…])` is a server that the run's models are asked at, without chance faults."""
    servers = []

    def begin(**knobs):
        server = start(**{"latency": 0.0, "faults": 0.0, **knobs})
        servers.append(server)
        monkeypatch.setenv("DEMO_PROVIDER_URL", server.url)
        return server

    yield begin
    for server in servers:
        server.stop()
