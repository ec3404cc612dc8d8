"""`manage.py pause_run RUN`: no new call from now on."""

from __future__ import annotations

from typing import Any

from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.runs.lifecycle import pause_run


class Command(RunCommand):
    """Pauses a run."""

    help = "Pause a run; calls in flight finish and count."

    def act(self, run: Run, *, reason: str, **options: Any) -> str:
        return f"Run {run.code} paused." if pause_run(run, reason=reason) else f"Run {run.code} was not drawing."
