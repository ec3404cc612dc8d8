"""What commands about accounts share."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.management.base import CommandError


def find_person(name: str) -> User:
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise CommandError(f"There is no open account named {name}.")
    return user
