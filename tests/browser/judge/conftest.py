"""Where Alice judges: pages of runs of text and of pictures."""

from __future__ import annotations

import pytest

from judging.pairs.serving import take_seat
from tests.judging.make import make_run, make_seat


def sit(log_in, live_server, **judging):
    run = make_run(entrants=4, prompts=6, attempts=2, **judging)
    seat = make_seat(run, "alice", quota=40)
    take_seat(seat.pk)
    log_in(seat.judge)
    return f"{live_server.url}/judge/{run.code}/"


@pytest.fixture
def judge_url(log_in, live_server):
    return sit(log_in, live_server)
