"""One moment of the database for a long reading, while others go on writing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from benchsite.lib.database.snapshots import snapshot
from generation.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


def write_elsewhere(verb):
    """By another connection, as another worker would."""

    def write():
        try:
            Event.objects.create(verb=verb)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write).result(timeout=30)


def test_readers_see_one_moment_and_stop_no_writer():
    Event.objects.create(verb="before")
    with snapshot():
        assert Event.objects.count() == 1
        write_elsewhere("meanwhile")
        assert Event.objects.count() == 1
    assert Event.objects.count() == 2


def test_connection_is_as_before_after_an_error():
    with pytest.raises(RuntimeError), snapshot():
        Event.objects.count()
        raise RuntimeError
    Event.objects.create(verb="after")
    write_elsewhere("too")
    assert Event.objects.count() == 2


def test_reader_that_goes_away_leaves_nothing_open():
    def reading():
        with snapshot():
            yield Event.objects.count()
            yield Event.objects.count()

    reader = reading()
    next(reader)
    reader.close()
    Event.objects.create(verb="after")
    assert Event.objects.count() == 1
