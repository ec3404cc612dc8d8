"""`manage.py rebuild_tallies`: compare the tallies with the votes, and write them anew."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from generation.management.run_commands import find_run
from generation.models import Run
from judging.tallies import differences, rebuild_tallies


class Command(BaseCommand):
    """Checks that the tallies equal the standing votes."""

    help = "Compare the tallies of a run (or of all) with its standing votes, and mend them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", nargs="?", help="a run's code (default: every run)")
        parser.add_argument("--check", action="store_true", help="compare only, change nothing")

    def handle(self, *args: Any, run: str | None, check: bool, **options: Any) -> None:
        for one in [find_run(run)] if run else Run.objects.all():
            wrong = differences(one) if check else rebuild_tallies(one)
            self.stdout.write(f"{one.code}: {wrong} rows {'are' if check else 'were'} wrong.")
