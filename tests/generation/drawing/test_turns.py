"""Claim, ask, settle, sweep: each promise of the state machine, against a real server."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from generation.demo.server import Scripted
from generation.drawing import turns as drawing
from generation.drawing.active import ActiveRun
from generation.drawing.sweeping import sweep
from generation.models import Measurement, ProviderCall, Run, Sample
from generation.providers.client import Client
from generation.reading.answers import reread_run
from generation.runs.billing import book_cost
from generation.runs.lifecycle import cancel_run, pause_run, resume_run, start_run
from generation.runs.loaded import load_run
from tests.generation.drawing_room import (
    BEGINNER,
    MASTER,
    ask,
    assert_all_drawn,
    assert_invariants,
    claim,
    draw_some,
    make_program,
    make_suite,
    settle,
)

pytestmark = pytest.mark.django_db


def failing(status: int, message: str = "Something.", **headers: str) -> Scripted:
    error = {"error": {"code": status, "message": message}}
    return Scripted(status, error, {name.replace("_", "-"): value for name, value in headers.items()})


def small_run(**options):
    """One model, one prompt, one attempt: one sample."""
    return start_run(make_suite(models=[MASTER], prompts=1, attempts=1), **options)


def let_leases_lapse() -> None:
    past = now() - timedelta(seconds=1)
    Sample.objects.filter(state="asking").update(lease_until=past)
    ProviderCall.objects.filter(outcome="open").update(lease_until=past)


def make_due() -> None:
    Sample.objects.filter(state="pending").update(next_at=now())


def test_drawing_works(demo):
    server, run = demo(), start_run(make_suite())

    turn = draw_some(run)

    assert turn.drawn == 12
    assert_all_drawn(run)
    sample = run.samples.filter(verdict="valid").first()
    assert sample.drawing and sample.answer and bytes(sample.raw).startswith(b"{")
    assert (sample.token, sample.lease_until, sample.claims, sample.failure) == (None, None, 1, "")
    assert Measurement.objects.filter(sample=sample, backend="builtin").get().values["robustness"] > 0
    assert run.calls.filter(outcome="answered", cost_nano__gt=0, completion_tokens__gt=0).count() == 12
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=12)
    sweep()
    run.refresh_from_db()
    assert run.finished_at is not None


def test_claim_writes_the_call_down_before_it_is_asked(demo):
    demo()
    run = small_run()

    (question,) = claim(run)

    sample, call = run.samples.get(), run.calls.get()
    assert (sample.state, sample.token, sample.claims) == ("asking", question.token, 1)
    assert (call.outcome, call.token, call.cost_nano) == ("open", question.token, None)
    assert sample.lease_until == call.lease_until > now() + timedelta(seconds=question.deadline + 25)
    run.refresh_from_db()
    assert run.reserved_nano == call.reserved_nano == question.reserved_nano > 0


def test_no_sample_is_claimed_twice(demo):
    demo()
    run = start_run(make_suite())
    one, other = ActiveRun(load_run(run.pk)), ActiveRun(load_run(run.pk))
    first = drawing.claim(one, wanted=5)
    other.due = list(one.due)  # the same samples looked up by two crews at the same moment
    rows = [{**row} for row in other.due]
    second = drawing.claim(one, wanted=4)
    other.due, other.due_at = rows, one.due_at

    third = drawing.claim(other, wanted=4)

    tokens = [question.sample_id for question in (*first, *second, *third)]
    assert len(tokens) == len(set(tokens)) == run.samples.filter(state="asking").count()
    run.refresh_from_db()
    assert run.reserved_nano == sum(question.reserved_nano for question in (*first, *second, *third))


def test_claim_respects_each_providers_room(demo):
    demo()
    run = start_run(make_suite())

    assert len(claim(run, 10, room={"demo": 3})) == 3
    assert claim(run, 10, room={"demo": 0}) == []


def test_claim_gives_nothing_in_a_paused_run(demo):
    demo()
    run = small_run()
    active = ActiveRun(load_run(run.pk))
    active.due = list(drawing.Sample.objects.none())
    pause_run(run)

    assert drawing.claim(active, wanted=5) == []
    assert not run.calls.exists()


def test_pause_between_looking_up_and_claiming_holds(demo):
    """The run's state is part of the claim itself, not of the search before it."""
    demo()
    run = start_run(make_suite())
    active = ActiveRun(load_run(run.pk))
    drawing.claim(active, wanted=1)
    assert active.due, "there are samples looked up ahead"
    pause_run(run)

    assert drawing.claim(active, wanted=3) == []
    run.refresh_from_db()
    assert run.reserved_nano == run.calls.get().reserved_nano


