"""What a vote reads is found by an index on SQLite, which has no statistics: nobody asks it for any."""

from __future__ import annotations

import pytest
from django.db import connection

from judging.pairs.matchups import WAITING, with_parts, with_seats
from judging.pairs.serving import take_seat
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db


def test_matchups_in_line_are_found_by_seat_and_state():
    if connection.vendor != "sqlite":
        return  # PostgreSQL keeps statistics itself, and scans a table as small as a test's
    seat = make_seat(make_run())
    take_seat(seat.pk)

    for rows in (with_seats().filter(seat__judge=seat.judge), with_parts().filter(seat=seat)):
        plan = [line for line in rows.filter(state__in=WAITING).explain().splitlines() if "judging_matchup " in line]
        assert [line.partition("USING ")[2] for line in plan] == [
            "INDEX judging_matchup_in_line (seat_id=? AND state=?)"
        ]
