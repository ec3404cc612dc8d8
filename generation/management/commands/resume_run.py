"""`manage.py resume_run RUN`: draw on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.runs import resume_run


class Command(RunCommand):
    """Resumes a run."""

    help = "Draw on, with every model given another chance."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--budget", type=float, help="a new cap in US dollars")

    def act(self, run: Run, *, reason: str, budget: float | None, **options: Any) -> str:
        resumed = resume_run(run, reason=reason, budget="keep" if budget is None else budget)
        return f"Run {run.code} draws." if resumed else f"Run {run.code} was not paused."
