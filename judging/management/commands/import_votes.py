"""`manage.py import_votes FILE`: votes from a votes.jsonl become votes of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.file_errors import FileError
from benchsite.lib.progress_bar import Bar
from benchsite.lib.text import visible
from generation.management.run_commands import find_run
from generation.runs.errors import RunError
from judging.files.import_votes import import_votes
from judging.provenance import REASON


class Command(BaseCommand):
    """Imports votes into a run, or into a new one."""

    help = "Import votes: one JSON object per line, with at least left_model, right_model and outcome."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--run", help="the code of the run that these entrants belong to (default: a new run)")
        parser.add_argument("--reason", required=True, help=REASON)
        parser.add_argument("--title", default="", help="the title of the new run")

    def handle(self, *args: Any, file: Path, run: str | None, title: str, reason: str, **options: Any) -> None:
        if not file.is_file():
            raise CommandError(f"There is no file {visible(str(file))}.")
        try:
            with Bar(self.stderr, "Importing") as bar:
                given = find_run(run) if run else None
                into, count = import_votes(path=file, run=given, title=title, reason=reason, progress=bar.to)
        except (FileError, RunError) as refused:
            raise CommandError(visible(f"Nothing was imported. {refused}")) from None
        self.stdout.write(f"{count} votes imported into run {into.code}.")
