"""What a run's page says about time left and about workers that fell silent."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils.timezone import now

from generation.drawing import turns as drawing
from generation.drawing.active import ActiveRun
from generation.drawing.workers import note_alive, workers_of
from generation.models import ProviderCall, Run, Sample
from generation.runs.lifecycle import start_run
from generation.runs.loaded import load_run
from generation.views.progress import run_progress
from tests.generation.drawing_room import draw_some, make_suite
from tests.judging.make import make_run

pytestmark = pytest.mark.django_db


def asked_by_somebody(*, minutes_ago):
    """A run of which the last drawing is being asked, and the newest answer came so long ago."""
    run = make_run(entrants=1, prompts=4, attempts=1)
    Run.objects.update(created_at=now() - timedelta(hours=1), drawing_state=Run.Drawing.OPEN)
    Sample.objects.update(drawn_at=now() - timedelta(minutes=minutes_ago))
    last = Sample.objects.filter(pk=Sample.objects.last().pk)
    last.update(
        state="asking", verdict="", drawn_at=None, token=uuid4(), lease_until=now() + timedelta(minutes=9, seconds=5)
    )
    run.refresh_from_db()
    return run, last


def test_the_last_ones_have_no_time_left_by_the_rate():
    run, _ = asked_by_somebody(minutes_ago=0.1)

    progress = run_progress(run)

    assert (progress.pending, progress.asking, progress.seconds_left) == (0, 1, None)
    assert progress.awaited == []


def test_silence_is_announced_with_the_end_of_the_lease():
    run, last = asked_by_somebody(minutes_ago=3)

    (sentence,) = run_progress(run).awaited

    assert "1 call is in progress, and no answer has arrived for 3 min." in sentence
    assert f"at {last.get().lease_until:%H:%M} UTC, in 9 min, at the latest" in sentence


def test_lost_worker_is_named_with_the_end_of_its_lease_and_no_time_left_is_guessed(client, curator, demo):
    demo()
    run = start_run(make_suite(prompts=3, attempts=2))
    draw_some(run, 4)
    drawing.claim(ActiveRun(load_run(run.pk), worker="bench-1, process 4711"), wanted=2)
    ProviderCall.objects.filter(outcome="open").update(seen_at=now() - timedelta(seconds=10))
    running = run_progress(run)
    ProviderCall.objects.filter(outcome="open").update(seen_at=now() - timedelta(seconds=21))
    lease = ProviderCall.objects.filter(outcome="open").first().lease_until

    page = client.get(f"/runs/{run.code}/").text

    assert running.seconds_left
    assert not [sentence for sentence in running.awaited if "bench-1" in sentence]
    assert "Worker bench-1, process 4711 last reported" in page
    assert f"at {lease:%H:%M:%S} UTC" in page
    assert run_progress(run).seconds_left is None


def test_worker_that_says_it_waits_is_not_lost(demo):
    demo()
    run = start_run(make_suite(prompts=1))
    drawing.claim(ActiveRun(load_run(run.pk), worker="bench-1, process 4711"), wanted=2)
    ProviderCall.objects.update(seen_at=now() - timedelta(minutes=2))

    note_alive("bench-1, process 4711")

    assert workers_of(run).lost == []
    assert workers_of(run).waiting == 2
