"""Verbs about what calls cost: book it once it is known, from the provider or from a curator who has seen its bill."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet

from generation.models import Event, ProviderCall, Run
from generation.runs.errors import RunError


def calls_of_unknown_cost(run: Run) -> QuerySet[ProviderCall]:
    """Calls that have ended, or whose worker was given up, and nobody knows what they cost."""
    ended = run.calls.exclude(outcome=ProviderCall.Outcome.OPEN)
    return ended.filter(cost_nano=None).select_related("sample", "sample__model", "sample__entrant").order_by("id")


def book_cost(call: ProviderCall, cost_nano: int | None) -> bool:
    """Book a cost that became known later, once; None counts as one more time that the provider did not know."""
    unknown = ProviderCall.objects.filter(pk=call.pk, cost_nano=None)
    if cost_nano is None:
        unknown.update(cost_checks=F("cost_checks") + 1)
        return False
    with transaction.atomic():
        if unknown.update(cost_nano=cost_nano, cost_checks=F("cost_checks") + 1) != 1:
            return False
        Run.objects.filter(pk=call.run_id).update(
            spent_nano=F("spent_nano") + cost_nano, reserved_nano=F("reserved_nano") - call.reserved_nano
        )
    return True


@transaction.atomic
def close_calls(run: Run, calls: Sequence[ProviderCall], *, cost_nano: int, by: User | None, reason: str) -> int:
    """Release the reservations of calls whose bill a curator has seen, at what each of them cost; says how many."""
    if not reason.strip():
        raise RunError("Give a reason: what the provider’s bill shows.")
    if cost_nano < 0:
        raise RunError("The cost of a call cannot be negative.")
    closed = [call for call in calls if call.run_id == run.pk and book_cost(call, cost_nano)]
    if closed:
        facts = {
            "calls": [str(call.token) for call in closed],
            "cost_nano": cost_nano,
            "released_nano": sum(call.reserved_nano for call in closed),
        }
        subject = "1 call" if len(closed) == 1 else f"{len(closed)} calls"
        Event.objects.create(
            run=run, actor=by, verb=Event.Verb.CLOSE_CALLS, subject=subject, reason=reason, facts=facts
        )
    return len(closed)
