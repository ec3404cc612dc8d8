"""Verbs: make a link to a new password, note that it was used, confirm it.

Whoever makes such a link can use it and vote in the judge's name. So the judge is shown every link, and what is judged after
one was used is marked on leaderboards until the judge confirms it, in a browser that was the judge's before the link was made.
A judge who has no such browser any more can show nothing that the link's maker could not; another curator vouches for them.
"""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.db.models import Min
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.timezone import now

from generation.models import Event, Run
from generation.runs.errors import RunError
from generation.runs.staleness import mark_stale
from judging.models import ResetLink


@transaction.atomic
def make_reset_link(*, judge: User, run: Run, by: User) -> str:
    """The path of a page where the judge can choose a new password; it works once and for a day or so."""
    ResetLink.objects.create(judge=judge, made_by=by)
    Event.objects.create(run=run, actor=by, verb=Event.Verb.MAKE_RESET_LINK, subject=judge.username)
    return reset_path(judge)


def reset_path(user: User) -> str:
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("password_reset_confirm", args=[uid, default_token_generator.make_token(user)])


@transaction.atomic
def note_new_password(*, judge: User, by: User | None = None) -> None:
    """A link was used, or a superuser (`by`) set the password. One that nobody here made is noted, too."""
    moment = now()
    if by is not None or not judge.reset_links.filter(used_at=None).update(used_at=moment):
        ResetLink.objects.create(judge=judge, made_by=by, made_at=moment, used_at=moment)
    _mark_runs(judge)


def can_confirm(judge: User, *, known_since: datetime | None) -> bool:
    """Whether the browser was the judge's before the first of the links was made: only then is it the judge who confirms."""
    first = judge.reset_links.waiting().aggregate(first=Min("made_at"))["first"]
    return first is not None and known_since is not None and known_since < first


@transaction.atomic
def confirm_links(*, judge: User, known_since: datetime | None) -> bool:
    """Take the marks off; False where there is nothing to confirm, or this browser cannot."""
    if not can_confirm(judge, known_since=known_since):
        return False
    _confirm(judge, by=judge)
    return True


@transaction.atomic
def vouch_for(*, judge: User, by: User, reason: str) -> None:
    """A curator who made none of the links asked the judge in person, and says so in the log of every run of theirs."""
    links = list(judge.reset_links.waiting())
    if not links:
        raise RunError("There is nothing to confirm: the judge has confirmed it already, or no link was used.")
    if any(link.made_by_id == by.pk for link in links):
        raise RunError(
            "You created this link, so you cannot confirm it. The judge can, or another curator who has asked the judge."
        )
    if not by.is_superuser and any(link.made_by_id is None for link in links):
        raise RunError(
            "It is not known who created this link. The judge can confirm it, or a superuser who has asked the judge."
        )
    if not reason:
        raise RunError("Say how you know that it was the judge.")
    _confirm(judge, by=by, reason=reason)


def _confirm(judge: User, *, by: User, reason: str = "") -> None:
    judge.reset_links.waiting().update(confirmed_at=now())
    for seat in judge.seats.select_related("run"):
        verb = Event.Verb.CONFIRM_RESET_LINK
        Event.objects.create(run=seat.run, actor=by, verb=verb, subject=str(seat), reason=reason)
    _mark_runs(judge)


def _mark_runs(judge: User) -> None:
    for run in judge.seats.values_list("run_id", flat=True):
        mark_stale(run)
