"""A clock that is moved back by an hour: nothing waits for it to catch up."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils.timezone import now

from generation.drawing.sweeping import forget_future, sweep
from generation.models import ProviderCall
from generation.runs.lifecycle import start_run
from tests.generation.drawing_room import make_suite

pytestmark = pytest.mark.django_db
HOUR, LOST = timedelta(hours=1), uuid4()


@pytest.fixture
def run():
    return start_run(make_suite())


def test_what_was_due_is_due_again(run):
    run.samples.update(next_at=now() + HOUR)
    run.models.update(open_until=now() + HOUR)
    assert not sweep().due

    forget_future()

    assert sweep().due


def test_a_lost_worker_is_noticed_as_soon_as_ever(run, settings):
    sample = run.samples.first()
    lapses = now() + timedelta(seconds=settings.DRAW_DEADLINE + settings.LEASE_MARGIN)
    run.samples.filter(pk=sample.pk).update(state="asking", token=LOST, lease_until=lapses + HOUR)
    ProviderCall.objects.create(sample=sample, run=run, token=LOST, turn=1, started_at=now(), lease_until=lapses + HOUR)

    forget_future()

    latest = now() + timedelta(seconds=settings.DRAW_DEADLINE + settings.LEASE_MARGIN)
    sample.refresh_from_db()
    assert sample.lease_until <= latest and run.calls.get().lease_until <= latest


def test_waits_that_were_asked_for_stay(run):
    due = now() + timedelta(minutes=15)
    run.samples.update(next_at=due)

    assert forget_future() == 0

    assert set(run.samples.values_list("next_at", flat=True)) == {due}
