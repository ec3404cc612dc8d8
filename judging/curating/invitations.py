"""Verbs: invite judges, let one in, and help one who lost the password."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.timezone import now

from generation.models import Event, Run
from generation.suites.studies.gold import Gold
from judging.curating.runs import weigh_judge
from judging.gold.placing import seat_rule
from judging.gold.pool import rule_for
from judging.models import Invitation, Participation, Seat
from judging.rules import rules_of

# Groups of people who could know names without being curators now: what they judge counts only if a curator says so.
ANALYSTS, FORMER_ANALYSTS, FORMER_CURATORS = "analysts", "former analysts", "former curators"
KNOWING = {
    ANALYSTS: "reads names as an analyst",
    FORMER_ANALYSTS: "was an analyst, and could have read names",
    FORMER_CURATORS: "was a curator, and could have seen names",
}


class UsedUpError(Exception):
    """The link was used, revoked or has expired."""


class GuestError(Exception):
    """Who takes part in a study judges there, as long as the study says."""


@transaction.atomic
def create_invitations(
    *, run: Run, by: User, count: int, days: int, max_uses: int = 1, quota: int | None = None, label: str = ""
) -> list[Invitation]:
    expires = now() + timedelta(days=days)
    names = [label] if count == 1 else [f"{label} {number}".strip() for number in range(1, count + 1)]
    made = [
        Invitation(run=run, created_by=by, label=name, quota=quota, max_uses=max_uses, expires_at=expires)
        for name in names
    ]
    Event.objects.create(run=run, actor=by, verb=Event.Verb.INVITE, subject=f"{count} links", facts={"days": days})
    return Invitation.objects.bulk_create(made)


def revoke_invitation(*, invitation: Invitation, by: User, reason: str = "") -> None:
    if Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=now()):
        facts = {"verb": Event.Verb.REVOKE_INVITATION, "subject": str(invitation), "reason": reason}
        Event.objects.create(run=invitation.run, actor=by, **facts)


def is_guest(judge: User) -> bool:
    """Somebody who takes part in a study without an account; who made the seat an account is like any other judge."""
    return not judge.has_usable_password() and Participation.objects.filter(guest=judge).exists()


@transaction.atomic
def accept_invitation(*, invitation: Invitation, judge: User) -> Seat:
    """Seat the judge in the invitation's run, using the link once; a judge who has a seat keeps it and uses nothing."""
    if seat := Seat.objects.filter(run=invitation.run, judge=judge).first():
        return seat
    if is_guest(judge):
        raise GuestError
    if Invitation.objects.usable().filter(pk=invitation.pk).update(uses=F("uses") + 1) != 1:
        raise UsedUpError
    gold = rule_for(invitation.run)
    seat = seat_judge(run=invitation.run, judge=judge, quota=invitation.quota, invitation=invitation, gold=gold)
    if group := judge.groups.filter(name__in=KNOWING).first():
        weigh_judge(seat=seat, weight=0.0, by=None, reason=KNOWING[group.name])
    return seat


@transaction.atomic
def sign_up(*, invitation: Invitation, name: str, password: str) -> Seat:
    user = User.objects.create_user(name, password=password)
    return accept_invitation(invitation=invitation, judge=user)


def seat_judge(
    *,
    run: Run,
    judge: User,
    quota: int | None = None,
    invitation: Invitation | None = None,
    gold: Gold | None = None,
    **more: Any,
) -> Seat:
    """A seat with the run's own quota unless another is given, and checks by the rule; exports know the judge by the pseudonym only.

    `more` are further columns of a new seat.
    """
    quota = quota if quota is not None else rules_of(run.code).judging.quota
    rule = seat_rule(run, gold, quota)
    number = Seat.objects.filter(run=run).count() + 1
    while True:
        try:
            with transaction.atomic():
                return Seat.objects.create(
                    run=run,
                    judge=judge,
                    pseudonym=f"judge-{number}",
                    quota=quota,
                    invitation=invitation,
                    gold_rule=rule,
                    **more,
                )
        except IntegrityError:
            if Seat.objects.filter(run=run, judge=judge).exists():
                return Seat.objects.get(run=run, judge=judge)
            number += 1  # another judge joined at the same moment
