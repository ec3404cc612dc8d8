"""`manage.py dry_run_study`: what a study would say, take and cost with simulated participants. Nothing is stored."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from judging.models import Study
from ranking.views.planning import DryRunForm, play_study, usual_crowd


class Command(BaseCommand):
    """Plays the study several times in memory and prints the means."""

    help = "Play a study with simulated participants: widths of intervals, seats, hours and cost. Nothing is stored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the code of a study: the last part of its link")
        parser.add_argument("--participants", type=int, help="who finish (default: the study's places, or 50)")
        for name, words in (("hasty", "hasty"), ("random", "random clicks"), ("dropouts", "drop-outs")):
            parser.add_argument(f"--{name}", type=float, help=f"percent of those who start: {words}")
        parser.add_argument("--seconds", type=float, help="for a pair")
        parser.add_argument("--pay", type=float, help="for each participant who is done")

    def handle(self, *args: Any, study: str, **options: Any) -> None:
        chosen = Study.objects.select_related("run").filter(code=study).first()
        if chosen is None:
            raise CommandError(f"There is no study {study!r}. A study's code is the last part of its link.")
        known = usual_crowd(chosen)
        given = {name: options[name] for name in DryRunForm.base_fields if options.get(name) is not None}
        form = DryRunForm(known | given)
        if not form.is_valid():
            raise CommandError(
                "\n".join(f"--{name}: {' '.join(map(str, errors))}" for name, errors in form.errors.items())
            )
        play = play_study(chosen, form.cleaned_data)
        if play is None:
            raise CommandError("The run has no two drawings of one prompt to compare yet.")
        self.stdout.write(f"{play.started:.0f} start, {play.done:.0f} finish, {play.votes:,.0f} votes (simulated).")
        if play.short:
            self.stdout.write(
                f"{play.short:.0f} would run out of pairs before reaching their quota: ask for fewer pairs."
            )
        self.stdout.write(f"95% intervals of ratings about {play.width:.0f} points wide.")
        self.stdout.write(f"{100 * play.in_order:.0f}% of pairs of models come out in their true order.")
        self.stdout.write(f"{play.minutes:.0f} minutes of comparing per participant, {play.hours:.1f} hours in all.")
        if play.cost is not None:
            self.stdout.write(f"Pay: {play.cost:,.2f}.")
