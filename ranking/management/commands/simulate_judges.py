"""`manage.py simulate_judges RUN`: votes by simulated judges, clearly marked."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from generation.management.run_commands import RunCommand
from generation.models import Run
from ranking.simulated.judges import simulate_judges


class Command(RunCommand):
    """Casts votes through the same verbs as people do."""

    help = (
        "Let simulated judges of known skill vote on a run whose judging is open; for demos, benchmarks and teaching."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--judges", type=int, default=8)
        parser.add_argument("--votes", type=int, default=400, help="in all")
        parser.add_argument("--seed", type=int, default=1)

    def act(self, run: Run, *, judges: int, votes: int, seed: int, **options: Any) -> str:
        if judges < 1 or votes < 1:
            raise CommandError("Use at least one judge and one vote.")
        try:
            with Bar(self.stderr, "Voting") as bar:
                cast = simulate_judges(run, judges=judges, votes=votes, seed=seed, progress=bar.to)
        except ValueError as error:
            raise CommandError(str(error)) from None
        return f"{cast} simulated votes by {judges} judges on run {run.code}."
