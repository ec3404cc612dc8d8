"""`manage.py cancel_run RUN`: nothing more is drawn."""

from __future__ import annotations

from typing import Any

from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.runs.lifecycle import cancel_run


class Command(RunCommand):
    """Cancels a run."""

    help = "Stop a run permanently; existing drawings stay."

    def act(self, run: Run, *, reason: str, **options: Any) -> str:
        return (
            f"Run {run.code} cancelled." if cancel_run(run, reason=reason) else f"Run {run.code} was cancelled before."
        )
