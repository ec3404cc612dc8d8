"""Calls whose cost nobody knows: listed, closed once by a curator, and corrected by the provider."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils.timezone import now

from generation.drawing import turns as drawing
from generation.drawing.active import ActiveRun
from generation.drawing.sweeping import sweep
from generation.models import Event, ProviderCall, Run, Sample
from generation.runs.billing import calls_of_unknown_cost, close_calls
from generation.runs.errors import RunError
from generation.runs.lifecycle import start_run
from generation.runs.loaded import load_run
from tests.generation.drawing_room import ask, make_suite, settle

pytestmark = pytest.mark.django_db
CENT = 10**7


@pytest.fixture
def run(demo):
    demo()
    return start_run(make_suite(prompts=1, attempts=2), budget=1)


@pytest.fixture
def lost(run):
    """Two calls of a worker that died in mid-call, and their questions."""
    questions = drawing.claim(ActiveRun(load_run(run.pk), worker="bench-1, process 4711"), wanted=2)
    past = now() - timedelta(minutes=20)
    ProviderCall.objects.update(lease_until=past, seen_at=past)
    Sample.objects.filter(state=Sample.State.ASKING).update(lease_until=past)
    sweep()
    run.refresh_from_db()
    return questions


def test_closing_releases_the_reservation_and_books_the_bill(run, lost, curator):
    assert run.reserved_nano > 0

    closed = close_calls(run, list(calls_of_unknown_cost(run)), cost_nano=CENT, by=curator, reason="on the bill")

    run.refresh_from_db()
    assert (closed, run.reserved_nano, run.spent_nano) == (2, 0, 2 * CENT)
    event = Event.objects.get(verb="close_calls")
    assert (event.actor, event.reason, event.subject) == (curator, "on the bill", "2 calls")
    assert event.facts["cost_nano"] == CENT


def test_call_is_closed_once(run, lost, curator):
    calls = list(calls_of_unknown_cost(run))
    close_calls(run, calls, cost_nano=CENT, by=curator, reason="on the bill")

    assert close_calls(run, calls, cost_nano=CENT, by=curator, reason="again") == 0
    run.refresh_from_db()
    assert run.spent_nano == 2 * CENT


def test_closing_needs_a_reason(run, lost, curator):
    with pytest.raises(RunError, match="Give a reason"):
        close_calls(run, list(calls_of_unknown_cost(run)), cost_nano=0, by=curator, reason=" ")


def test_answer_that_comes_after_its_call_was_closed_is_kept_at_the_providers_cost(run, lost, curator):
    close_calls(run, list(calls_of_unknown_cost(run)), cost_nano=CENT, by=curator, reason="on the bill")
    ended = ask(lost[:1])

    settle(run, ended)
    settle(run, ended)

    run.refresh_from_db()
    assert Sample.objects.get(pk=lost[0].sample_id).state == Sample.State.DRAWN
    assert ProviderCall.objects.get(token=lost[0].token).cost_nano == ended[0].cost_nano
    assert (run.spent_nano, run.reserved_nano) == (CENT + ended[0].cost_nano, 0)


def test_curator_closes_chosen_calls_on_the_page(client, run, lost, curator):
    page = client.get(f"/runs/{run.code}/").text
    listed = client.get(f"/runs/{run.code}/costs/").text

    assert f"/runs/{run.code}/costs/" in page
    assert all(f'value="{question.token}"' in listed for question in lost)
    answer = client.post(
        f"/runs/{run.code}/costs/", {"call": [str(lost[0].token)], "cost": "0.01", "reason": "one is on the bill"}
    )

    assert answer.status_code == 302
    assert [call.token for call in calls_of_unknown_cost(run)] == [lost[1].token]
    assert Run.objects.get().spent_nano == CENT


@pytest.mark.parametrize(
    ("form", "fault"),
    [
        ({"cost": "0.01", "reason": "seen"}, "Choose at least one call."),
        ({"cost": "-1", "reason": "seen", "call": "all"}, "greater than or equal to 0"),
        ({"cost": "0", "reason": "", "call": "all"}, "This field is required."),
    ],
)
def test_page_refuses_what_closes_nothing(form, fault, client, run, lost, curator):
    if "call" in form:
        form = {**form, "call": [str(question.token) for question in lost]}

    page = client.post(f"/runs/{run.code}/costs/", form).text

    assert fault in page
    assert calls_of_unknown_cost(run).count() == 2


def test_page_without_such_calls_says_so(client, run, curator):
    assert "The cost of every call is known." in client.get(f"/runs/{run.code}/costs/").text


def test_command_closes_calls(run, lost, capsys):
    with pytest.raises(CommandError):
        call_command("close_calls", run.code, "--cost", "0")
    call_command("close_calls", run.code, "--cost", "0", "--reason", "not on the bill")

    assert "2 calls closed" in capsys.readouterr().out
    assert not calls_of_unknown_cost(run).exists()