def test_budget_is_a_hard_cap(demo):
    server, run = demo(), start_run(make_suite(models=[MASTER], prompts=3, attempts=2), draw=True)
    price = claim(run, 1)[0].reserved_nano
    Run.objects.filter(pk=run.pk).update(budget_nano=2 * price + 10)

    assert len(claim(run, 6)) == 1, "one is reserved already, two fit"
    assert claim(run, 6) == []
    run.refresh_from_db()
    assert run.drawing_state == "open", "calls in flight may still free some of it"
    assert run.reserved_nano <= run.budget_nano
    assert server.bill.requests == 0


def test_budget_used_up_pauses_with_the_reason(demo):
    server, run = demo(), start_run(make_suite(models=[MASTER], prompts=3, attempts=2))
    price = reservation = claim(run, 1)
    settle(run, ask(reservation))
    Run.objects.filter(pk=run.pk).update(budget_nano=price[0].reserved_nano)

    assert claim(run, 6) == []

    run.refresh_from_db()
    assert run.drawing_state == "paused"
    assert "does not allow another call" in run.paused_reason
    assert run.events.filter(verb="pause_run", actor=None).get().facts == {"code": "budget"}
    assert run.spent_nano == server.bill.total_nano <= run.budget_nano
    resume_run(run, budget=100)
    assert draw_some(run).drawn == 5


def test_a_cap_that_is_set_later_holds_for_models_without_a_price(demo):
    demo()
    run = start_run(make_suite(models=[replace(MASTER, price_in=None, price_out=None), BEGINNER]))
    active = ActiveRun(load_run(run.pk))
    assert [question.reserved_nano > 0 for question in drawing.claim(active, wanted=2)] == [False, True]
    Run.objects.update(budget_nano=10**9)

    claimed = [*drawing.claim(active, wanted=6), *drawing.claim(active, wanted=6)]

    assert {question.request.model_id for question in claimed} == {"demo/beginner"}
    assert len(claimed) == 5
    run.refresh_from_db()
    assert run.drawing_state == "open"


def test_a_run_whose_calls_all_lack_a_price_is_not_paused_for_its_budget(demo):
    demo()
    run = start_run(make_suite(models=[replace(MASTER, price_in=None, price_out=None)]))
    active = ActiveRun(load_run(run.pk))
    Run.objects.update(budget_nano=0)

    assert drawing.claim(active, wanted=6) == []

    run.refresh_from_db()
    assert (run.drawing_state, run.reserved_nano, run.calls.count()) == ("open", 0, 0)


def test_settling_twice_changes_nothing(demo):
    server, run = demo(), small_run()
    ended = ask(claim(run))
    settle(run, ended)
    before = Sample.objects.values().get(), ProviderCall.objects.values().get()

    settle(run, ended)

    assert (Sample.objects.values().get(), ProviderCall.objects.values().get()) == before
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=1)


def test_late_answer_is_used_and_paid_once(demo):
    server, run = demo(), small_run()
    late = ask(claim(run))
    let_leases_lapse()
    assert sweep().again == 1
    assert run.calls.get().outcome == "unknown"
    second = ask(claim(run))

    assert settle(run, late).drawn == 1
    answer = run.samples.get().answer
    assert settle(run, second).drawn == 0

    assert run.samples.get().answer == answer
    assert run.calls.filter(outcome="answered", cost_nano__gt=0).count() == 2
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=2, kills=1)


