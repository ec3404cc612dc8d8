"""The crew: many calls at once, limits, patience, and a database that goes away."""

from __future__ import annotations

import asyncio
import io
import threading
import time
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.db import InternalError, OperationalError, connection

from generation.demo.server import Scripted
from generation.drawing import crew, pricing
from generation.drawing import turns as drawing
from generation.drawing.active import ActiveRun
from generation.drawing.database import DatabaseThread
from generation.drawing.pricing import runs_to_price
from generation.models import Run
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.runs.lifecycle import start_run
from generation.runs.loaded import LoadedRun, load_run
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
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # nobody listens: drawing needs no queue


def draw(run: Run | None = None, **options) -> crew.Tally:
    return asyncio.run(crew.draw(run_id=run.pk if run else None, **options))


def ask_for_prices(loaded: LoadedRun) -> None:
    """What a crew looks up, with the run as it was loaded some time ago."""

    async def ask():
        async with Client() as client:
            database = DatabaseThread(asyncio.Event(), patience=0)
            await pricing.price_models(client, loaded, database)
            await database.close()

    asyncio.run(ask())


def together(count: int):
    """A plan by which the first calls wait for each other: so many are in flight at once, however slow the machine."""
    gate = threading.Barrier(count)

    def plan(number: int, body: dict) -> None:
        if number < count:
            gate.wait(timeout=20)

    return plan


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
    server, run = demo(latency=0.05, plan=together(3)), start_run(make_suite(prompts=10, concurrency=3))

    draw(run)

    assert server.bill.most_in_flight == 3


def test_the_crew_draws_every_open_run_side_by_side(demo):
    server = demo(latency=0.05, plan=together(7))
    runs = [start_run(make_suite(concurrency=6)), start_run(make_suite(concurrency=6))]

    draw()

    for run in runs:
        assert_all_drawn(run)
    assert server.bill.most_in_flight > 6


def test_a_providers_limit_holds_over_all_runs(demo):
    server = demo(latency=0.05, plan=together(4))
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


def read_only():
    """As psycopg says it, in Django's class for it."""
    error = InternalError("cannot execute UPDATE in a read-only transaction")
    error.__cause__ = Exception()
    error.__cause__.sqlstate = "25006"
    return error


@pytest.mark.parametrize("error", [OperationalError("the server closed the connection"), read_only()])
def test_answers_survive_a_database_that_goes_away(demo, monkeypatch, error):
    server, run = demo(), start_run(make_suite())
    real, calls = drawing.take_turn, []

    def flaky(*arguments, **named):
        calls.append(named)
        if len(calls) in (2, 3):
            raise error
        return real(*arguments, **named)

    monkeypatch.setattr(drawing, "take_turn", flaky)

    draw(run)

    assert_all_drawn(run)
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=12)


def test_one_answer_that_cannot_be_stored_does_not_stop_the_others(demo, monkeypatch):
    from generation.drawing import settling

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


@pytest.mark.parametrize("prices", [(None, None), (3, None), (None, 15)])
def test_a_model_without_a_price_pauses_a_run_with_a_budget(demo, prices):
    demo()
    stranger = replace(BEGINNER, id="demo/stranger", price_in=prices[0], price_out=prices[1])
    run = start_run(make_suite(models=[stranger]), budget=5)

    assert draw(run).asked == 0

    run.refresh_from_db()
    assert run.drawing_state == "paused"
    assert "the price of demo/stranger is unknown" in run.paused_reason


def test_a_missing_price_is_taken_from_the_provider(demo):
    server = demo()
    run = start_run(make_suite(models=[replace(MASTER, price_in=None, price_out=None)]), budget=5)

    draw(run)

    assert_all_drawn(run)
    assert run.models.get().price_out_nano > 0
    assert run.calls.filter(reserved_nano=0).count() == 0
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=6)


def test_a_provider_that_is_slow_to_list_prices_keeps_no_other_run_waiting(demo, monkeypatch):
    server, asked = demo(), []

    async def slow(*arguments, **named):
        for _ in range(100):
            if server.bill.requests < 6:
                await asyncio.sleep(0.1)
        asked.append(server.bill.requests)
        return {}

    monkeypatch.setattr(Client, "list_models", slow)
    waiting = start_run(make_suite(models=[replace(MASTER, price_in=None, price_out=None)]), budget=5)
    start_run(make_suite(models=[MASTER]))

    draw()

    assert asked == [6], "the other run was drawn meanwhile, and the list is not asked for at every turn"
    waiting.refresh_from_db()
    assert waiting.drawing_state == "paused"


