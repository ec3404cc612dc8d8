"""Leaderboards follow the votes after the clock was set back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import TestCase

from generation.models import Run
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote
from ranking.clock import forget_future
from ranking.fitting import stale_fits
from ranking.management.commands.refit import Memory, look
from ranking.models import Fit
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db
TEN = datetime(2026, 5, 1, 10, tzinfo=UTC)
NINE = TEN - timedelta(hours=1)


@pytest.fixture
def seat():
    return make_seat(make_run())


def vote(seat, hour, seconds):
    with (
        time_machine.travel(hour + timedelta(seconds=seconds), tick=False),
        TestCase.captureOnCommitCallbacks(execute=True),
    ):
        cast_vote(judge=seat.judge, code=take_seat(seat.pk).current.code, ballot=Ballot("left"))


def votes_after_a_look(run, hour, seconds, memory=None):
    """What the newest leaderboard rests on."""
    with time_machine.travel(hour + timedelta(seconds=seconds), tick=False):
        look(memory or Memory())
    return Fit.objects.newest(run, "pairwise", kind="fast").votes


def store_late(run, began):
    """A fit that began before the clock was set back, and before the votes since."""
    Fit.objects.create(run=run, protocol="pairwise", kind="fast", settings={}, result={}, votes=0, read_at=began)


def test_votes_are_followed_at_once(seat):
    vote(seat, TEN, 0)
    assert votes_after_a_look(seat.run, TEN, 3) == 1

    vote(seat, NINE, 10)
    assert votes_after_a_look(seat.run, NINE, 11) == 2
    vote(seat, NINE, 12)
    assert votes_after_a_look(seat.run, NINE, 15) == 3
    vote(seat, NINE, 20)
    assert votes_after_a_look(seat.run, NINE, 23) == 4


def test_a_small_step_hides_no_vote_either(seat):
    memory = Memory()
    vote(seat, TEN, 0)
    assert votes_after_a_look(seat.run, TEN, 3, memory) == 1

    vote(seat, TEN, -9)
    assert votes_after_a_look(seat.run, TEN, -8, memory) == 2
    assert votes_after_a_look(seat.run, TEN, -5, memory) == 2
    store_late(seat.run, TEN + timedelta(seconds=2))
    assert votes_after_a_look(seat.run, TEN, -3, memory) == 2
    assert votes_after_a_look(seat.run, TEN, 5, memory) == 2


def test_a_large_step_hides_no_run_that_was_fitted_long_before(seat):
    memory = Memory()
    vote(seat, NINE, 15)
    for hour, seconds in ((NINE, 18), (TEN, 0)):
        assert votes_after_a_look(seat.run, hour, seconds, memory) == 1

    vote(seat, NINE, 5)

    assert votes_after_a_look(seat.run, NINE, 6, memory) == 2


def test_a_stale_fit_stays_stale_where_only_its_mark_lies_far_ahead(seat):
    vote(seat, TEN, 0)
    votes_after_a_look(seat.run, TEN, 3)
    vote(seat, TEN, 20)

    assert votes_after_a_look(seat.run, TEN, -15) == 2


def test_a_run_is_fitted_once_more_and_not_until_the_hour_is_over(seat):
    vote(seat, TEN, 0)
    votes_after_a_look(seat.run, TEN, 3)
    for seconds in (2, 5):
        votes_after_a_look(seat.run, NINE, seconds)

    assert stale_fits(Fit.Kind.FAST) == []
    with time_machine.travel(NINE + timedelta(seconds=7), tick=False):
        assert forget_future() == 0


def test_a_fit_that_was_under_way_counts_for_old(seat):
    vote(seat, TEN, 0)
    for hour, seconds in ((TEN, 3), (NINE, 2), (NINE, 5)):
        votes_after_a_look(seat.run, hour, seconds)

    store_late(seat.run, TEN + timedelta(seconds=4))

    assert votes_after_a_look(seat.run, NINE, 10) == 1
    assert not Fit.objects.filter(read_at__gt=NINE + timedelta(seconds=10)).exists()


def test_a_frozen_leaderboard_stays_as_it_is(seat):
    vote(seat, TEN, 0)
    votes_after_a_look(seat.run, TEN, 3)
    Run.objects.update(frozen_at=TEN + timedelta(seconds=4))
    before = list(Fit.objects.values_list("pk", "read_at"))

    votes_after_a_look(seat.run, NINE, 10)

    assert list(Fit.objects.values_list("pk", "read_at")) == before


def test_a_fit_under_way_at_a_step_of_less_than_a_minute_counts_for_old(seat):
    memory = Memory()
    vote(seat, TEN, 0)
    assert votes_after_a_look(seat.run, TEN, 3, memory) == 1
    vote(seat, TEN, -42)
    for seconds in (-41, -20):
        assert votes_after_a_look(seat.run, TEN, seconds, memory) == 2

    store_late(seat.run, TEN + timedelta(seconds=2))

    assert votes_after_a_look(seat.run, TEN, -15, memory) == 2


def test_hosts_whose_clocks_differ_a_little_are_left_alone(seat):
    ahead = TEN + timedelta(seconds=20)
    Run.objects.update(scores_changed_at=ahead)

    with time_machine.travel(TEN, tick=False):
        assert forget_future() == 0

    assert Run.objects.get().scores_changed_at == ahead
