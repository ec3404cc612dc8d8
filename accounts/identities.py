"""Verbs: whom a login at the provider lets in, a new account for somebody, and linking an account that is there.

An account is found by issuer and subject, never by its name or e-mail address: who controls an address at the provider must
not thereby control an account here. An account that is there is linked after its password was given, or by an operator.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.timezone import now

from accounts.models import Identity
from accounts.problems import LoginProblemError
from accounts.roles import give_roles, roles_of
from generation.models import Event

NOT_IN_A_NAME = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True)
class Arrival:
    """Somebody whom the provider vouches for and whom this site admits; plain enough for a session."""

    issuer: str
    subject: str
    email: str
    name: str
    roles: list[str]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def admit(claims: dict[str, Any], *, invited: bool) -> Arrival:
    """Raises unless the settings admit these claims; whoever is not let in keeps nothing of what the provider gave.

    - Where domains are set, the e-mail address is verified and in one of them; that admits.
    - Else a mapped role admits, or an invitation, or an account that is linked and needs no role.
    """
    email = str(claims.get("email") or "")[:320]
    arrival = Arrival(claims["iss"], claims["sub"], email, _name(claims), sorted(roles_of(claims)))
    identity = identity_of(arrival)
    if problem := _refusal(arrival, claims, identity, invited):
        if identity:
            give_roles(identity, set())
        raise LoginProblemError(problem, f"subject {arrival.subject}")
    return arrival


def _refusal(arrival: Arrival, claims: dict[str, Any], identity: Identity | None, invited: bool) -> str | None:
    if settings.OIDC_DOMAINS:
        if claims.get("email_verified") not in (True, "true"):
            return "unverified"
        domain = arrival.email.rpartition("@")[2].lower()
        return None if domain in {allowed.lower() for allowed in settings.OIDC_DOMAINS} else "domain"
    if arrival.roles or invited or (identity and _needs_no_role(identity.user)):
        return None
    return "uninvited"


def _needs_no_role(user: User) -> bool:
    """Where a group makes people judges, one who left it comes back only to a seat."""
    return "judge" not in settings.OIDC_ROLES.values() or user.seats.exists()


def _name(claims: dict[str, Any]) -> str:
    """A name for a new account: what the provider calls the person, without the domain of an address."""
    offered = claims.get("preferred_username") or claims.get("email") or claims.get("name") or ""
    return NOT_IN_A_NAME.sub("-", str(offered).partition("@")[0]).strip("-.+")[:100] or "person"


def identity_of(arrival: Arrival) -> Identity | None:
    people = Identity.objects.select_related("user")
    return people.filter(issuer=arrival.issuer, subject=arrival.subject).first()


@transaction.atomic
def note_arrival(identity: Identity, arrival: Arrival) -> User:
    """The account, with the roles that the provider says now."""
    user = identity.user
    if not user.is_active:
        raise LoginProblemError("inactive")
    identity.email, identity.last_login_at = arrival.email, now()
    identity.save(update_fields=["email", "last_login_at"])
    give_roles(identity, set(arrival.roles))
    return user


@transaction.atomic
def create_account(arrival: Arrival) -> User:
    """A new account without a password, under a name that nobody has."""
    if identity := identity_of(arrival):  # made a moment ago, in another tab
        return note_arrival(identity, arrival)
    for number in range(1, 1000):
        name = arrival.name if number == 1 else f"{arrival.name}-{number}"
        if User.objects.filter(username__iexact=name).exists():
            continue
        try:
            with transaction.atomic():
                user = User.objects.create_user(name)
                break
        except IntegrityError:
            continue
    else:
        raise LoginProblemError("taken")
    Event.objects.create(actor=user, verb=Event.Verb.CREATE_ACCOUNT, subject=name, reason="logged in at the provider")
    return note_arrival(link_identity(user, arrival.issuer, arrival.subject, by=user), arrival)


@transaction.atomic
def link_identity(user: User, issuer: str, subject: str, *, by: User | None, reason: str = "") -> Identity:
    """From now on this login at the provider opens the account. Whoever calls this has made sure that it should."""
    try:
        with transaction.atomic():
            identity = Identity.objects.create(user=user, issuer=issuer, subject=subject)
    except IntegrityError:
        raise LoginProblemError("taken") from None
    Event.objects.create(actor=by, verb=Event.Verb.LINK_LOGIN, subject=user.username, reason=reason)
    return identity


@transaction.atomic
def unlink_identity(identity: Identity, *, by: User | None, reason: str = "") -> None:
    """The provider's login opens the account no longer, and what it gave is taken back."""
    give_roles(identity, set())
    identity.delete()
    Event.objects.create(actor=by, verb=Event.Verb.UNLINK_LOGIN, subject=identity.user.username, reason=reason)
