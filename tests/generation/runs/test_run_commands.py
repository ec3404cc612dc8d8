"""The commands about runs: what they print, and one clear sentence for each mistake."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.transaction import Atomic
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django_rq import get_queue

from generation.demo.server import Scripted
from generation.models import Run, Sample
from generation.queue import queue_connection
from generation.reading import answers as reading
from generation.reading.answers import reread_run
from generation.reading.measuring import measure_run
from generation.runs.checking import describe_cost
from generation.runs.curating import mark_identity_leak
from generation.runs.lifecycle import start_run
from generation.runs.publishing import freeze_runs
from generation.suites.profiles import load_profiles
from tests.generation.drawing_room import BEGINNER, MASTER, draw_some, make_suite

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_queue(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"


def test_start_run_works(capsys):
    call_command("start_run", "ascii", "--demo", "--models", "demo/master", "--attempts", "1", "--label", "try")

    run = Run.objects.get()
    assert capsys.readouterr().out == f"Run {run.code} of ascii: 12 samples.\n"
    assert (run.is_demo, run.label, run.title) == (True, "try", "ASCII art (demo)")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["start_run", "nothing"], "there is no such suite"),
        (["start_run", "ascii", "--models", "who"], "ascii has no model 'who'"),
        (["start_run", "ascii", "--attempts", "1000"], "A run cannot have 1000 attempts; use 1 to 100."),
        (["pause_run", "zzzz"], "There is no run 'zzzz'."),
        (["draw", "\x1b[2J"], "There is no run '␛[2J'."),
        (["import_samples", "/nowhere/x.jsonl"], "There is no file /nowhere/x.jsonl."),
        (["check_provider", "nothing"], "there is no such suite"),
    ],
)
def test_a_mistake_is_one_sentence(arguments, sentence):
    with pytest.raises(CommandError) as refused:
        call_command(*arguments)

    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_pause_resume_cancel_and_retry_say_what_they_did(capsys):
    run = start_run(make_suite(), label="x")
    run.samples.filter(attempt=1).update(state="failed", failure="timeout")

    for command in ("pause_run", "pause_run", "resume_run", "retry_failed", "cancel_run", "cancel_run"):
        call_command(command, "tiny/x", "--reason", "Because.")

    assert capsys.readouterr().out.splitlines() == [
        f"Run {run.code} paused.",
        f"Run {run.code} was not drawing.",
        f"Run {run.code} draws.",
        f"Run {run.code}: 6 samples will be retried.",
        f"Run {run.code} cancelled.",
        f"Run {run.code} was cancelled before.",
    ]
    assert set(run.events.exclude(verb="start_run").values_list("reason", flat=True)) == {"Because."}


def test_extend_run_refuses_a_model_the_suite_does_not_have():
    run = start_run(make_suite(slug="ascii"))

    with pytest.raises(CommandError, match="ascii has no model 'who'"):
        call_command("extend_run", run.code, "--models", "who")


def test_budgets_are_kept_changed_and_taken_away():
    run = start_run(make_suite(), budget=5)
    caps = []

    for command in (["pause_run"], ["resume_run"], ["extend_run", "--budget", "2.5"], ["extend_run"]):
        call_command(command[0], run.code, *command[1:])
        caps.append(Run.objects.get().budget_nano)
    for name in ("extend_run", "resume_run"):
        Run.objects.update(budget_nano=1, drawing_state="paused")
        call_command(name, run.code, "--budget", "none")
        caps.append(Run.objects.get().budget_nano)

    assert caps == [5 * 10**9, 5 * 10**9, 25 * 10**8, 25 * 10**8, None, None]
    with pytest.raises(CommandError, match="invalid budget value: 'much'"):
        call_command("extend_run", run.code, "--budget", "much")


def test_sweep_says_what_it_found(capsys):
    start_run(make_suite())

    call_command("sweep")

    assert "0 lost calls; 0 samples freed" in capsys.readouterr().out


def test_reread_keeps_the_old_reading(demo, capsys):
    demo()
    run = start_run(make_suite())
    draw_some(run)
    sample = run.samples.filter(verdict="valid").first()
    run.samples.filter(pk=sample.pk).update(drawing="old", format_version=0)

    call_command("reread", run.code)

    assert capsys.readouterr().out == f"Run {run.code}: 1 readings changed.\n"
    sample.refresh_from_db()
    assert sample.drawing != "old"
    assert (sample.readings.get().drawing, sample.readings.get().format_version) == ("old", 0)


@pytest.fixture
def asked_for_reread(demo, queue, settings, client, django_capture_on_commit_callbacks):
    """A run with one old reading, and the job that a curator's click in the admin put in the queue."""
    settings.REDIS_URL = queue.url
    demo()
    run = start_run(make_suite())
    draw_some(run)
    sample = run.samples.filter(verdict="valid").first()
    run.samples.filter(pk=sample.pk).update(drawing="old", format_version=0)
    client.force_login(User.objects.create_superuser("carol"))
    form = {"action": "ask_reread", "_selected_action": [run.pk], "confirmed": "yes", "reason": "better rules"}
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("admin:generation_run_changelist"), form)
    [job] = get_queue("measure", connection=queue_connection(queue.url)).jobs
    return run, sample, job


