"""Verbs: which roles the provider's groups mean, and giving and taking them at a login."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db.models import Q

from accounts.models import Identity
from benchsite.operations.accounts import CURATORS, curators
from generation.models import Event, Run
from judging.curating.invitations import ANALYSTS, FORMER_ANALYSTS, FORMER_CURATORS, KNOWING
from judging.curating.runs import weigh_judge
from ranking.models import AnalystToken
from ranking.tokens import revoke_token

PRIVILEGES = ("admin", "curator", "analyst")
STAFF = {"admin", "curator"}


def roles_of(claims: dict[str, Any]) -> set[str]:
    """By OIDC_ROLES; the claim may be nested (`realm_access.roles`), and is a list or one text."""
    value: Any = claims
    for part in settings.OIDC_GROUPS_CLAIM.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    groups = {value} if isinstance(value, str) else {group for group in value or [] if isinstance(group, str)}
    return {role for group, role in settings.OIDC_ROLES.items() if group in groups}


def own_label(user: User) -> str:
    """Of the tokens that an analyst makes; those that a curator makes for others have labels of their choice."""
    return f"{user.username} (own)"


def has_role(user: User, role: str) -> bool:
    if role == "admin":
        return user.is_superuser
    return user.groups.filter(name=CURATORS if role == "curator" else ANALYSTS).exists()


def give_roles(identity: Identity, roles: set[str]) -> None:
    """Give what the provider says now, and take back what it said before; what was given here stays."""
    user, was_staff = identity.user, identity.user.is_staff
    given = set(identity.roles)
    gained = {role for role in PRIVILEGES if role in roles - given and not has_role(user, role)}
    lost = given - roles
    if not gained and not lost:
        return
    for role in gained:
        _set(user, role, True)
    for role in lost:
        _set(user, role, False)
    if STAFF & (gained | lost):
        user.is_staff = user.is_superuser or has_role(user, "curator")
    user.save(update_fields=["is_staff", "is_superuser"])
    identity.roles = sorted(given - lost | gained)
    identity.save(update_fields=["roles"])
    for verb, changed in ((Event.Verb.GIVE_ROLE, gained), (Event.Verb.TAKE_ROLE, lost)):
        for role in sorted(changed):
            Event.objects.create(actor=user, verb=verb, subject=f"{user}: {role}", reason="said by the login provider")
    if "analyst" in lost:
        _join(user, FORMER_ANALYSTS)
    if was_staff and not user.is_staff:
        _join(user, FORMER_CURATORS)
        _set_seats_aside(user, KNOWING[FORMER_CURATORS])
    if lost:
        _revoke_tokens(user)
    if "analyst" in gained and not user.is_staff:
        _set_seats_aside(user, KNOWING[ANALYSTS])


def _set(user: User, role: str, on: bool) -> None:
    if role == "admin":
        user.is_superuser = on
        return
    group = curators() if role == "curator" else Group.objects.get_or_create(name=ANALYSTS)[0]
    (user.groups.add if on else user.groups.remove)(group)


def _join(user: User, group: str) -> None:
    user.groups.add(Group.objects.get_or_create(name=group)[0])


def _revoke_tokens(user: User) -> None:
    """Those that need what the account no longer is: an analyst's own one, and all that a curator made."""
    tokens = AnalystToken.objects.filter(created_by=user, revoked_at=None)
    own = Q(label=own_label(user), role=AnalystToken.Role.READ)
    if has_role(user, "analyst"):
        tokens = tokens.exclude(own)
    if user.is_staff:
        tokens = tokens.filter(own)
    for token in tokens:
        revoke_token(token, by=user)


def _set_seats_aside(user: User, reason: str) -> None:
    """Who could know names: what they judge from now on counts only if a curator says so. A seat has one weight, so what
    they judged before waits for the curator, too."""
    seats = user.seats.filter(run__frozen_at=None, weight__gt=0).exclude(run__judging_state=Run.Judging.CLOSED)
    for seat in seats.select_related("run"):
        weigh_judge(seat=seat, weight=0.0, by=None, reason=reason)
