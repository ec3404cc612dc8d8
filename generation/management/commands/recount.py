"""`manage.py recount RUN`: failures that the model caused become invalid answers; says what changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from benchsite.lib.text import visible
from generation.management.run_commands import find_run
from generation.models import Run
from generation.reading.recounting import Recount, recount_run
from generation.runs.errors import RunError


class Command(BaseCommand):
    """Needed once for runs that were drawn before every answer counted; harmless at any other time."""

    help = "Count empty answers, filters and refusals of earlier runs as invalid answers instead of failures."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", nargs="?", help="a run's code, or a suite (its newest run), or suite/label")
        parser.add_argument("--all", action="store_true", help="every run; frozen ones are skipped")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
        parser.add_argument("--reason", default="", help="kept in the run's history")

    def handle(self, *args: Any, run: str | None, all: bool, dry_run: bool, reason: str, **options: Any) -> None:
        if (run is None) != all:
            raise CommandError("Name a run, or give --all for every run.")
        for one in Run.objects.of_drawings().order_by("pk") if run is None else [find_run(run)]:
            try:
                with Bar(self.stderr, "Counting again") as bar:
                    result = recount_run(one, reason=reason, dry_run=dry_run, progress=bar.to)
            except RunError as error:
                if run is not None:
                    raise CommandError(visible(str(error))) from None
                self.stdout.write(visible(f"Run {one.code}: left as it is. {error}"))
            else:
                self.stdout.write(visible(sentence(one, result, dry_run=dry_run)))


def sentence(run: Run, result: Recount, *, dry_run: bool) -> str:
    verb = "would become" if dry_run else "became"
    changed = f"{result.changed} failed samples {verb} invalid answers{listed(result.answers)}"
    return f"Run {run.code}: {changed}; {result.missing.total()} stay missing{listed(result.missing)}."


def listed(counts: Counter[tuple[str, str]]) -> str:
    parts = [f"{name} {code or 'without a code'} {count}" for (name, code), count in sorted(counts.items())]
    return f" ({', '.join(parts)})" if parts else ""
