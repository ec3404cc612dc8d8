"""`manage.py check_tallies`: compares the kept counts with a GROUP BY of the standing votes."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from generation.management.run_commands import find_run
from generation.models import Run
from judging.pairs.tallies import differences


class Command(BaseCommand):
    """Changes nothing; fails where a count is wrong."""

    help = "Compare the tallies of a run (or of all) with its standing votes; `rebuild_tallies` repairs them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", nargs="?", help="a run's code, or a suite (default: every run)")

    def handle(self, *args: Any, run: str | None, **options: Any) -> None:
        runs = [find_run(run)] if run else list(Run.objects.all())
        wrong: dict[str, int] = {}
        with Bar(self.stderr, "Comparing runs") as bar:
            for place, one in enumerate(runs):
                bar.to(place, len(runs))
                wrong |= {one.code: count} if (count := differences(one)) else {}
        if wrong:
            differing = ", ".join(f"{code}: {count} rows" for code, count in wrong.items())
            raise CommandError(f"Tallies differ from the votes ({differing}). Fix them with rebuild_tallies.")
        self.stdout.write(f"The tallies of {len(runs)} runs match their standing votes.")
