"""`manage.py measure RUN`: measures drawings that have no measurement yet."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from benchsite.lib.progress_bar import Bar
from generation.formats.base import BackendMissing
from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.reading.backends import switch_backend
from generation.reading.measuring import measure_run
from generation.runs.errors import RunError


class Command(RunCommand):
    """Measures; results of two backends are kept apart."""

    help = "Measure drawings with the run's backend, or with another one, which the run then uses."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--backend", default="", help="one of the format's backends")
        parser.add_argument("--all", action="store_true", help="measure again what has been measured")

    def act(self, run: Run, *, backend: str, reason: str, **options: Any) -> str:
        everything = options["all"]
        with Bar(self.stderr, "Measuring") as bar:
            if backend:
                done = switch_backend(run, backend, everything=everything, reason=reason, progress=bar.to)
            else:
                done = self.measure(run, everything, bar)
        return f"Run {run.code}: {done} drawings measured by {run.measure_backend}."

    def measure(self, run: Run, everything: bool, bar: Bar) -> int:
        try:
            done = measure_run(run, everything=everything, progress=bar.to)
        except BackendMissing as missing:
            raise RunError(str(missing)) from None
        if everything and not done and run.samples.filter(state="drawn").exists():
            raise RunError(f"The backend {run.measure_backend} measured nothing; the log may say why.")
        return done
