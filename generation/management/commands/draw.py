"""`manage.py draw RUN`: draws a run here, in the foreground; no queue needed."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from django.core.management.base import CommandParser

from generation import crew
from generation.drawing import sweep
from generation.management.run_commands import RunCommand
from generation.models import Run, Sample
from generation.runs import RunError

WIDTH = 32


class Command(RunCommand):
    """Draws with a progress bar; Ctrl-C stops gently and loses nothing."""

    help = "Draw a run in the foreground until nothing is left to draw. Workers may draw the same run at the same time."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--concurrency", type=int, help="calls at once (default: the run's)")

    def act(self, run: Run, *, concurrency: int | None, **options: Any) -> str:
        if run.drawing_state != Run.Drawing.OPEN:
            raise RunError(f"Run {run.code} is {run.get_drawing_state_display()}: {run.paused_reason or 'for good.'}")
        if concurrency is not None and not 1 <= concurrency <= 1024:
            raise RunError("Use a concurrency from 1 to 1024.")
        sweep()
        bar = Bar(self, total=run.samples.count(), done=run.samples.exclude(pk__in=run.samples.unended()).count())
        asyncio.run(crew.draw(run_id=run.pk, concurrency=concurrency, patience=3600, report=bar.show))
        bar.end()
        run.refresh_from_db()
        counts = Sample.objects.filter(run=run).progress()
        told = ", ".join(f"{count} {Sample.State(state).label}" for state, count in counts.items() if count)
        paused = f" It is paused: {run.paused_reason}" if run.drawing_state == Run.Drawing.PAUSED else ""
        return f"Run {run.code}: {told}.{paused}"


class Bar:
    """A progress bar on a terminal, and nothing elsewhere."""

    def __init__(self, command: Command, *, total: int, done: int) -> None:
        self.out, self.total, self.before = command.stderr, max(total, 1), done
        self.shown_at = 0.0
        self.wanted = command.stderr.isatty()

    def show(self, tally: crew.Tally) -> None:
        if not self.wanted or time.monotonic() - self.shown_at < 0.2:
            return
        self.shown_at = time.monotonic()
        done = self.before + tally.drawn + tally.failed
        filled = min(WIDTH, WIDTH * done // self.total)
        line = f"\r{'█' * filled}{'░' * (WIDTH - filled)} {done}/{self.total}, {tally.in_flight} in flight "
        self.out.write(line, ending="")
        self.out.flush()

    def end(self) -> None:
        if self.wanted:
            self.out.write("")
