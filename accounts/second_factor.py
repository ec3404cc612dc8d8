"""Verbs: an authenticator app for curators and superusers who log in with a password; its codes, recovery codes and reset.

A session whose second factor is due belongs to nobody: `benchsite.sessions` says so to every page, the admin included.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from datetime import timedelta
from typing import Any

import pyotp
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, F, Q, Value, When
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.timezone import now

from accounts.models import Authenticator, RecoveryCode
from benchsite.sessions import SECOND_FACTOR
from generation.models import Event

STEP_SECONDS = 30
DRIFT_STEPS = 1  # a phone's clock may be so far off
MOST_FAILURES = 10
LOCKED_FOR = timedelta(minutes=15)
RECOVERY_CODES = 10
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # no 0, o, 1, l, i


class LockedError(Exception):
    """Too many wrong codes: none is looked at for a quarter of an hour."""


def is_due(user: User) -> bool:
    return user.is_staff and (settings.REQUIRE_TOTP or Authenticator.objects.filter(user=user).exists())


def mark_session(sender: object, request: HttpRequest, user: User, **about: Any) -> None:
    """At every login, whatever page it is on: until the second factor is given, the session is nobody's."""
    if is_due(user):
        request.session[SECOND_FACTOR] = "due"


def pass_session(request: HttpRequest) -> None:
    """The second factor was given, here or at the provider."""
    request.session[SECOND_FACTOR] = "passed"
    request.session.cycle_key()


def _box() -> Fernet:
    key = salted_hmac("accounts.authenticator", "seal", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))


def seal(secret: str) -> str:
    """So that a copy of the database alone gives nobody a second factor."""
    return _box().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """Empty where it was sealed with another secret key: no code is right then."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return ""


def new_secret() -> str:
    return pyotp.random_base32()


def setup_address(user: User, secret: str) -> str:
    """What an authenticator app reads from the QR code."""
    issuer = settings.SITE_URL.partition("://")[2] or "Benchsite"
    return pyotp.TOTP(secret).provisioning_uri(name=user.username, issuer_name=issuer)


def matching_step(secret: str, code: str) -> int | None:
    """The time step whose code this is, among now and its neighbours."""
    present = int(time.time()) // STEP_SECONDS
    for step in range(present - DRIFT_STEPS, present + DRIFT_STEPS + 1):
        if secret and constant_time_compare(pyotp.TOTP(secret).generate_otp(step), code):
            return step
    return None


@transaction.atomic
def enrol(user: User, *, secret: str, code: str) -> list[str] | None:
    """Turn it on once the app shows the right code; the recovery codes, which nobody can ever see again."""
    step = matching_step(secret, _plain(code))
    if step is None:
        return None
    Authenticator.objects.filter(user=user).delete()
    authenticator = Authenticator.objects.create(user=user, sealed_secret=seal(secret), last_step=step)
    Event.objects.create(actor=user, verb=Event.Verb.ENROL_SECOND_FACTOR, subject=user.username)
    return _make_codes(authenticator)


def check_code(user: User, code: str) -> bool:
    """Whether the code opens the account now; each code does once. Raises LockedError after ten wrong ones."""
    authenticator = Authenticator.objects.filter(user=user).first()
    if authenticator is None:
        return False
    _count_attempt(authenticator)
    plain = _plain(code)
    if not (_use_totp(authenticator, plain) or _use_recovery(authenticator, plain)):
        return False
    Authenticator.objects.filter(pk=authenticator.pk).update(failures=0, failing_since=None)
    return True


def _plain(code: str) -> str:
    return "".join(code.lower().split()).replace("-", "")


def _count_attempt(authenticator: Authenticator) -> None:
    """Counted before the code is looked at, so that many at once gain nothing; a right one clears the count."""
    since = now() - LOCKED_FOR
    rows = Authenticator.objects.filter(pk=authenticator.pk)
    fresh = Q(failing_since=None) | Q(failing_since__lt=since)
    counted = rows.filter(fresh | Q(failures__lt=MOST_FAILURES)).update(
        failures=Case(When(fresh, then=Value(1)), default=F("failures") + 1),
        failing_since=Case(When(fresh, then=Value(now())), default=F("failing_since")),
    )
    if not counted:
        raise LockedError
    authenticator.refresh_from_db()
    if authenticator.failures == MOST_FAILURES:
        user = authenticator.user
        Event.objects.create(actor=user, verb=Event.Verb.SECOND_FACTOR_LOCKED, subject=user.username)


def _use_totp(authenticator: Authenticator, code: str) -> bool:
    step = matching_step(unseal(authenticator.sealed_secret), code)
    if step is None:
        return False
    rows = Authenticator.objects.filter(pk=authenticator.pk, last_step__lt=step)
    return rows.update(last_step=step) == 1


@transaction.atomic
def _use_recovery(authenticator: Authenticator, code: str) -> bool:
    rows = RecoveryCode.objects.filter(authenticator=authenticator, digest=_digest(code), used_at=None)
    if rows.update(used_at=now()) != 1:
        return False
    user = authenticator.user
    Event.objects.create(actor=user, verb=Event.Verb.USE_RECOVERY_CODE, subject=user.username)
    return True


def _digest(code: str) -> str:
    """A plain hash is enough: a code has 59 random bits, and ten attempts in a quarter of an hour."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


@transaction.atomic
def renew_codes(user: User) -> list[str]:
    """New recovery codes; the old ones open nothing any more."""
    authenticator = Authenticator.objects.get(user=user)
    authenticator.recovery_codes.all().delete()
    Event.objects.create(actor=user, verb=Event.Verb.NEW_RECOVERY_CODES, subject=user.username)
    return _make_codes(authenticator)


def _make_codes(authenticator: Authenticator) -> list[str]:
    codes = ["".join(secrets.choice(ALPHABET) for _ in range(12)) for _ in range(RECOVERY_CODES)]
    made = [RecoveryCode(authenticator=authenticator, digest=_digest(code)) for code in codes]
    RecoveryCode.objects.bulk_create(made)
    return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in codes]


@transaction.atomic
def remove(user: User, *, by: User | None, reason: str = "") -> bool:
    """Turn it off; False where there was none."""
    if not Authenticator.objects.filter(user=user).delete()[0]:
        return False
    verb = Event.Verb.REMOVE_SECOND_FACTOR
    Event.objects.create(actor=by, verb=verb, subject=user.username, reason=reason)
    return True
