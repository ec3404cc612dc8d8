"""`manage.py fit RUN`: makes and stores a run's leaderboard now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.protocols import protocols_of
from ranking.fitting import fit_run


class Command(RunCommand):
    """Fits every protocol of the run, or one."""

    help = "Fit a run from the database and store the result; pages show it at once."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--protocol", default="", help="pairwise, rubric or automatic (default: all of the run's)")
        parser.add_argument("--fast", action="store_true", help="from tallies only, without agreement and consistency")

    def act(self, run: Run, *, protocol: str, fast: bool, **options: Any) -> str:
        try:
            with Bar(self.stderr, "Fitting") as bar:
                fits = []
                for name in [protocol] if protocol else protocols_of(run):
                    bar.begin(f"Fitting {name}")
                    fits.append(fit_run(run, protocol=name, full=not fast))
        except ValueError as error:
            raise CommandError(str(error)) from None
        entries = protocols_of(run)
        made = ", ".join(f"{fit.protocol} ({fit.kind}, {fit.votes} {entries[fit.protocol].rests_on})" for fit in fits)
        return f"Run {run.code}: {made or 'nothing to fit'}."
