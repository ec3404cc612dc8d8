"""`manage.py plan_study`: how much a study of so many entrants, judges and votes will be able to say."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.templatetags.wording import dollars
from ranking.statistics.verdicts.planner import Study, plan_study


class Command(BaseCommand):
    """Prints the expected width of intervals, the chance of telling neighbours apart, and what it takes."""

    help = "Estimate before a study how wide its intervals will be, and how likely neighbours are to be separated."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--entrants", type=int, required=True)
        parser.add_argument("--judges", type=int, required=True)
        parser.add_argument("--votes", type=int, required=True, help="votes of each judge")
        parser.add_argument("--prompts", type=int, required=True)
        parser.add_argument("--spread", type=float, default=280.0, help="points from the best entrant to the weakest")
        parser.add_argument("--seconds", type=float, default=10.0, help="a vote takes")
        parser.add_argument("--judge-sd", type=float, default=Study.judge_sd, help="how far judges differ, in points")
        parser.add_argument(
            "--prompt-sd", type=float, default=Study.prompt_sd, help="how far prompts differ, in points"
        )
        parser.add_argument("--undecided", type=float, default=100 * Study.undecided, help="%% of votes: tie, both bad")
        parser.add_argument("--attempts", type=int, default=1, help="drawings of each entrant for a prompt")
        parser.add_argument("--answer-cost", type=float, help="US dollars for an answer, for the cost of drawing")

    def handle(self, *args: Any, **options: Any) -> None:
        counts = {name: options[name] for name in ("entrants", "judges", "votes", "prompts", "attempts")}
        for name, count in counts.items():
            if count < (2 if name == "entrants" else 1):
                raise CommandError(
                    f"--{name} {count}: a study needs {'two entrants' if name == 'entrants' else 'at least one'}."
                )
        study = Study(
            entrants=options["entrants"],
            judges=options["judges"],
            votes_each=options["votes"],
            prompts=options["prompts"],
            spread=options["spread"],
            judge_sd=options["judge_sd"],
            prompt_sd=options["prompt_sd"],
            undecided=options["undecided"] / 100,
        )
        if not 0 <= study.undecided < 1:
            raise CommandError(f"--undecided {options['undecided']:g}: use a share from 0 to 99%.")
        outlook = plan_study(study)
        answers = study.entrants * study.prompts * options["attempts"]
        each = options["answer_cost"]
        cost = "" if each is None else f", about {dollars(round(answers * each * 1e9))}"
        self.stdout.write(f"{answers:,} answers{cost}.")
        hours = study.votes * options["seconds"] / 3600
        self.stdout.write(f"{study.votes:,} votes, about {hours:.1f} hours of judging.")
        self.stdout.write(
            f"95% intervals of ratings about {outlook.width:.0f} points wide, of gaps {outlook.gap_width:.0f}."
        )
        self.stdout.write(
            f"Neighbours {outlook.neighbour_gap:.0f} points apart are separated with a chance of "
            f"{100 * outlook.separates:.0f}%."
        )
        if study.judges == 1:
            self.stdout.write("With one judge all of this holds for that judge only.")
