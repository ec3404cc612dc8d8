"""Guard and writes of a judge's changes: what comes between reading and writing, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection
from django.db.models import Q

from generation.models import Entrant, Run, Sample
from judging.models import Matchup, Seat, Vote
from judging.pairs import tallies
from judging.pairs.changes import Changes
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from judging.pairs.voting import Ballot, cast_vote, undo_vote
from judging.seats import RefusedError
from tests.judging.make import make_run, make_seat

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


@contextmanager
def come_between(act):
    """Does this once, after a judge's line was read and before anything is written."""
    acts, apply = iter([act]), Changes.apply

    def apply_late(changes):
        next(acts, lambda: None)()
        apply(changes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Changes, "apply", apply_late)
        yield
    assert next(acts, None) is None, "nothing was written, so nothing came between"


def vote(seat, outcome="left"):
    code = Matchup.objects.get(seat=seat, state="open").code
    return cast_vote(judge=seat.judge, code=code, ballot=Ballot(outcome, response_ms=900))


@pytest.mark.parametrize(
    "gone",
    [
        {"held": True},
        {"excluded_reason": "offensive"},
        {"verdict": "invalid"},
        {"state": "failed"},
        {"entrant": "disqualified"},
    ],
    ids=str,
)
def test_drawings_taken_out_between_reading_and_writing_are_not_queued(gone):
    run = make_run(entrants=4, prompts=4, attempts=2, overlap=0, repeats=0)
    seat = make_seat(run)
    waiting = take_seat(seat.pk)
    on_screen = [sample for pair in (waiting.current, waiting.upcoming) for sample in (pair.left_id, pair.right_id)]
    out = run.samples.exclude(entrant__in=on_screen[:2])  # all that might come, but for the pairs in line
    in_line = Q(pk__in=[waiting.current.left_sample_id, waiting.current.right_sample_id])
    in_line |= Q(pk__in=[waiting.upcoming.left_sample_id, waiting.upcoming.right_sample_id])

    def take_out():
        if "entrant" in gone:
            Entrant.objects.filter(run=run).exclude(pk__in=on_screen).update(disqualified="copied")
        else:
            Sample.objects.filter(pk__in=out).exclude(in_line).update(**gone)

    with come_between(take_out):
        cast = vote(seat)

    made = cast.screen.upcoming
    shown = {made.left_sample_id, made.right_sample_id} if made else set()
    assert Sample.objects.filter(pk__in=shown).judgeable().count() == len(shown)
    assert Vote.objects.count() == 1
    assert differences(run) == 0


def test_a_vote_that_arrives_while_judging_is_closed_is_not_counted():
    run = make_run()
    seat = make_seat(run)
    take_seat(seat.pk)

    with come_between(lambda: Run.objects.update(judging_state="closed")), pytest.raises(RefusedError, match="closed"):
        vote(seat)

    assert not Vote.objects.exists()
    assert Seat.objects.get(pk=seat.pk).voted == 0
    assert differences(run) == 0


def test_of_two_votes_at_the_same_moment_one_counts():
    run = make_run()
    seat = make_seat(run)
    take_seat(seat.pk)

    with come_between(lambda: vote(seat)):
        cast = vote(seat)

    assert cast.again
    assert Vote.objects.count() == 1
    assert differences(run) == 0


def test_an_undo_that_comes_between_is_not_undone_by_the_vote():
    seat = make_seat(make_run())
    take_seat(seat.pk)
    first = vote(seat)

    between = come_between(lambda: undo_vote(judge=seat.judge, code=first.matchup.code))
    with between, pytest.raises(RefusedError, match="Another pair is open"):
        vote(seat)

    assert not Vote.objects.standing().exists()
    assert differences(seat.run) == 0


@pytest.mark.django_db(transaction=True)
def test_what_follows_a_vote_is_in_its_transaction(monkeypatch):
    """The second vote makes the judge more active, and all their counts move."""
    seat = make_seat(make_run())
    take_seat(seat.pk)
    vote(seat)

    def fail(*_, **__):
        raise RuntimeError("the power went off")

    monkeypatch.setattr(tallies, "_move_cells", fail)
    with pytest.raises(RuntimeError):
        vote(seat)

    assert Vote.objects.count() == 1
    assert Seat.objects.get(pk=seat.pk).voted == 1
    assert differences(seat.run) == 0


def test_postgresql_keeps_one_plan_however_large_the_numbers_are():
    if connection.vendor != "postgresql":
        return  # SQLite has nothing to keep
    seat = make_seat(make_run(entrants=4, prompts=8, attempts=3, overlap=0, repeats=0))
    take_seat(seat.pk)

    def kept():
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'WITH guard%%'")
            return cursor.fetchone()[0]

    for _ in range(5):
        vote(seat)
    before = kept()
    Seat.objects.filter(pk=seat.pk).update(version=40_000)
    for _ in range(2):  # the sixth and seventh: no power of two
        vote(seat)

    assert before
    assert kept() == before


@pytest.mark.django_db(transaction=True)
def test_a_vote_between_two_reads_looks_like_no_wrong_tally(monkeypatch):
    seat = make_seat(make_run(entrants=4, prompts=4, attempts=2, overlap=0, repeats=0))
    take_seat(seat.pk)
    vote(seat)

    def vote_elsewhere():
        try:
            vote(seat)
        finally:
            connection.close()

    read = tallies._stored

    def read_after_a_vote(*arguments):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(vote_elsewhere).result(timeout=60)
        return read(*arguments)

    monkeypatch.setattr(tallies, "_stored", read_after_a_vote)

    assert differences(seat.run) == 0
    assert Vote.objects.filter(run=seat.run).count() == 3, "one vote before each of two reads"