def test_a_run_with_a_budget_waits_for_prices_through_an_outage(demo, monkeypatch, settings):
    server, real, tries = demo(), Client.list_models, []

    async def flaky(*arguments, **named):
        tries.append(1)
        if len(tries) < 3:
            raise ProviderError("retry", "provider_error", "Down.")
        return await real(*arguments, **named)

    monkeypatch.setattr(Client, "list_models", flaky)
    settings.PRICE_SECONDS = 0.0
    run = start_run(make_suite(models=[replace(MASTER, price_in=None, price_out=None)], prompts=1), budget=5)

    draw(run)

    assert len(tries) == 3
    assert_all_drawn(run)
    assert run.calls.filter(reserved_nano=0).count() == 0
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=2)


def unpriced(entry=MASTER):
    return replace(entry, price_in=None, price_out=None)


def test_a_run_that_waits_for_prices_says_so_on_its_page(demo, client, curator, monkeypatch):
    demo()
    run = start_run(make_suite(models=[unpriced(), BEGINNER]), budget=5)
    monkeypatch.setenv("DEMO_PROVIDER_URL", "http://127.0.0.1:1/v1")  # nobody listens

    for _ in range(2):
        ask_for_prices(load_run(run.pk))

    text = client.get(f"/runs/{run.code}/progress/").text
    assert "Waiting for the price of demo/master: demo cannot be reached now (No connection: " in text
    assert "give price_in and price_out in models.yaml and extend the run, or remove the budget" in text
    assert run.events.get(verb="prices_not_listed").facts == {"code": "connection_error"}, "once, however long it lasts"
    run.models.update(price_in_nano=1, price_out_nano=1)
    assert "Waiting for the price" not in client.get(f"/runs/{run.code}/progress/").text


def test_a_run_without_a_budget_waits_for_no_price(demo, monkeypatch):
    demo()
    run = start_run(make_suite(models=[unpriced()]))
    monkeypatch.setenv("DEMO_PROVIDER_URL", "http://127.0.0.1:1/v1")

    ask_for_prices(load_run(run.pk))

    assert pricing.awaited(run) == []
    assert not run.events.filter(verb="prices_not_listed").exists()


def test_the_draw_command_says_that_it_waits_for_prices(demo, monkeypatch, settings):
    demo()
    real, tries, screen = Client.list_models, [], io.StringIO()

    async def flaky(*arguments, **named):
        tries.append(1)
        if len(tries) < 3:
            raise ProviderError("retry", "provider_error", "HTTP 500: Down.")
        return await real(*arguments, **named)

    monkeypatch.setattr(Client, "list_models", flaky)
    settings.PRICE_SECONDS = 0.0
    run = start_run(make_suite(models=[unpriced()], prompts=1), budget=5)

    call_command("draw", run.code, stderr=screen)

    assert_all_drawn(run)
    output = [
        line for line in screen.getvalue().splitlines() if line.startswith("Waiting for the price of demo/master")
    ]
    assert len(output) == 1 and "demo cannot be reached now (HTTP 500: Down.)" in output[0]


def test_a_price_that_a_curator_gave_meanwhile_stays(demo):
    demo()
    run = start_run(make_suite(models=[unpriced(), replace(BEGINNER, price_out=None)]), budget=5)
    loaded = load_run(run.pk)
    run.models.filter(model_id="demo/master").update(price_in_nano=1, price_out_nano=2)

    ask_for_prices(loaded)

    prices = run.models.order_by("pk").values_list("price_in_nano", "price_out_nano")
    assert list(prices) == [(1, 2), (100_000_000, 400_000_000)], "and where only one was missing, that one is filled in"


@pytest.mark.parametrize("known", [True, False])
def test_a_run_is_not_paused_for_a_price_that_it_needs_no_more(demo, known):
    demo()
    run = start_run(make_suite(models=[replace(unpriced(), id="demo/stranger")]), budget=5)
    loaded = load_run(run.pk)
    if known:
        run.models.update(price_in_nano=1, price_out_nano=2)
    else:
        Run.objects.update(budget_nano=None)

    ask_for_prices(loaded)

    assert Run.objects.get().drawing_state == "open"


