"""Starting, pausing, resuming, cancelling and trying again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from generation.drawing.sweeping import sweep
from generation.models import Entrant, Event, Run, Sample
from generation.reading.backends import use_backend
from generation.runs.errors import RunError
from generation.runs.extending import extend_run
from generation.runs.lifecycle import cancel_run, pause_run, resume_run, retry_failed, start_run
from generation.suites.suite import Suite
from tests.generation.drawing_room import MASTER, make_program, make_suite

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return User.objects.create_user("alice", is_staff=True)


def test_start_run_works(alice):
    suite = make_suite(budget_usd=1.5, concurrency=4)

    run = start_run(suite, label="first", by=alice)

    assert run.samples.count() == 2 * 3 * 2
    assert set(run.samples.values_list("state", flat=True)) == {"pending"}
    assert (run.label, run.concurrency, run.budget_nano, run.is_demo) == ("first", 4, 1_500_000_000, True)
    assert Suite.from_dict(run.config) == suite
    event = run.events.get()
    assert (event.verb, event.actor, event.facts) == ("start_run", alice, {"samples": 12})


def test_start_run_pressed_twice_adds_nothing():
    first = start_run(make_suite(), key="press")
    second = start_run(make_suite(), key="press")

    assert first == second
    assert (Run.objects.count(), Sample.objects.count(), Event.objects.count()) == (1, 12, 1)


def test_start_run_takes_a_part_of_the_suite():
    run = start_run(make_suite(), models=["demo/master"], prompts=["p0", "p2"], attempts=1, budget=None, draw=False)

    assert run.samples.count() == 2
    assert run.drawing_state == Run.Drawing.PAUSED
    assert [prompt.key for prompt in run.prompts.all()] == ["p0", "p2"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"models": ["demo/nobody"]}, "tiny has no model 'demo/nobody'; it has demo/master, demo/beginner."),
        ({"prompts": ["p9"]}, "tiny has no prompt 'p9'; it has p0, p1, p2."),
        ({"attempts": 0}, "A run cannot have 0 attempts; use 1 to 100."),
        ({"budget": float("nan")}, "nan is not an amount of money; use US dollars from 0 to 1000000."),
        ({"budget": -1}, "-1 is not an amount of money; use US dollars from 0 to 1000000."),
    ],
)
def test_start_run_refuses_what_makes_no_sense(options, sentence):
    with pytest.raises(RunError) as refused:
        start_run(make_suite(), **options)

    assert str(refused.value) == sentence
    assert not Run.objects.exists()


def test_start_run_refuses_an_unknown_provider():
    with pytest.raises(RunError, match="there is no provider 'nowhere'"):
        start_run(make_suite(models=[replace(MASTER, provider="nowhere")]))


def test_start_run_of_programs_crosses_them_with_models():
    run = start_run(make_suite(programs=[make_program(), make_program("out", disqualified="Copied.")]))

    assert [(entrant.name, entrant.disqualified) for entrant in run.entrants.all()] == [
        ("two-step", ""),
        ("out", "Copied."),
    ]
    assert run.samples.count() == 1 * 2 * 3 * 2, "a disqualified program is not drawn"


def test_samples_are_laid_out_so_that_models_keep_pace():
    run = start_run(make_suite())

    order = run.samples.order_by("next_at", "id").values_list("attempt", "prompt__key", "model__model_id")[:4]
    assert list(order) == [
        (1, "p0", "demo/master"),
        (1, "p0", "demo/beginner"),
        (1, "p1", "demo/master"),
        (1, "p1", "demo/beginner"),
    ]


def test_pause_and_resume_say_who_and_why(alice):
    run = start_run(make_suite())

    assert pause_run(run, by=alice, reason="Lunch.")
    assert (run.drawing_state, run.paused_reason) == ("paused", "Lunch.")
    assert not pause_run(run, by=alice)
    assert resume_run(run, by=alice, budget=2)
    assert (run.drawing_state, run.paused_reason, run.budget_nano) == ("open", "", 2_000_000_000)
    assert not resume_run(run)
    assert list(run.events.order_by("pk").values_list("verb", "reason", "actor__username")) == [
        ("start_run", "", None),
        ("pause_run", "Lunch.", "alice"),
        ("resume_run", "", "alice"),
    ]


def test_cancel_run_is_for_good():
    run = start_run(make_suite())

    assert cancel_run(run, reason="Wrong suite.")
    assert run.samples.progress() == {"pending": 0, "asking": 0, "drawn": 0, "failed": 0, "cancelled": 12}
    assert not cancel_run(run)
    assert not resume_run(run)
    for verb in (retry_failed, extend_run):
        with pytest.raises(RunError, match="cancelled"):
            verb(run)


def test_retry_failed_gives_a_fresh_start():
    run = start_run(make_suite())
    run.samples.filter(attempt=1).update(state="failed", failure="timeout", claims=6)
    run.samples.filter(attempt=2).update(state="failed", failure="moderation", claims=1)
    run.models.update(refused_reason="Gone.", failures_in_row=20)

    assert retry_failed(run, codes=["timeout"]) == 6
    assert run.samples.filter(state="pending", claims=0).count() == 6
    assert not run.models.exclude(refused_reason="", failures_in_row=0).exists()
    assert retry_failed(run) == 6


def test_nothing_more_is_drawn_for_a_disqualified_entrant():
    run = start_run(make_suite())
    out, stays = run.entrants.all()
    run.samples.update(state="failed", failure="timeout")
    Sample.objects.filter(pk=out.samples.first().pk).update(state="pending", failure="")  # came back from a call
    Entrant.objects.filter(pk=out.pk).update(disqualified="It copied.")

    assert retry_failed(run) == stays.samples.count()
    assert sweep().cancelled == 1
    assert not out.samples.filter(state="pending").exists()


def test_use_backend_refuses_an_unknown_one():
    run = start_run(make_suite())

    with pytest.raises(RunError, match="ascii_art has no backend 'vit'"):
        use_backend(run, "vit")
