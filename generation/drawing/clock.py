"""Repairs times that a clock left in the future when it was moved back: nothing waits for longer than was asked for."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.conf import settings
from django.utils.timezone import now

from generation.drawing.settling import LONGEST_BREAK
from generation.models import LanguageModel, ProviderCall, Sample

log = structlog.get_logger(__name__)
# A provider may ask for as long as a break takes; jitter makes either a fifth longer.
LONGEST_WAIT = timedelta(seconds=1.2 * LONGEST_BREAK + 1)


def forget_future() -> int:
    """Makes due what waits for longer than anything may wait, and ends leases when they would end if taken now."""
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
