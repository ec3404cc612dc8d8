"""`manage.py backup FILE`: the whole database in one file, while the site runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from benchsite.operations.backups import BackupError, back_up


class Command(BaseCommand):
    """All or nothing."""

    help = "Back up the whole database to one file, while the site runs. The secret key is not included."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--yes", action="store_true", help="replace the file if it exists")

    def handle(self, *args: Any, file: Path, yes: bool, **options: Any) -> None:
        try:
            with Bar(self.stderr, "Backing up") as bar:
                manifest = back_up(file, overwrite=yes, progress=bar.bytes_to)
        except BackupError as error:
            raise CommandError(str(error)) from None
        size = file.stat().st_size / 1e6
        self.stdout.write(f"{file}: {size:.1f} MB, {manifest.runs} runs, {manifest.calls} calls, {manifest.engine}.")
