"""`manage.py import_model_votes RUN FILE --reason WHY`: model judges' answers of a file join a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from benchsite.lib.file_errors import FileError
from benchsite.lib.progress_bar import Bar
from generation.management.run_commands import RunCommand
from generation.models import Run
from judging.model_judges.importing import import_model_votes


class Command(RunCommand):
    help = "Import model judges' answers (model_votes.jsonl) about a run's drawings; they are compared with people's votes."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)

    def act(self, run: Run, **options: Any) -> str:
        try:
            with Bar(self.stderr, "Importing") as bar:
                count = import_model_votes(run, options["file"], reason=options["reason"], progress=bar.to)
        except (FileError, OSError) as refused:
            raise CommandError(f"Nothing was imported. {refused}") from None
        return f"{count} answers of model judges imported."
