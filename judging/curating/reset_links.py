"""Verbs: make a link to a new password, note that it was used, confirm it.

Whoever makes such a link can use it and vote in the judge's name. So the judge is shown every link, and what is judged after
one was used is marked on leaderboards until the judge confirms it, in a browser that was the judge's before the link was made.
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
    judge.reset_links.waiting().update(confirmed_at=now())
    for seat in judge.seats.select_related("run"):
        Event.objects.create(run=seat.run, actor=judge, verb=Event.Verb.CONFIRM_RESET_LINK, subject=str(seat))
    _mark_runs(judge)
    return True


def _mark_runs(judge: User) -> None:
    for run in judge.seats.values_list("run_id", flat=True):
        mark_stale(run)
