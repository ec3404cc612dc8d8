"""`manage.py import_votes FILE`: votes of a file of any maker become votes of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from benchsite.lib.text import visible
from generation.management.run_commands import find_run
from generation.runs.errors import RunError
from judging.files.import_votes import import_votes
from judging.files.vote_files import Mapped, add_mapping
from judging.provenance import REASON


class Command(BaseCommand):
    """Imports votes into a run, or into a new one."""

    help = "Import votes from JSON Lines, CSV, TSV, Parquet or JSON, in our columns, an arena's, comparIA's or Label Studio's."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--run", help="the code of the run that these entrants belong to (default: a new run)")
        parser.add_argument("--reason", required=True, help=REASON)
        parser.add_argument("--title", default="", help="the title of the new run")
        add_mapping(parser)

    def handle(self, *args: Any, file: Path, run: str | None, title: str, reason: str, **options: Any) -> None:
        if not file.is_file():
            raise CommandError(f"There is no file {visible(str(file))}.")
        try:
            with Bar(self.stderr, "Importing") as bar:
                given = find_run(run) if run else None
                mapped = Mapped.parse(options["column"], options["outcome"])
                into, count = import_votes(
                    path=file, run=given, title=title, reason=reason, mapped=mapped, progress=bar.to, notice=bar.say
                )
        except (ValueError, RunError) as refused:
            raise CommandError(visible(f"Nothing was imported. {refused}")) from None
        self.stdout.write(f"{count} votes imported into run {into.code}.")