def test_a_lost_call_keeps_its_reservation(demo):
    server, run = demo(), small_run()
    ask(claim(run))  # the worker dies here: paid, and nobody knows

    let_leases_lapse()
    sweep()
    draw_some(run)

    run.refresh_from_db()
    assert run.reserved_nano == run.calls.get(outcome="unknown").reserved_nano > 0
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=2, kills=1)


def test_two_sweepers_do_no_more_than_one(demo):
    demo()
    run = start_run(make_suite())
    claim(run, 5)
    let_leases_lapse()

    first, second = sweep(), sweep()

    assert (first.lost_calls, first.again) == (5, 5)
    assert (second.lost_calls, second.again) == (0, 0)
    assert run.samples.filter(state="pending").count() == 12


def test_a_sample_that_kills_its_worker_each_time_fails_in_the_end(demo, settings):
    demo()
    settings.MAX_CLAIMS = 3
    run = small_run()

    for _ in range(3):
        assert len(claim(run)) == 1
        let_leases_lapse()
        sweep()

    sample = run.samples.get()
    assert (sample.state, sample.claims, sample.failure) == ("failed", 3, "lease_lapsed")
    assert claim(run) == []


def test_sweep_cancels_what_a_cancelled_run_lost(demo):
    demo()
    run = small_run()
    claim(run)
    cancel_run(run)
    let_leases_lapse()

    assert sweep().cancelled == 1
    assert run.samples.get().state == "cancelled"


def test_sweep_cancels_what_came_back_without_an_answer(demo):
    demo(plan=[failing(500)])
    run = small_run()
    flying = claim(run)
    cancel_run(run)
    settle(run, ask(flying))
    assert run.samples.get().state == "pending"

    assert sweep().cancelled == 1
    assert run.samples.get().state == "cancelled"


def test_calls_in_flight_count_when_a_run_is_paused_or_cancelled(demo):
    demo()
    run = start_run(make_suite())
    flying = claim(run, 4)
    pause_run(run)
    assert settle(run, ask(flying[:2])).drawn == 2
    cancel_run(run)
    assert settle(run, ask(flying[2:])).drawn == 2
    assert run.samples.progress() == {"pending": 0, "asking": 0, "drawn": 4, "failed": 0, "cancelled": 8}


def test_429_waits_as_told_and_gives_the_claim_back(demo):
    server, run = demo(plan=[failing(429, Retry_After="7")]), small_run()

    draw_some(run)

    sample = run.samples.get()
    assert (sample.state, sample.failure, sample.claims) == ("pending", "rate_limited", 0)
    assert 6.5 < (sample.next_at - now()).total_seconds() < 9
    assert claim(run) == []
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=1)


def test_500_is_tried_again_and_fails_in_the_end(demo, settings):
    settings.MAX_CLAIMS = 3
    server, run = demo(plan=[failing(500)] * 3), small_run()

    waits = []
    for _ in range(3):
        draw_some(run)
        waits.append((run.samples.get().next_at - now()).total_seconds())
        make_due()

    sample = run.samples.get()
    assert (sample.state, sample.claims, sample.failure) == ("failed", 3, "provider_error")
    assert all(wait <= settings.RETRY_SECONDS * 2**n for n, wait in enumerate(waits, start=1))
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=3)


def test_401_pauses_the_run_and_leaves_the_samples_as_they_were(demo):
    demo(plan=[failing(401, "No such key.")] * 9)
    run = start_run(make_suite())

    settle(run, ask(claim(run, 3)))

    run.refresh_from_db()
    assert run.drawing_state == "paused"
    assert run.paused_reason == "HTTP 401: No such key."
    assert run.events.filter(verb="pause_run").count() == 1
    assert run.samples.filter(state="pending", claims=0).count() == 12


