"""`manage.py reset_second_factor NAME`: for somebody who lost the phone and the recovery codes."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.management.people import find_person
from accounts.second_factor import remove


class Command(BaseCommand):
    help = "Take away an account's second factor; where REQUIRE_TOTP is on, the next login turns on a new one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the account's name")
        parser.add_argument("--reason", required=True, help="how you know that it was the person who asked; in the log")

    def handle(self, *args: Any, name: str, reason: str, **options: Any) -> None:
        if not remove(find_person(name), by=None, reason=reason):
            raise CommandError(f"{name} has no second factor.")
        self.stdout.write(f"The second factor of {name} is removed.")
