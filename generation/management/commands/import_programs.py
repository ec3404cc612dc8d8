"""`manage.py import_programs RUN FILE`: prompt programs join a run, and wait there for approval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from benchsite.lib.progress_bar import Bar
from generation.files.import_programs import import_programs
from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.runs.errors import RunError
from generation.suites.program_files import read_programs
from generation.suites.yaml_source import SuiteError


class Command(RunCommand):
    """Checks each program and says why one does not qualify."""

    help = "Add the prompt programs of a YAML file to a run. A curator approves them in the admin before they are run."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, help="a file like a suite's programs.yaml")

    def act(self, run: Run, *, file: Path, reason: str, **options: Any) -> str:
        try:
            _, programs = read_programs(file, check=False)
        except SuiteError as error:
            raise RunError(str(error)) from None
        with Bar(self.stderr, "Adding"):
            done = import_programs(run, programs, reason=reason)
        lines = [f"{name}: qualifies; approve it in the admin." for name in done.waiting]
        lines += [f"{name}: does not qualify. {why}" for name, why in done.refused.items()]
        lines += [f"{name}: is in the run already." for name in done.same]
        return "\n".join(lines)