def test_a_curator_has_all_answers_read_again(asked_for_reread):
    run, sample, job = asked_for_reread

    job.func(*job.args)

    sample.refresh_from_db()
    assert sample.drawing != "old" and sample.readings.get().drawing == "old"
    asked, done = run.events.filter(verb__contains="reread").order_by("pk")
    assert (asked.verb, done.verb, done.facts) == ("ask_reread", "reread_run", {"changed": 1})
    assert {str(event.actor) for event in (asked, done)} == {"carol"} and asked.reason == done.reason == "better rules"


def test_a_run_that_was_frozen_since_is_not_read_again(asked_for_reread):
    run, sample, job = asked_for_reread
    freeze_runs([run], by=None, reason="the term is over")

    job.func(*job.args)

    sample.refresh_from_db()
    assert sample.drawing == "old" and not run.events.filter(verb="reread_run").exists()


def test_reread_keeps_a_hold_that_was_given_meanwhile(demo, monkeypatch):
    demo()
    run = start_run(make_suite(models=[MASTER], prompts=1, attempts=1))
    draw_some(run)
    run.samples.update(drawing="old")
    real = Atomic.__enter__

    def late(self):
        monkeypatch.setattr(Atomic, "__enter__", real)  # once: the answer was read again, and is about to be written
        mark_identity_leak(Sample.objects.all(), by=None, reason="it says so in the corner")
        return real(self)

    monkeypatch.setattr(Atomic, "__enter__", late)
    with CaptureQueriesContext(connection) as queries:
        assert reread_run(run) == 1

    sample = run.samples.get()
    assert (sample.held, "leak_marked" in sample.flags) == (True, True)
    if connection.features.has_select_for_update:
        assert sum("FOR NO KEY UPDATE" in query["sql"] for query in queries) >= 2, "by the curator and by the reader"


@pytest.mark.django_db(transaction=True)
def test_reread_holds_nothing_while_it_reads(demo, monkeypatch):
    demo()
    run = start_run(make_suite(models=[MASTER], prompts=2, attempts=1))
    draw_some(run)
    real, held = reading.read_answer, []

    def read(*arguments, **named):
        held.append(connection.in_atomic_block)
        return real(*arguments, **named)

    monkeypatch.setattr(reading, "read_answer", read)

    reread_run(run)

    assert held == [False, False]


def test_measure_fills_what_is_missing(demo, capsys):
    demo()
    run = start_run(make_suite())
    draw_some(run)
    run.samples.first().measurements.all().delete()

    call_command("measure", run.code)
    call_command("measure", run.code)

    missing = 1 if run.samples.first().verdict == "valid" else 0
    assert capsys.readouterr().out.splitlines() == [
        f"Run {run.code}: {missing} drawings measured by builtin.",
        f"Run {run.code}: 0 drawings measured by builtin.",
    ]


def test_measuring_tells_how_far_it_is(demo):
    demo()
    run = start_run(make_suite())
    draw_some(run)
    heard = []

    measure_run(run, everything=True, progress=lambda seen, total: heard.append((seen, total)))

    drawn = run.samples.filter(state="drawn").count()
    assert heard == [(drawn, drawn)]


def test_check_provider_says_key_models_and_cost(demo, capsys):
    demo()

    call_command("check_provider", "ascii", "--demo")

    output = capsys.readouterr().out
    assert "demo: reachable; it needs no key." in output
    assert "demo/master: offered, US$3 in and 15 out per million tokens" in output
    assert "120 samples; a whole run costs at most US$" in output


def test_check_provider_without_a_key_says_which_variable(monkeypatch):
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)

    with pytest.raises(CommandError, match="openrouter: Provider openrouter needs a key: set OPENROUTER_API_KEY"):
        call_command("check_provider", "ascii")


def test_a_provider_of_ones_own_costs_nothing():
    suite = make_suite()
    unpriced = tuple(replace(model, provider="", price_in=None, price_out=None) for model in suite.models)
    profiles = load_profiles(settings.SUITES_DIR / "providers.yaml")

    def cost(provider):
        unpriced_suite = replace(suite, models=unpriced, generation=replace(suite.generation, provider=provider))
        return describe_cost(unpriced_suite, profiles)

    assert cost("ollama").endswith("at most US$0.0000 without retries.")
    assert cost("openrouter").endswith("an unknown amount: a price is missing.")


@pytest.mark.django_db(transaction=True)
def test_draw_works_without_a_queue(demo, capsys):
    demo()
    run = start_run(make_suite())

    call_command("draw", "tiny", "--concurrency", "6")

    assert capsys.readouterr().out == f"Run {run.code}: 12 drawn.\n"


@pytest.mark.django_db(transaction=True)
def test_draw_says_why_a_run_stopped(demo, capsys):
    demo(plan=[Scripted(402, {"error": {"code": 402, "message": "No credit \x1b[31mleft."}})] * 50)
    run = start_run(make_suite(models=[MASTER, BEGINNER]))

    call_command("draw", run.code)

    assert "12 waiting. It is paused: HTTP 402: No credit \\x1b[31mleft." in capsys.readouterr().out
    with pytest.raises(CommandError, match="is paused: HTTP 402"):
        call_command("draw", run.code)
