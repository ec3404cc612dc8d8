"""`manage.py extend_run RUN`: more models or more attempts."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from benchsite.lib.progress_bar import Bar
from generation.management.commands.start_run import names
from generation.management.run_commands import RunCommand, budget, find_suite
from generation.models import Run
from generation.runs.errors import RunError
from generation.runs.extending import extend_run


class Command(RunCommand):
    """Adds to a run."""

    help = "Extend a run: models added to the suite, more attempts, another budget, or missing prices."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--models", type=names, default=[], help="ids, separated by commas")
        parser.add_argument("--attempts", type=int)
        parser.add_argument("--budget", type=budget, default="keep", help="US dollars, or none to remove the cap")

    def act(self, run: Run, **options: Any) -> str:
        entries = {entry.id: entry for entry in find_suite(run.suite).models} if options["models"] else {}
        unknown = [name for name in options["models"] if name not in entries]
        if unknown:
            raise RunError(f"{run.suite} has no model {unknown[0]!r}; it has {', '.join(entries)}.")
        with Bar(self.stderr, "Adding") as bar:
            added = extend_run(
                run,
                models=[entries[name] for name in options["models"]],
                attempts=options["attempts"],
                budget=options["budget"],
                reason=options["reason"],
                progress=bar.to,
            )
        return f"Run {run.code}: {added} samples added."
