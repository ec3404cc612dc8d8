"""`manage.py draw RUN`: draws a run here, in the foreground; no queue needed."""

from __future__ import annotations

import asyncio
from typing import Any

from django.core.management.base import CommandParser

from benchsite.lib.progress_bar import Bar
from benchsite.lib.text import visible
from generation.drawing import crew
from generation.drawing.sweeping import sweep
from generation.management.run_commands import RunCommand
from generation.models import Run, Sample
from generation.runs.errors import RunError


class Command(RunCommand):
    """Draws with a progress bar; Ctrl-C stops gently and loses nothing."""

    help = "Draw a run in the foreground until nothing is left. Workers may draw the same run at the same time."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--concurrency", type=int, help="calls at once (default: the run's)")

    def act(self, run: Run, *, concurrency: int | None, **options: Any) -> str:
        if run.drawing_state != Run.Drawing.OPEN:
            raise RunError(f"Run {run.code} is {run.get_drawing_state_display()}: {run.paused_reason or 'for good.'}")
        if concurrency is not None and not 1 <= concurrency <= 1024:
            raise RunError("Use a concurrency from 1 to 1024.")
        sweep()
        total, before = run.samples.count(), run.samples.exclude(pk__in=run.samples.unended()).count()
        shown: list[str] = []
        with Bar(self.stderr, "Drawing") as bar:

            def report(tally: crew.Tally) -> None:
                for sentence in tally.awaited:
                    if sentence not in shown:
                        bar.say(visible(sentence))
                        shown.append(sentence)
                bar.to(before + tally.drawn + tally.failed, total, f", {tally.in_flight} in flight")

            asyncio.run(crew.draw(run_id=run.pk, concurrency=concurrency, patience=3600, report=report))
        run.refresh_from_db()
        counts = Sample.objects.filter(run=run).progress()
        progress = ", ".join(f"{count} {Sample.State(state).label}" for state, count in counts.items() if count)
        paused = f" It is paused: {run.paused_reason}" if run.drawing_state == Run.Drawing.PAUSED else ""
        return f"Run {run.code}: {progress}.{paused}"