def test_404_gives_up_the_model_and_only_it(demo):
    server = demo(plan=lambda number, body: failing(404, "No endpoints.") if "master" in body["model"] else None)
    run = start_run(make_suite())

    draw_some(run, 1)
    while draw_some(run):
        pass

    assert run.models.get(model_id="demo/master").refused_reason == "HTTP 404: No endpoints."
    assert run.samples.filter(model__model_id="demo/master", state="failed", failure="model_unavailable").count() == 6
    assert run.samples.filter(model__model_id="demo/beginner", state="drawn").count() == 6
    assert server.bill.requests == 7


def saying(content: str | None, finish: str) -> Scripted:
    message = {"role": "assistant", "content": content}
    return Scripted(
        200, {"choices": [{"message": message, "finish_reason": finish}], "usage": {"completion_tokens": 7}}
    )


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (failing(403, "Your input was flagged."), "moderation"),
        (saying("half a draw", "content_filter"), "content_filter"),
        (saying("", "length"), "reasoning_only"),
    ],
)
def test_what_the_model_withholds_is_an_invalid_answer_with_a_reason(demo, reply, reason):
    demo(plan=[reply])
    run = start_run(make_suite(models=[MASTER]))

    while draw_some(run, 2):
        pass

    assert run.samples.progress() == {"pending": 0, "asking": 0, "drawn": 6, "failed": 0, "cancelled": 0}
    silent = run.samples.get(answer="")
    assert (silent.verdict, silent.reason, silent.failure, silent.claims) == ("invalid", reason, "", 1)
    assert run.calls.get(error=reason).outcome == "answered", "the ledger tells why"
    reread_run(run)
    silent.refresh_from_db()
    assert (silent.verdict, silent.reason) == ("invalid", reason), "reading again finds the same"


def test_an_empty_answer_is_asked_again_and_counts_when_it_stays_empty(demo, settings):
    settings.MAX_CLAIMS = 3
    demo(plan=lambda number, body: saying(" ", "stop"))
    run = small_run()

    while draw_some(run):
        make_due()

    sample = run.samples.get()
    assert (sample.state, sample.verdict, sample.reason, sample.claims) == ("drawn", "invalid", "no_content", 3)
    assert run.calls.count() == 3


def test_what_the_network_loses_is_missing_and_no_answer(demo, settings):
    settings.MAX_CLAIMS = 2
    demo(plan=lambda number, body: failing(500))
    run = small_run()

    while draw_some(run):
        make_due()

    assert (run.samples.get().state, run.samples.get().verdict) == ("failed", "")


def test_breaker_leaves_a_failing_model_alone_and_probes_it(demo, settings):
    settings.BREAKER_FAILURES, settings.MAX_CLAIMS = 3, 50
    broken = {"now": True}
    server = demo(plan=lambda number, body: failing(500) if broken["now"] and "master" in body["model"] else None)
    run = start_run(make_suite(prompts=10, attempts=1))

    draw_some(run, 6)
    model = run.models.get(model_id="demo/master")
    assert model.open_until > now()
    assert model.failures_in_row == 3
    while draw_some(run):
        pass
    assert run.samples.filter(state="drawn").count() == 10, "the other model goes on"
    assert server.bill.requests == 13

    run.models.update(open_until=now())
    make_due()
    probe = claim(run, 10)
    assert len(probe) == 1 and probe[0].probe
    assert claim(run, 10) == [], "one probe at a time"
    settle(run, ask(probe))
    model.refresh_from_db()
    assert model.failures_in_row == 4
    assert model.open_until > now()

    broken["now"] = False
    run.models.update(open_until=now())
    make_due()
    assert draw_some(run, 10).drawn == 1
    model.refresh_from_db()
    assert (model.failures_in_row, model.open_until) == (0, None)
    assert draw_some(run, 20).drawn == 9


