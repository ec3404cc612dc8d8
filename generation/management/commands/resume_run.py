"""`manage.py resume_run RUN`: draw on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from generation.management.run_commands import RunCommand, budget
from generation.models import Run
from generation.runs.lifecycle import resume_run


class Command(RunCommand):
    """Resumes a run."""

    help = "Resume a paused run, with all models enabled again."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--budget", type=budget, default="keep", help="a new cap in US dollars, or none to remove it"
        )

    def act(self, run: Run, **options: Any) -> str:
        resumed = resume_run(run, reason=options["reason"], budget=options["budget"])
        return f"Run {run.code} draws." if resumed else f"Run {run.code} was not paused."
