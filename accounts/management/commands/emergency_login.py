"""`manage.py emergency_login NAME`: a code that lets somebody in once, on a site without passwords whose provider is away."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.emergency import make_code
from accounts.management.people import find_person


class Command(BaseCommand):
    help = "Make a code for /login/emergency/ that lets an account in once, within ten minutes (LOCAL_PASSWORDS=False)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the account's name")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        if settings.LOCAL_PASSWORDS:
            raise CommandError("Passwords are on: log in with one, or set a new one with `manage.py changepassword`.")
        self.stdout.write(make_code(find_person(name)))
        self.stderr.write("Give this code at /login/emergency/ within ten minutes; it works once.")
