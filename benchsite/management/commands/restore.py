"""`manage.py restore FILE`: the database from a backup, with every open run paused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from benchsite.operations.backups import BackupError
from benchsite.operations.restoring import Restored, restore
from generation.money import NANO


class Command(BaseCommand):
    """All or nothing."""

    help = "Replace the whole database with a backup. Open runs are paused, so nothing is paid for twice by accident."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--yes", action="store_true", help="replace a database that has runs")

    def handle(self, *args: Any, file: Path, yes: bool, **options: Any) -> None:
        try:
            with Bar(self.stderr, "Restoring") as bar:
                done = restore(file, overwrite=yes, progress=bar.bytes_to)
        except BackupError as error:
            raise CommandError(str(error)) from None
        for line in describe(done):
            self.stdout.write(line)


def describe(done: Restored) -> list[str]:
    calls = "an unknown number of" if done.lost_calls is None else str(done.lost_calls)
    lines = [
        f"Restored the backup of {done.manifest.made_at[:19].replace('T', ' ')} UTC: {done.manifest.runs} runs.",
        f"Since then {calls} calls (US${done.lost_nano / NANO:.4f}) and {done.lost_votes} votes were made here; "
        "they are gone from this database.",
    ]
    if done.paused:
        were = "1 run was drawing and is" if done.paused == 1 else f"{done.paused} runs were drawing and are"
        lines.append(f"{were} paused; resume them to draw (and pay for) what is missing.")
    if done.migrated:
        lines.append("The backup was from an older release; its tables were migrated.")
    return lines
