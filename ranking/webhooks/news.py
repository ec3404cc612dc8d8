"""What there is to tell: deliveries to come, one for each piece of news and webhook, and each only once.

Nothing here names a model, a judge or an outcome. While people may judge a run blind, no fit is told of, and of votes only
that a round number was reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.utils.timezone import now

from generation.models import Event
from generation.protocols import protocols_of
from judging.disclosure import drawings_are_open
from ranking.models import Delivery, Fit, Webhook

STALE = timedelta(days=3)
MILESTONES = [step * 10**power for power in range(1, 8) for step in (1, 2, 5)]
STATES: dict[str, str] = {
    Event.Verb.FINISH_RUN: "run.finished",
    Event.Verb.PAUSE_RUN: "run.paused",
    Event.Verb.RESUME_RUN: "run.resumed",
    Event.Verb.CANCEL_RUN: "run.cancelled",
    Event.Verb.OPEN_JUDGING: "judging.opened",
    Event.Verb.PAUSE_JUDGING: "judging.paused",
    Event.Verb.CLOSE_JUDGING: "judging.closed",
    Event.Verb.FREEZE_RUN: "run.frozen",
    Event.Verb.PUBLISH_RUN: "run.published",
}
News = tuple[str, str, dict[str, Any]]  # its key, its type, and what is told


def plan_deliveries() -> int:
    """A row for each piece of news that has none yet; says how many."""
    planned = 0
    for webhook in Webhook.objects.filter(disabled_at=None).select_related("run").defer("run__config"):
        news = list(_news(webhook))
        known = set(webhook.deliveries.filter(key__in=[key for key, *_ in news]).values_list("key", flat=True))
        rows = [
            Delivery(webhook=webhook, key=key, kind=kind, data=data) for key, kind, data in news if key not in known
        ]
        Delivery.objects.bulk_create(rows, ignore_conflicts=True)
        planned += len(rows)
    return planned


def _news(webhook: Webhook) -> Iterator[News]:
    since = max(webhook.created_at, now() - STALE)
    run = webhook.run
    if "run" in webhook.kinds:
        for event in run.events.filter(verb__in=STATES, at__gte=since).order_by("at"):
            yield f"event-{event.pk}", STATES[event.verb], {"happened_at": event.at.isoformat()}
    if "votes" in webhook.kinds:
        yield from _milestones(webhook)
    if "fits" in webhook.kinds and drawings_are_open(run):
        fits = Fit.objects.filter(run=run, kind=Fit.Kind.FULL, until=None, created_at__gte=since)
        for fit in fits.order_by("id").defer("result"):
            facts = {"fit": fit.code, "protocol": fit.protocol, "votes": fit.votes, "read_at": fit.read_at.isoformat()}
            yield f"fit-{fit.code}", "fit.made", facts


def _milestones(webhook: Webhook) -> Iterator[News]:
    """The highest round number that was passed since it was created, by what each newest fit rests on."""
    for name, entry in protocols_of(webhook.run).items():
        fits = Fit.objects.filter(run=webhook.run, protocol=name, until=None).order_by("-read_at", "-id")
        counts = list(fits.filter(read_at__gte=webhook.created_at).values_list("votes", flat=True)[:1])
        before = list(fits.filter(read_at__lt=webhook.created_at).values_list("votes", flat=True)[:1])
        if not entry.by_people or not counts:
            continue
        passed = [step for step in MILESTONES if (before or [0])[0] < step <= counts[0]]
        if passed:
            yield f"votes-{name}-{passed[-1]}", "votes.milestone", {"protocol": name, "milestone": passed[-1]}
