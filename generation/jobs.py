"""Jobs of the queue: an id in, a verb called, nothing else. No retries: the sweeper is the retry."""

from __future__ import annotations

import asyncio

from django.conf import settings
from django.contrib.auth.models import User

from generation.drawing import crew
from generation.drawing.due import runs_to_draw
from generation.models import Run
from generation.queue import enqueue_drawing
from generation.reading.answers import reread_run
from generation.reading.backends import switch_as_asked
from generation.reading.measuring import measure_by
from generation.runs.expansion import finish_expansion
from generation.runs.facts import fill_facts


def draw() -> None:
    """Draw everything that is due, for one slice of time; the next job takes over after that."""
    asyncio.run(crew.draw(seconds=settings.DRAW_SLICE, patience=settings.SWEEP_SECONDS, on_backlog=enqueue_drawing))
    if runs_to_draw():
        enqueue_drawing()


def fill_model_facts(run_id: int) -> None:
    run = Run.objects.filter(pk=run_id, frozen_at=None).first()
    if run is not None:
        fill_facts(run)


def set_up(run_id: int) -> None:
    run = Run.objects.filter(pk=run_id, setting_up=True).first()
    if run is not None:
        finish_expansion(run)


def measure(run_id: int, backend: str) -> None:
    # One that was frozen since it was enqueued is measured when it is thawed.
    run = Run.objects.filter(pk=run_id, frozen_at=None).first()
    if run is not None:
        measure_by(run, backend)


def switch_backend(run_id: int) -> None:
    run = Run.objects.filter(pk=run_id, frozen_at=None).first()
    if run is not None:
        switch_as_asked(run)


def reread(run_id: int, user_id: int, reason: str) -> None:
    # One that was frozen since it was enqueued is final.
    run = Run.objects.filter(pk=run_id, frozen_at=None).first()
    if run is not None:
        reread_run(run, by=User.objects.filter(pk=user_id).first(), reason=reason)
