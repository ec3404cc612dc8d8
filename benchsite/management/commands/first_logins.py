"""`manage.py first_logins`: accounts for a new site; their passwords go to var/logins.txt and nowhere else."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand

from benchsite.operations.accounts import create_first_logins


class Command(BaseCommand):
    help = "Create a superuser, a curator and three judges with random passwords, on a site that has no account yet."

    def handle(self, **options: object) -> None:
        path = settings.VAR_DIR / "logins.txt"
        if logins := create_first_logins(path):
            self.stdout.write(f"  Logins made: {', '.join(name for name, _, _ in logins)}")
        if path.exists():
            self.stdout.write(f"  Their passwords are in {path}, readable by its owner only")
