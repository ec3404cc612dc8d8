"""`manage.py first_logins`: accounts for a new site, printed once and kept in var/logins.txt."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand

from benchsite.operations.accounts import create_first_logins


class Command(BaseCommand):
    help = "Create a superuser, a curator and three judges with random passwords, on a site that has no account yet."

    def handle(self, **options: object) -> None:
        path = settings.VAR_DIR / "logins.txt"
        logins = create_first_logins(path)
        for name, password, role in logins:
            self.stdout.write(f"  {name:10} {password}   {role}")
        if path.exists():
            self.stdout.write(f"  Logins are kept in {path}")
