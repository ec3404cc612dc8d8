"""`manage.py retry_failed RUN`: failed samples get a fresh start."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from generation.management.commands.start_run import names
from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.runs.lifecycle import retry_failed


class Command(RunCommand):
    """Tries again."""

    help = "Retry failed samples and refused models."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--codes", type=names, default=[], help="only these error codes, separated by commas")

    def act(self, run: Run, *, reason: str, codes: list[str], **options: Any) -> str:
        return f"Run {run.code}: {retry_failed(run, reason=reason, codes=codes)} samples will be retried."