def test_a_missing_key_is_not_called_an_unknown_price(demo, monkeypatch):
    demo()
    monkeypatch.delenv("KEY_OF_NOBODY", raising=False)
    run = start_run(make_suite(models=[unpriced()]), budget=5)
    model = run.models.get()
    run.models.update(profile={**model.profile, "key_env": "KEY_OF_NOBODY"})

    assert draw(run).asked == 0

    run.refresh_from_db()
    assert run.drawing_state == "paused"
    assert "set KEY_OF_NOBODY" in run.paused_reason and "price" not in run.paused_reason
    assert run.events.get(verb="pause_run").facts == {"code": "bad_credentials"}


def test_a_crew_that_only_waits_for_a_price_does_not_load_the_run_again_and_again(demo, monkeypatch, settings):
    demo()
    settings.DRAW_IDLE_SECONDS = 0.01
    settings.DRAW_RELOAD_SECONDS = 3600.0
    looks, loads, asked = [], [], Client.list_models
    look, load = crew.seconds_to_due, crew.load_run
    monkeypatch.setattr(crew, "seconds_to_due", lambda run_id: looks.append(1) or look(run_id))
    monkeypatch.setattr(crew, "load_run", lambda run_id: loads.append(1) or load(run_id))

    async def late(*arguments, **named):
        async with asyncio.timeout(60):
            while len(looks) < 20:
                await asyncio.sleep(0.01)
        return await asked(*arguments, **named)

    monkeypatch.setattr(Client, "list_models", late)
    run = start_run(make_suite(models=[unpriced()], prompts=1, attempts=1), budget=5)

    draw(run)

    assert_all_drawn(run)
    assert len(loads) == 2, "once to begin, and once with the price"


def test_a_crew_that_is_stopped_lets_go_of_its_lookups(demo, monkeypatch):
    demo()
    run = start_run(make_suite(models=[unpriced()]), budget=5)

    async def stop_in_mid_lookup():
        async with Client() as client:
            one = crew.Crew(client, run_id=run.pk, concurrency=None, report=None, on_backlog=None)

            async def never(*arguments, **named):
                one.stop()
                await asyncio.Event().wait()

            monkeypatch.setattr(Client, "list_models", never)
            async with asyncio.timeout(60):  # it would wait for ever
                await one.work(seconds=None, patience=0.0)
            return one.lookups

    left = asyncio.run(stop_in_mid_lookup())

    assert left.tasks == {}
    left.prices(ActiveRun(load_run(run.pk)))
    assert left.tasks == {}, "and nothing is begun any more"
    run.refresh_from_db()
    assert run.drawing_state == "open"


def test_the_crew_asks_for_help_with_a_backlog(demo):
    demo()
    calls = []
    start_run(make_suite(prompts=20, concurrency=4))

    draw(on_backlog=lambda: calls.append(1))

    assert calls == [1]


def test_the_crew_leaves_no_connection_behind(demo):
    demo()
    start_run(make_suite())
    draw()

    if connection.vendor == "postgresql":
        end = time.monotonic() + 30
        while connections_here() > 1:  # the server takes a moment to see that one was closed
            assert time.monotonic() < end
            time.sleep(0.05)
    assert connection.is_usable()


def connections_here() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return cursor.fetchone()[0]


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


@pytest.mark.parametrize(
    ("error", "checks"),
    [
        (ProviderError("retry", "rate_limited", "Busy."), 0),
        (ProviderError("retry", "bad_response", "Not JSON."), 1),
        (ProviderError("fatal_model", "model_unavailable", "No such generation."), 1),
    ],
)
def test_an_outage_does_not_use_up_the_checks_for_a_cost(demo, monkeypatch, error, checks, settings):
    settings.MOST_COST_CHECKS = 1
    body = {"choices": [{"message": {"content": "```\n/\\\n```"}, "finish_reason": "stop"}], "usage": {"cost": "NaN"}}
    demo(plan=[Scripted(200, body, cost_nano=1234)])
    run = start_run(make_suite(models=[MASTER], prompts=1, attempts=1))
    draw(run)

    async def down(*arguments, **named):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(Client, "_fetch", down)
        draw()
    assert run.calls.get().cost_checks == checks
    draw()

    run.refresh_from_db()
    assert run.spent_nano == (0 if checks else 1234)
