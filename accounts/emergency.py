"""Verbs: a way in for an operator on a site without passwords, when the provider is away. A code, for ten minutes and once."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core import signing
from django.utils.crypto import constant_time_compare, salted_hmac

from generation.models import Event

SALT = "accounts.emergency"
VALID_SECONDS = 600


def _state(user: User) -> str:
    """Changes with the account's next login, so that a code is used once."""
    return salted_hmac(SALT, f"{user.pk}{user.password}{user.last_login}", algorithm="sha256").hexdigest()[:32]


def make_code(user: User) -> str:
    Event.objects.create(verb=Event.Verb.EMERGENCY_LOGIN, subject=user.username, reason="code made by an operator")
    return signing.dumps([user.pk, _state(user)], salt=SALT)


def user_of(code: str) -> User | None:
    """Whom the code lets in; None if it is wrong, used or too old."""
    try:
        pk, state = signing.loads(code.strip(), salt=SALT, max_age=VALID_SECONDS)
    except (signing.BadSignature, ValueError):
        return None
    user = User.objects.filter(pk=pk, is_active=True).first()
    return user if user and constant_time_compare(state, _state(user)) else None
