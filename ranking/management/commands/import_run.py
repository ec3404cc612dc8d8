"""`manage.py import_run FILE.zip`: a run from another site, with the same leaderboard to the last digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.file_errors import FileError
from benchsite.lib.progress_bar import Bar
from generation.runs.errors import RunError
from judging.provenance import REASON
from ranking.archive.importing import import_run
from ranking.dataset.importing import import_dataset
from ranking.dataset.reading import is_dataset


class Command(BaseCommand):
    """Whole or not at all."""

    help = "Import the zip that `export all RUN` wrote, or a published dataset (folder or zip). The run is private, does not draw, and its judging is closed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--copy", action="store_true", help="import a second copy where this site already has that run"
        )
        parser.add_argument("--reason", required=True, help=REASON)

    def handle(self, *args: Any, file: Path, copy: bool, reason: str, **options: Any) -> None:
        try:
            with Bar(self.stderr, "Importing") as bar:
                run = (import_dataset if is_dataset(file) else import_run)(
                    file, copy=copy, reason=reason, progress=bar.to
                )
        except (FileError, RunError) as error:
            raise CommandError(f"Nothing was imported. {error}") from None
        counts = f"{run.samples.count()} samples, {run.votes.count()} votes"
        self.stdout.write(f"Run {run.code} ({run}): {counts}.")
