"""`manage.py poll_platform`: ask the recruiting platform who returned, ran out of time, was approved or rejected."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from judging.models import Study
from judging.studies.platforms.submissions import poll_study


class Command(BaseCommand):
    """Safe to repeat: what is known already changes nothing."""

    help = "Learn from the recruiting platform's API what became of its submissions, and free the places of returns."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("studies", nargs="*", help="codes of studies (default: all that are not drafts)")

    def handle(self, *args: Any, studies: list[str], **options: Any) -> None:
        rows = Study.objects.filter(code__in=studies) if studies else Study.objects.exclude(state=Study.State.DRAFT)
        if missing := sorted(set(studies) - {row.code for row in rows}):
            raise CommandError(f"There is no study {missing[0]!r}. A study's code is the last part of its link.")
        answered, errors = 0, []
        for study in rows:
            poll = poll_study(study)
            answered += poll.answered
            errors += [f"{study}: {error}" for error in poll.errors]
            self.stdout.write(f"{study}: {poll.changed} changed.")
        if errors and not answered:
            raise CommandError("\n".join(errors))
        for error in errors:
            self.stderr.write(error)
