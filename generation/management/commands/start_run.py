"""`manage.py start_run SUITE`: a new run, drawn by the workers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from benchsite.lib.text import visible
from generation.management.run_commands import find_suite
from generation.models import Team
from generation.runs.errors import RunError
from generation.runs.lifecycle import start_run


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


class Command(BaseCommand):
    """Starts a run."""

    help = "Start a run of a suite: every model, prompt and attempt becomes a sample to draw."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("suite")
        parser.add_argument("--label", default="", help="tells two runs of one suite apart: midterm, final")
        parser.add_argument("--team", default="", help="the name of the team whose run it is (default: none)")
        parser.add_argument("--models", type=names, help="ids, separated by commas (default: all of the suite)")
        parser.add_argument("--prompts", type=names, help="keys, separated by commas (default: all of the suite)")
        parser.add_argument("--attempts", type=int)
        parser.add_argument("--budget", type=float, help="US dollars; a hard cap (default: the suite's)")
        parser.add_argument("--demo", action="store_true", help="a small run with the demo players")
        parser.add_argument("--no-draw", action="store_true", help="only set it up; resume_run starts drawing")

    def handle(self, *args: Any, suite: str, **options: Any) -> None:
        team = Team.objects.filter(name__iexact=options["team"]).first() if options["team"] else None
        if options["team"] and team is None:
            known = ", ".join(Team.objects.values_list("name", flat=True)) or "none"
            raise CommandError(visible(f"There is no team called {options['team']}. Teams: {known}."))
        try:
            with Bar(self.stderr, "Setting up") as bar:
                run = start_run(
                    find_suite(suite),
                    label=options["label"],
                    team=team,
                    models=options["models"],
                    prompts=options["prompts"],
                    attempts=options["attempts"],
                    budget="suite" if options["budget"] is None else options["budget"],
                    demo=options["demo"],
                    draw=not options["no_draw"],
                    progress=bar.to,
                )
        except RunError as error:
            raise CommandError(visible(str(error))) from None
        self.stdout.write(f"Run {run.code} of {run.suite}: {run.samples.count()} samples.")
