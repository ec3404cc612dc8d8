"""`manage.py rebuild_tallies`: writes the tallies anew from the votes (`check_tallies` only compares)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchsite.lib.progress_bar import Bar
from generation.management.run_commands import find_run
from generation.models import Run
from judging.pairs.tallies import rebuild_tallies


class Command(BaseCommand):
    """Mends what `check_tallies` finds."""

    help = "Rebuild the tallies of a run (or of all) from its standing votes, and report how many rows were wrong."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", nargs="?", help="a run's code (default: every run)")

    def handle(self, *args: Any, run: str | None, **options: Any) -> None:
        for one in [find_run(run)] if run else Run.objects.all():
            with Bar(self.stderr, f"Counting {one.code}") as bar:
                wrong = rebuild_tallies(one, progress=bar.to)
            self.stdout.write(f"{one.code}: {wrong} rows were wrong.")