def test_unknown_cost_holds_the_reservation_until_it_is_looked_up(demo):
    body = {"choices": [{"message": {"content": "```\n/\\\n```"}, "finish_reason": "stop"}], "usage": {"cost": "NaN"}}
    server, run = demo(plan=[Scripted(200, body, cost_nano=1234)]), small_run()
    draw_some(run)
    assert_invariants(run, billed_nano=1234, requests=1)
    run.refresh_from_db()
    assert run.spent_nano == 0 < run.reserved_nano
    assert run.samples.get().flags == ["cost_unknown"]

    (call,) = run.calls.all()
    cost = asyncio.run(look_up_cost(load_run(run.pk), call))
    assert book_cost(call, cost)
    assert not book_cost(call, cost), "a cost is booked once"

    run.refresh_from_db()
    assert (run.spent_nano, run.reserved_nano) == (1234, 0)
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=1)


async def look_up_cost(loaded, call):
    async with Client() as client:
        return await client.lookup_cost(next(iter(loaded.profiles.values())), call.generation_id)


def test_a_drawing_that_signs_itself_is_held(demo):
    body = {"choices": [{"message": {"content": "```\n/\\\n drawn by Demo Master\n```"}, "finish_reason": "stop"}]}
    demo(plan=[Scripted(200, body)])
    run = small_run()

    draw_some(run)

    sample = run.samples.get()
    assert sample.held
    assert "identity_leak" in sample.flags
    assert not Sample.objects.judgeable().exists()


def test_text_no_database_can_hold_is_stored_all_the_same(demo):
    raw = b'{"choices":[{"message":{"content":"```\\n/\\u0000\\ud800\\\\\\n```"},"finish_reason":"stop"}],"usage":{"cost":0}}'
    demo(plan=[Scripted(200, raw)])
    run = small_run()

    draw_some(run)

    sample = run.samples.get()
    assert (sample.state, sample.verdict, sample.reason) == ("drawn", "invalid", "invalid_text")
    assert "\ufffd" in sample.answer


def test_programs_keep_the_conversation_and_a_row_for_each_turn(demo):
    asked = []
    server = demo(plan=lambda number, body: asked.append(body["messages"]) or None)
    run = start_run(make_suite(models=[MASTER], prompts=1, attempts=1, programs=[make_program()]))

    draw_some(run)
    sample = run.samples.get()
    assert (sample.state, len(sample.earlier_answers), sample.claims) == ("pending", 1, 0)
    draw_some(run)

    sample.refresh_from_db()
    assert sample.state == "drawn"
    assert [message["role"] for message in asked[1]] == ["system", "user", "assistant", "user"]
    assert asked[1][1]["content"] == "Think about a cat."
    assert asked[1][2]["content"] == sample.earlier_answers[0]
    assert asked[1][3]["content"] == "Now draw the cat."
    assert list(run.calls.values_list("turn", "outcome")) == [(0, "answered"), (1, "answered")]
    assert_invariants(run, billed_nano=server.bill.total_nano, requests=2)


def test_extra_prompt_and_parameters_reach_the_model(demo):
    asked = []
    demo(plan=lambda number, body: asked.append(body) or None)
    model = replace(BEGINNER, extra_prompt="Only straight lines.", parameters={"top_p": 0.5})
    run = start_run(make_suite(models=[model], prompts=1, attempts=1))

    draw_some(run)

    assert asked[0]["top_p"] == 0.5
    assert asked[0]["max_tokens"] == 1000
    assert asked[0]["messages"][-1]["content"].endswith("in ASCII art\n\nOnly straight lines.")


@pytest.mark.parametrize("samples", [8, 24])
def test_queries_a_sample_are_few_and_constant(demo, samples):
    demo()
    run = start_run(make_suite(models=[MASTER], prompts=samples, attempts=1))
    active = ActiveRun(load_run(run.pk))
    ended = []
    with CaptureQueriesContext(
        connection,
    ) as queries:
        while True:
            turn = drawing.take_turn(active, ended=ended, wanted=4 if not ended else len(ended))
            if not turn.questions:
                break
            ended = ask(turn.questions)

    statements = [query["sql"] for query in queries if not query["sql"].startswith(("SAVEPOINT", "RELEASE", "BEGIN"))]
    assert run.samples.filter(state="drawn").count() == samples
    assert len(statements) / samples <= 6
