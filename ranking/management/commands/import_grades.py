"""`manage.py import_grades FILE --run RUN`: grades from a grades.jsonl become grades of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.file_errors import FileError
from benchsite.lib.progress_bar import Bar
from benchsite.lib.text import visible
from generation.management.run_commands import find_run
from generation.runs.errors import RunError
from judging.provenance import REASON
from ranking.rubric.import_grades import import_grades


class Command(BaseCommand):
    """Imports grades into a run that has the drawings."""

    help = "Import grades: one JSON object per line with judge, entrant, stage, subject, attempt, dimension and value."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--run", required=True, help="the run with these drawings: its code, or a suite (its newest run)"
        )
        parser.add_argument("--reason", required=True, help=REASON)

    def handle(self, *args: Any, file: Path, run: str, reason: str, **options: Any) -> None:
        into = find_run(run)
        try:
            with Bar(self.stderr, "Importing") as bar:
                count = import_grades(path=file, run=into, reason=reason, progress=bar.to)
        except (FileError, RunError) as refused:
            raise CommandError(visible(f"Nothing was imported. {refused}")) from None
        self.stdout.write(f"{count} grades imported into run {into.code}.")
