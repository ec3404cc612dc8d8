"""`manage.py link_login NAME SUBJECT`: an operator links an account with a login at the provider, or unlinks it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.identities import link_identity, unlink_identity
from accounts.management.people import find_person
from accounts.problems import LoginProblemError


class Command(BaseCommand):
    """Make sure first that the two are the same person: the login opens the account from then on."""

    help = "Link an account with a login at the provider, by its subject (`sub`); --remove unlinks it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the account's name")
        parser.add_argument("subject", nargs="?", help="the subject at the provider, as a refused login logs it")
        parser.add_argument("--remove", action="store_true", help="unlink the account")

    def handle(self, *args: Any, name: str, subject: str | None, remove: bool, **options: Any) -> None:
        if not settings.OIDC_ISSUER:
            raise CommandError("No provider is set up: OIDC_ISSUER is empty.")
        person = find_person(name)
        if remove:
            identity = person.identities.filter(issuer=settings.OIDC_ISSUER).first()
            if identity is None:
                raise CommandError(f"{name} is not linked.")
            unlink_identity(identity, by=None, reason="unlinked by an operator")
            self.stdout.write(f"{name} is unlinked.")
            return
        if not subject:
            raise CommandError("Say which login: link_login NAME SUBJECT.")
        try:
            link_identity(person, settings.OIDC_ISSUER, subject, by=None, reason="linked by an operator")
        except LoginProblemError:
            raise CommandError(f"{name} or this subject is linked already; unlink it first with --remove.") from None
        self.stdout.write(f"{name} can now log in as {subject} with {settings.OIDC_NAME}.")
