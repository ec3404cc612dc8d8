"""Verbs: create and revoke a token of the API, and admit a request by it."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, F, Q, Value, When
from django.utils.timezone import now

from generation.models import Event, Run
from judging.curating.invitations import ANALYSTS
from ranking.models import AnalystToken

PREFIX = "bench_"
PER_MINUTE = 120
USUAL_DAYS = 90


def _digest(token: str) -> str:
    """A plain hash is enough: the token has 256 random bits, so nobody guesses what it was made from."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@transaction.atomic
def create_token(
    *,
    label: str,
    by: User | None,
    role: str = AnalystToken.Role.READ,
    run: Run | None = None,
    expires_at: datetime | None = None,
) -> tuple[AnalystToken, str]:
    """The row and the token itself, which nobody can ever see again. One that may write must expire."""
    token = PREFIX + secrets.token_urlsafe(32)
    made = AnalystToken.objects.create(
        label=label, digest=_digest(token), hint=token[:10], created_by=by, role=role, run=run, expires_at=expires_at
    )
    facts = {"role": role, "expires_at": expires_at.isoformat() if expires_at else None}
    Event.objects.create(run=run, actor=by, verb=Event.Verb.CREATE_ANALYST_TOKEN, subject=label, facts=facts)
    return made, token


@transaction.atomic
def revoke_token(token: AnalystToken, *, by: User | None) -> bool:
    """From now on it opens nothing. False if it was revoked before."""
    if AnalystToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now()) != 1:
        return False
    Event.objects.create(run=token.run, actor=by, verb=Event.Verb.REVOKE_ANALYST_TOKEN, subject=token.label)
    return True


def use_token(token: str) -> AnalystToken | None:
    """The row, with this request counted; None for a token that is unknown, revoked or expired."""
    moment = now()
    minute = moment.replace(second=0, microsecond=0)
    count = Case(When(minute=minute, then=F("requests") + 1), default=Value(1))
    lasting = Q(expires_at=None) | Q(expires_at__gt=moment)
    tokens = AnalystToken.objects.filter(lasting, digest=_digest(token), revoked_at=None)
    if tokens.update(requests=count, minute=minute, last_used_at=moment) != 1:
        return None
    return tokens.select_related("created_by").first()


def is_backed(token: AnalystToken) -> bool:
    """Whether whoever created it is still what it needs: an analyst may read, a curator all.

    Roles that the login provider gave count for a while after a login there. A token without a creator stands by itself.
    """
    creator = token.created_by
    if creator is None:
        return True
    reads = token.role == AnalystToken.Role.READ
    if not creator.is_active or not (creator.is_staff or (reads and creator.groups.filter(name=ANALYSTS).exists())):
        return False
    since = now() - timedelta(days=settings.OIDC_TOKEN_DAYS)
    given = creator.identities.exclude(roles=[])
    return not given.filter(Q(last_login_at=None) | Q(last_login_at__lt=since)).exists()


def seconds_to_wait(token: AnalystToken) -> int:
    """0 while the token is within its limit; else until its next minute."""
    if token.requests <= PER_MINUTE:
        return 0
    return 60 - now().second
