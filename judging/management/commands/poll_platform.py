"""`manage.py poll_platform`: ask the recruiting platform who returned, ran out of time, was approved or rejected."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from judging.models import Study
from judging.studies.platforms.submissions import PlatformError, poll_study


class Command(BaseCommand):
    """Safe to repeat: what is known already changes nothing."""

    help = "Learn from the recruiting platform's API what became of its submissions, and free the places of returns."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("studies", nargs="*", help="codes of studies (default: all that are not drafts)")

    def handle(self, *args: Any, studies: list[str], **options: Any) -> None:
        rows = Study.objects.filter(code__in=studies) if studies else Study.objects.exclude(state=Study.State.DRAFT)
        if missing := sorted(set(studies) - {row.code for row in rows}):
            raise CommandError(f"There is no study {missing[0]!r}. A study's code is the last part of its link.")
        try:
            for study in rows:
                self.stdout.write(f"{study}: {poll_study(study)} changed.")
        except PlatformError as error:
            raise CommandError(str(error)) from None
