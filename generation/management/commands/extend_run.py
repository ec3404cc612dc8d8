"""`manage.py extend_run RUN`: more models or more attempts."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from generation.management.commands.start_run import names
from generation.management.run_commands import RunCommand, find_suite
from generation.models import Run
from generation.runs import RunError, extend_run


class Command(RunCommand):
    """Adds to a run."""

    help = "Add models of the suite as it is today, or more attempts, or another budget, to a run."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--models", type=names, default=[], help="ids, separated by commas")
        parser.add_argument("--attempts", type=int)
        parser.add_argument("--budget", type=float, help="US dollars")

    def act(self, run: Run, **options: Any) -> str:
        entries = {entry.id: entry for entry in find_suite(run.suite).models} if options["models"] else {}
        unknown = [name for name in options["models"] if name not in entries]
        if unknown:
            raise RunError(f"{run.suite} has no model {unknown[0]!r}; it has {', '.join(entries)}.")
        added = extend_run(
            run,
            models=[entries[name] for name in options["models"]],
            attempts=options["attempts"],
            budget="keep" if options["budget"] is None else options["budget"],
            reason=options["reason"],
        )
        return f"Run {run.code}: {added} samples added."
