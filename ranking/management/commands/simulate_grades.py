"""`manage.py simulate_grades RUN`: simulated judges grade a run, on seats that are marked for ever."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from generation.management.run_commands import find_run
from ranking.simulated.grades import simulate_grades


class Command(BaseCommand):
    """Grades by nobody, for demos and teaching."""

    help = "Let simulated judges grade a run by its rubric."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="a run's code, or a suite (its newest run)")
        parser.add_argument("--judges", type=int, default=5)
        parser.add_argument("--seed", type=int, default=1)

    def handle(self, *args: Any, run: str, judges: int, seed: int, **options: Any) -> None:
        graded = find_run(run)
        if not any(entry.needs_rubric for entry in graded.judged_by):
            raise CommandError(f"Run {graded.code} is not graded by a rubric.")
        try:
            with Bar(self.stderr, "Grading") as bar:
                done = simulate_grades(graded, judges=judges, seed=seed, progress=bar.to)
        except ValueError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{done} drawings graded by {judges} simulated judges.")
