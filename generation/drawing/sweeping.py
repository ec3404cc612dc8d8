"""What is left to do when nobody is drawing: lost workers' calls, ended runs, and times that a clock left in the future."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.timezone import now

from generation.drawing import settling
from generation.models import Entrant, Event, LanguageModel, ProviderCall, Run, Sample
from generation.runs.staleness import mark_stale

log = structlog.get_logger(__name__)
# A provider may ask for as long as a break takes; jitter makes either a fifth longer.
LONGEST_WAIT = timedelta(seconds=1.2 * settling.LONGEST_BREAK + 1)


@dataclass(frozen=True)
class Swept:
    """Counts of what a sweep did."""

    lost_calls: int
    again: int
    failed: int
    cancelled: int
    finished_runs: int
    due: bool


def sweep() -> Swept:
    """Gives up calls whose lease has lapsed and frees their samples; safe to run twice at once."""
    moment = now()
    fields = {**settling.FREE, "failure": "lease_lapsed", "failure_detail": "The worker that made this call was lost."}
    with transaction.atomic():
        calls = ProviderCall.objects.filter(outcome=ProviderCall.Outcome.OPEN, lease_until__lt=moment).update(
            outcome=ProviderCall.Outcome.UNKNOWN, ended_at=moment, error="lease_lapsed", detail=fields["failure_detail"]
        )
        # Conditions stand on the sample's own row, never behind a join: PostgreSQL checks those again after a wait.
        lapsed = Sample.objects.filter(state=Sample.State.ASKING, lease_until__lt=moment)
        ended_runs = Run.objects.filter(drawing_state=Run.Drawing.CANCELLED)
        cancelled = lapsed.filter(run__in=ended_runs).update(**fields, state=Sample.State.CANCELLED)
        # What was in flight when its run was cancelled or its entrant disqualified, and came back without an answer.
        back = Sample.objects.filter(state=Sample.State.PENDING)
        for out in ({"run__in": ended_runs}, {"entrant__in": Entrant.objects.exclude(disqualified="")}):
            cancelled += back.filter(**out).update(state=Sample.State.CANCELLED)
        failed = lapsed.filter(claims__gte=settings.MAX_CLAIMS).update(**fields, state=Sample.State.FAILED)
        # What came back to a model that was refused in the meantime.
        refused = LanguageModel.objects.exclude(refused_reason="")
        Sample.objects.filter(state=Sample.State.PENDING, model__in=refused).update(
            state=Sample.State.FAILED, failure="model_unavailable", failure_detail="The provider refused this model."
        )
        again = lapsed.update(**fields, state=Sample.State.PENDING, next_at=moment)
    return Swept(calls, again, failed, cancelled, finish_runs(), Sample.objects.claimable().exists())


def finish_runs() -> int:
    """Marks every run that has nothing left to draw as finished, once."""
    return sum(_finish(pk) for pk in _ended_runs().values_list("pk", flat=True))


def _ended_runs() -> QuerySet[Run]:
    unended = Sample.objects.unended().filter(run=OuterRef("pk"))
    return Run.objects.filter(~Exists(unended), finished_at=None, setting_up=False)


def _finish(run_id: int) -> int:
    with transaction.atomic():
        # One that is extended at this moment has more to draw: this waits until that is done, and then looks again.
        Run.objects.select_for_update(no_key=True).only("pk").filter(pk=run_id).first()
        if _ended_runs().filter(pk=run_id).update(finished_at=now()) != 1:
            return 0
        Event.objects.create(
            run_id=run_id, verb=Event.Verb.FINISH_RUN, facts=Sample.objects.filter(run_id=run_id).progress()
        )
        if judged := Run.objects.values_list("judged_run_id", flat=True).get(pk=run_id):
            mark_stale(judged)  # its board says how far this judge agrees with people
    return 1


def forget_future() -> int:
    """Repairs times that a clock left in the future when it was moved back.

    Makes due what waits for longer than anything may wait, and ends leases when they would end if taken now.
    """
    moment = now()
    lease = moment + timedelta(seconds=settings.DRAW_DEADLINE + settings.LEASE_MARGIN)
    last = max(moment + LONGEST_WAIT, lease)  # a model under trial waits for its lease
    repaired = Sample.objects.filter(state=Sample.State.PENDING, next_at__gt=last).update(next_at=moment)
    repaired += LanguageModel.objects.filter(open_until__gt=last).update(open_until=moment)
    calls = ProviderCall.objects.filter(outcome=ProviderCall.Outcome.OPEN, lease_until__gt=lease)
    repaired += calls.update(lease_until=lease)
    repaired += Sample.objects.filter(state=Sample.State.ASKING, lease_until__gt=lease).update(lease_until=lease)
    if repaired:
        log.warning("clock_moved_back", rows=repaired)
    return repaired
