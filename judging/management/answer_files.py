"""What commands that take model judges' answers from a file share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from benchsite.lib.file_errors import FileError
from benchsite.lib.progress_bar import Bar
from generation.management.run_commands import RunCommand
from generation.models import Run


class AnswerImport(RunCommand):
    importing: Callable[..., int]  # of a run and a file; says how many answers there were

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)

    def act(self, run: Run, **options: Any) -> str:
        try:
            with Bar(self.stderr, "Importing") as bar:
                count = self.importing(run, options["file"], reason=options["reason"], progress=bar.to)
        except (FileError, OSError) as refused:
            raise CommandError(f"Nothing was imported. {refused}") from None
        return f"{count} answers of model judges imported."
