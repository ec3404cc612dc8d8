"""Verbs about a person's data: show it, take back one's part, erase who it was. Votes stay rows under a pseudonym."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.timezone import now

from generation.codes import new_code
from generation.models import Event
from judging.curating.runs import weigh_judge
from judging.gold.records import check_records
from judging.models import Participation, Seat
from judging.models.studies import hashed_id
from judging.studies.walking import end_participation, is_running

WITHDRAWN = "withdrawn by the participant"


def stored_data(participation: Participation) -> dict[str, Any]:
    """All that is stored about a person; of the votes what was shown and chosen, and no model's name."""
    votes: list[dict[str, Any]] = []
    if participation.seat:
        rows = participation.seat.votes.select_related("matchup__prompt").order_by("id")
        votes = [
            {
                "prompt": vote.matchup.prompt.text if vote.matchup.prompt else "",
                "choice": vote.outcome,
                "at": vote.voted_at.isoformat(),
                "milliseconds": vote.response_ms,
                "taken_back": vote.withdrawn_at is not None,
            }
            for vote in rows
        ]
        if participation.ended_at:  # before, they would tell which pairs are checks
            votes += check_records(participation.seat)
    return {
        "study": participation.study.name,
        "participant_id": participation.external_id,
        "parameters": participation.parameters,
        "name": participation.name,
        "address_hash": participation.address,
        "arm": participation.arm,
        "language": participation.language,
        "outcome": participation.outcome,
        "consent": {
            "version": participation.consent_version,
            "at": participation.consented_at.isoformat() if participation.consented_at else None,
        },
        "started_at": participation.started_at.isoformat(),
        "ended_at": participation.ended_at.isoformat() if participation.ended_at else None,
        "answers": [
            {"question": row.question, "answer": row.value, "at": row.answered_at.isoformat()}
            for row in participation.answers.all()
        ],
        "votes": votes,
    }


@transaction.atomic
def withdraw_participation(participation: Participation) -> None:
    """The person's own wish: erase who it was and what was answered, and set the votes aside, except in a frozen run."""
    if is_running(participation):
        end_participation(participation, Participation.Outcome.RETURNED, reason=WITHDRAWN)
    seat = participation.seat
    if seat and (seat.weight or seat.panel) and seat.run.frozen_at is None:
        weigh_judge(seat=seat, weight=0, by=None, reason=f"{WITHDRAWN.capitalize()}.")
    _erase(participation, by=None, reason=WITHDRAWN)


@transaction.atomic
def erase_participant(*, participation: Participation, by: User, reason: str = "") -> None:
    """A curator erases a person; the votes stay and count, as those of an anonymous seat."""
    if is_running(participation):
        end_participation(participation, Participation.Outcome.RETURNED, reason="erased by a curator")
    _erase(participation, by=by, reason=reason)


def _erase(participation: Participation, *, by: User | None, reason: str) -> None:
    participation.answers.all().delete()
    external = participation.external_id
    Participation.objects.filter(pk=participation.pk, erased_at=None).update(
        external_id="",
        erased_id=hashed_id(participation.study.run.code, external) if external else "",
        parameters={},
        practice={},
        name="",
        address="",
        consented_at=None,
        consent_version="",
        erased_at=now(),
    )
    _part_from_account(participation)
    if participation.guest_id:
        User.objects.filter(pk=participation.guest_id).update(is_active=False, last_login=None)
    Event.objects.create(
        run=participation.study.run,
        actor=by,
        verb=Event.Verb.ERASE_PARTICIPANT,
        subject=f"{participation.code} of {participation.study}"[:200],
        reason=reason,
    )


def _part_from_account(participation: Participation) -> None:
    """Before a person is erased whose guest became an account: it stays theirs, and the seat is nobody's."""
    guest = participation.guest
    if guest is None or not guest.has_usable_password():
        return
    nobody = User.objects.create(username=f"guest-{new_code()}", password=make_password(None), is_active=False)
    Seat.objects.filter(participation=participation).update(judge=nobody)
    Participation.objects.filter(pk=participation.pk).update(guest=nobody)
    participation.guest = nobody
