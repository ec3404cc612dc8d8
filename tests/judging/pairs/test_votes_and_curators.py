"""Judges and curators at the same rows at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from generation.models import Sample
from generation.runs import curating
from judging.models import Matchup, Vote
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote
from tests.judging.make import make_curator, make_run, make_seat

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


def test_a_vote_goes_through_while_a_curator_holds_the_drawings(monkeypatch, no_waiting):
    if connection.vendor != "postgresql":
        return  # SQLite has one writer at a time, who is soon done
    seat, carol = make_seat(make_run()), make_curator()
    code, served = take_seat(seat.pk).current.code, Matchup.objects.count()
    log = curating._log_by_run

    def vote():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '10s'")
            cast_vote(judge=seat.judge, code=code, ballot=Ballot("left"))
        finally:
            connection.close()

    def log_late(*arguments):
        """The last step of a curator's transaction: the drawings are locked and written, and nothing is committed."""
        with ThreadPoolExecutor(1) as judge:
            judge.submit(vote).result()
        return log(*arguments)

    monkeypatch.setattr(curating, "_log_by_run", log_late)

    assert curating.exclude_samples(Sample.objects.all(), by=carol, reason="copies") == Sample.objects.count()

    assert Vote.objects.get().matchup.code == code
    assert Matchup.objects.count() == served + 1, "the next pair points to drawings that the curator held"
