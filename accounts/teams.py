"""Verbs: create a team, let people in and out of it, and move a run to another."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from generation.models import Event, Run, Team
from generation.runs.errors import RunError
from judging.curating.runs import weigh_judge
from judging.models import Seat
from ranking.models import Webhook
from ranking.webhooks.subscriptions import disable_webhook


@transaction.atomic
def create_team(*, name: str, by: User | None) -> Team:
    """A team without members; its name is free to choose and nobody else's."""
    if Team.objects.filter(name__iexact=name).exists():
        raise RunError(f"There is a team called {name} already.")
    team = Team.objects.create(name=name)
    Event.objects.create(actor=by, verb=Event.Verb.CREATE_TEAM, subject=name)
    return team


@transaction.atomic
def add_member(team: Team, *, user: User, by: User | None) -> bool:
    """False if they were in it. Judges of its runs who join as curators or analysts can see names from now on."""
    if team.members.filter(pk=user.pk).exists():
        return False
    team.members.add(user)
    Event.objects.create(actor=by, verb=Event.Verb.ADD_MEMBER, subject=f"{team}: {user}")
    _set_seats_aside(team, user, "joined the team, and can see names")
    return True


@transaction.atomic
def remove_member(team: Team, *, user: User, by: User | None, reason: str = "") -> bool:
    """False if they were not in it. Webhooks that they set up for its runs end with it; their tokens read less at once."""
    if not team.members.filter(pk=user.pk).exists():
        return False
    team.members.remove(user)
    Event.objects.create(actor=by, verb=Event.Verb.REMOVE_MEMBER, subject=f"{team}: {user}", reason=reason)
    for webhook in Webhook.objects.filter(run__team=team, created_by=user, disabled_at=None).select_related("run"):
        disable_webhook(webhook, by=by, reason=f"{user} left the team {team}.")
    _set_seats_aside(team, user, "was in the team, and could have seen names")
    return True


def _set_seats_aside(team: Team, user: User, reason: str) -> None:
    """What they judge counts only if a curator says so."""
    seats = Seat.objects.filter(judge=user, run__team=team, run__frozen_at=None, weight__gt=0)
    for seat in seats.exclude(run__judging_state=Run.Judging.CLOSED).select_related("run"):
        weigh_judge(seat=seat, weight=0.0, by=None, reason=reason)


@transaction.atomic
def move_run(run: Run, *, team: Team | None, by: User, reason: str) -> bool:
    """Its model judges go with it. False if it is there already."""
    if run.team_id == (team.pk if team else None):
        return False
    old = run.team
    Run.objects.filter(pk=run.pk).update(team=team)
    run.model_judges.update(team=team)
    run.team = team
    subject = f"from {old or 'no team'} to {team or 'no team'}"
    Event.objects.create(run=run, actor=by, verb=Event.Verb.MOVE_RUN, subject=subject, reason=reason)
    return True
