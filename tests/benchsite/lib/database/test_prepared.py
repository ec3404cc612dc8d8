"""Rows that are read and made without Django's constructor are what it would have made."""

from __future__ import annotations

import pytest
from django.db import connection

from benchsite.lib.database.instances import new_instance
from benchsite.lib.database.prepared import CompiledQuery, prepared_cursor
from judging.models import Matchup, Vote
from judging.pairs.matchups import with_seats
from judging.pairs.serving import take_seat
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db


def columns(row):
    return {name: value for name, value in vars(row).items() if name != "_state"}


def same(ours, theirs):
    assert type(ours) is type(theirs)
    if ours is None:
        return
    assert columns(ours) == columns(theirs)
    assert (ours._state.adding, ours._state.db) == (theirs._state.adding, theirs._state.db)
    assert ours._state.fields_cache.keys() == theirs._state.fields_cache.keys()
    for name, row in theirs._state.fields_cache.items():
        same(ours._state.fields_cache[name], row)


def test_a_compiled_query_gives_the_rows_of_the_orm_with_all_they_refer_to():
    seat = make_seat(make_run())
    take_seat(seat.pk)
    query = CompiledQuery(lambda pk: with_seats().filter(seat=pk).order_by("order"), int)

    ours, theirs = query.rows(seat.pk), list(with_seats().filter(seat=seat).order_by("order"))

    assert len(ours) == 2
    for one, other in zip(ours, theirs, strict=True):
        same(one, other)
        assert one.get_deferred_fields() == other.get_deferred_fields()
    assert ours[0].seat is ours[1].seat


def test_a_compiled_query_of_chosen_columns_gives_tuples():
    seat = make_seat(make_run())
    take_seat(seat.pk)
    query = CompiledQuery(lambda pk: Matchup.objects.filter(seat=pk).order_by("order").values_list("pk", "code"), int)

    assert query.rows(seat.pk) == list(Matchup.objects.filter(seat=seat).order_by("order").values_list("pk", "code"))


def test_a_new_row_has_the_defaults_of_the_constructor():
    seat = make_seat(make_run())
    given = {"outcome": "left", "matchup_id": 7}

    ours = new_instance(Vote, given, run=seat.run, seat=seat)
    theirs = Vote(**given, run=seat.run, seat=seat)

    assert ours.voted_at <= theirs.voted_at
    ours.voted_at = theirs.voted_at
    assert columns(ours) == columns(theirs)
    assert ours._state.adding and ours.seat is seat and ours.run is seat.run


def test_all_prepared_statements_of_a_connection_share_one_cursor():
    if connection.vendor != "postgresql":
        return
    with prepared_cursor() as one:
        one.execute("SELECT 1", [])
        assert one.fetchone() == (1,)
    with prepared_cursor() as other:
        other.execute("SELECT $1 + 1", [2**40])
        assert other.fetchone() == (2**40 + 1,)
    assert one.cursor is other.cursor
