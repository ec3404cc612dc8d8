"""`manage.py measure RUN`: measures drawings that have no measurement yet."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from benchsite.progress_bar import Bar
from generation.formats.base import BackendMissing
from generation.management.run_commands import RunCommand
from generation.models import Measurement, Run
from generation.reading import measure_run
from generation.runs import RunError, refuse_backend, use_backend


class Command(RunCommand):
    """Measures; results of two backends are kept apart."""

    help = "Measure drawings by the run's backend, or by another one, which the run then uses."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--backend", default="", help="one of the format's backends")
        parser.add_argument("--all", action="store_true", help="measure again what has been measured")

    def act(self, run: Run, *, backend: str, reason: str, **options: Any) -> str:
        if backend:
            refuse_backend(run, backend)
        try:
            with Bar(self.stderr, "Measuring") as bar:
                done = measure_run(run, backend=backend, everything=options["all"], progress=bar.to)
        except BackendMissing as missing:
            raise RunError(str(missing)) from None
        used = backend or run.measure_backend
        stored = Measurement.objects.filter(sample__run=run, backend=used).exists()
        if not done and run.samples.filter(state="drawn").exists() and (options["all"] or (backend and not stored)):
            raise RunError(f"The backend {used} measured nothing; the lines above may say why.")
        if backend:
            use_backend(run, backend, reason=reason)
        return f"Run {run.code}: {done} drawings measured by {run.measure_backend}."
