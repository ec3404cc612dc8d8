"""The crew: many calls at once, limits, patience, and a database that goes away."""

from __future__ import annotations

import asyncio
import time

import pytest
from django.db import OperationalError, connection

from generation import crew, drawing
from generation.demo.server import Scripted
from generation.models import Run
from generation.pricing import runs_to_price
from generation.runs import start_run
from tests.generation.drawing_room import (
    BEGINNER,
    MASTER,
    assert_all_drawn,
    assert_invariants,
    make_program,
    make_suite,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_queue(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # nobody listens: drawing needs no bell


def draw(run: Run | None = None, **options) -> crew.Tally:
    return asyncio.run(crew.draw(run_id=run.pk if run else None, **options))


def busy(seconds: str = "0") -> Scripted:
    return Scripted(429, {"error": {"code": 429, "message": "Busy."}}, {"Retry-After": seconds})


def test_the_crew_works(demo):
    server, run = demo(), start_run(make_suite(prompts=10))

    tally = draw(run)

    assert (tally.drawn, tally.failed, tally.asked, tally.in_flight) == (40, 0, 40, 0)
    assert_all_drawn(run)
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=40)
    run.refresh_from_db()
    assert run.finished_at is not None


def test_the_crew_keeps_to_the_runs_concurrency(demo):
    server, run = demo(latency=0.05), start_run(make_suite(prompts=10, concurrency=3))

    draw(run)

    assert server.bill.most_in_flight == 3


def test_the_crew_draws_every_open_run_side_by_side(demo):
    server = demo(latency=0.2)
    runs = [start_run(make_suite(concurrency=6)), start_run(make_suite(concurrency=6))]

    draw()

    for run in runs:
        assert_all_drawn(run)
    assert server.bill.most_in_flight > 6


def test_a_providers_limit_holds_over_all_runs(demo):
    server = demo(latency=0.05)
    for _ in range(2):
        run = start_run(make_suite(concurrency=6))
        profile = run.models.first().profile
        run.models.update(profile={**profile, "concurrency": 4})

    draw()

    assert server.bill.most_in_flight == 4


def test_the_crew_waits_for_what_is_due_soon(demo):
    server = demo(plan=[busy("1")] * 3)
    run = start_run(make_suite(models=[MASTER], prompts=3, attempts=1))

    assert draw(run).drawn == 0, "without patience it leaves"
    assert draw(run, patience=5).drawn == 3
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=6)


def test_a_throttled_provider_gets_fewer_calls_at_once(demo):
    server = demo(latency=0.02, plan=lambda number, body: busy("0") if 8 <= number < 24 else None)
    run = start_run(make_suite(models=[MASTER], prompts=40, attempts=1, concurrency=8))

    draw(run, patience=10)

    assert_all_drawn(run)
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=server.bill.requests)


def test_the_crew_draws_programs_of_several_turns(demo):
    server = demo()
    run = start_run(make_suite(programs=[make_program(), make_program("one", turns=("Draw a {{target}}.",))]))

    draw(run)

    assert_all_drawn(run)
    assert run.calls.filter(turn=1).count() == 12
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=36)


def test_a_slice_of_time_ends_with_nothing_in_flight(demo):
    server, run = demo(latency=0.3), start_run(make_suite(prompts=30, concurrency=2))
    start = time.monotonic()

    tally = draw(run, seconds=0.5)

    assert time.monotonic() - start < 20
    assert 0 < tally.drawn == tally.asked < 120
    assert not run.calls.filter(outcome="open").exists()
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=tally.asked)


def test_answers_survive_a_database_that_goes_away(demo, monkeypatch):
    server, run = demo(), start_run(make_suite())
    real, calls = drawing.take_turn, []

    def flaky(*arguments, **named):
        calls.append(named)
        if len(calls) in (2, 3):
            raise OperationalError("the server closed the connection")
        return real(*arguments, **named)

    monkeypatch.setattr(drawing, "take_turn", flaky)

    draw(run)

    assert_all_drawn(run)
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=12)


def test_one_answer_that_cannot_be_stored_does_not_stop_the_others(demo, monkeypatch):
    from generation import settling

    server, run = demo(), start_run(make_suite())
    real = settling._save_answer
    cursed = run.samples.first().pk

    def refuse(question, reply, read):
        if question.sample_id == cursed:
            raise ValueError("no row can hold this")
        return real(question, reply, read)

    monkeypatch.setattr(settling, "_save_answer", refuse)

    draw(run, concurrency=12)

    assert run.samples.filter(state="drawn").count() == 11
    assert run.samples.get(pk=cursed).failure == "not_storable"
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=12)


def test_a_model_without_a_price_pauses_a_run_with_a_budget(demo):
    demo()
    from dataclasses import replace

    stranger = replace(BEGINNER, id="demo/stranger", price_in=None, price_out=None)
    run = start_run(make_suite(models=[stranger]), budget=5)

    assert draw(run).asked == 0

    run.refresh_from_db()
    assert run.drawing_state == "paused"
    assert "nobody knows the price of demo/stranger" in run.paused_reason


def test_a_missing_price_is_taken_from_the_provider(demo):
    server = demo()
    from dataclasses import replace

    run = start_run(make_suite(models=[replace(MASTER, price_in=None, price_out=None)]), budget=5)

    draw(run)

    assert_all_drawn(run)
    assert run.models.get().price_out_nano > 0
    assert run.calls.filter(reserved_nano=0).count() == 0
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=6)


def test_the_crew_rings_for_help_when_there_is_plenty(demo):
    demo()
    rings = []
    start_run(make_suite(prompts=20, concurrency=4))

    draw(on_plenty=lambda: rings.append(1))

    assert rings == [1]


def test_the_crew_leaves_no_connection_behind(demo):
    demo()
    start_run(make_suite())
    draw()

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            assert cursor.fetchone() == (1,)
    assert connection.is_usable()


def test_what_the_last_call_cost_is_found_out_after_the_run_has_ended(demo):
    body = {"choices": [{"message": {"content": "```\n/\\\n```"}, "finish_reason": "stop"}], "usage": {"cost": "NaN"}}
    demo(plan=[Scripted(200, body, cost_nano=1234)])
    run = start_run(make_suite(models=[MASTER], prompts=1, attempts=1))
    draw(run)
    run.refresh_from_db()
    assert run.finished_at is not None and run.spent_nano == 0 < run.reserved_nano
    assert runs_to_price() == [run.pk], "so the sweeper rings"

    draw()

    run.refresh_from_db()
    assert (run.spent_nano, run.reserved_nano) == (1234, 0)
    assert runs_to_price() == []
