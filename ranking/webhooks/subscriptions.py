"""Verbs: subscribe an address to a run's news, and end it."""

from __future__ import annotations

import base64
from collections.abc import Collection

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.crypto import salted_hmac
from django.utils.timezone import now

from generation.models import Event, Run
from generation.runs.errors import RunError
from ranking.models import Webhook
from ranking.webhooks.addresses import AddressError, checked_url

MOST = 10  # of a run
KINDS = {
    "run": "drawing and judging start, pause or end",
    "votes": "votes reach a milestone",
    "fits": "a new leaderboard",
}


def signing_key(webhook: Webhook) -> bytes:
    """What signs its deliveries. Made from the site's key, so that no copy of the database holds it."""
    return salted_hmac("ranking.webhooks", webhook.code, algorithm="sha256").digest()


def secret_of(webhook: Webhook) -> str:
    """The signing key as receivers are given it by the Standard Webhooks specification."""
    return "whsec_" + base64.b64encode(signing_key(webhook)).decode()


@transaction.atomic
def create_webhook(*, run: Run, url: str, kinds: Collection[str], by: User | None) -> Webhook:
    try:
        host = checked_url(url).hostname or ""
    except AddressError as error:
        raise RunError(str(error)) from None
    if not kinds or not set(kinds) <= KINDS.keys():
        raise RunError(f"Choose at least one of {', '.join(KINDS)}.")
    Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if run.webhooks.filter(disabled_at=None).count() >= MOST:
        raise RunError(f"A run has at most {MOST} webhooks. Remove one first.")
    made = Webhook.objects.create(run=run, url=url, kinds=sorted(set(kinds)), created_by=by)
    Event.objects.create(run=run, actor=by, verb=Event.Verb.CREATE_WEBHOOK, subject=host[:200])
    return made


@transaction.atomic
def disable_webhook(webhook: Webhook, *, by: User | None, reason: str) -> bool:
    """Send nothing more. False if it was disabled before."""
    mine = Webhook.objects.filter(pk=webhook.pk, disabled_at=None)
    if mine.update(disabled_at=now(), disabled_reason=reason[:200]) != 1:
        return False
    host = checked_host(webhook.url)
    Event.objects.create(run=webhook.run, actor=by, verb=Event.Verb.DISABLE_WEBHOOK, subject=host, reason=reason)
    return True


def checked_host(url: str) -> str:
    """The host alone: the rest of an address may be a secret of the receiver's."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0][:200]
