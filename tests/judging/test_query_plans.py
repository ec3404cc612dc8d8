"""What a vote reads does not hang on what a database believes about the sizes of its tables."""

from __future__ import annotations

import pytest
from django.db import connection

from judging.models import Matchup
from judging.serving import take_seat
from judging.showing import WAITING, with_drawings, with_seats

from .make import make_run, make_seat

pytestmark = pytest.mark.django_db

# As ANALYZE left them after the first judge: then one seat held every matchup, and an index by seat seemed worth nothing.
AFTER_ONE_JUDGE = [
    ("judging_matchup", "judging_matchup_in_line", "1000 1000 1000 1"),
    ("judging_matchup", "judging_matchup_seat_id_d81bf954", "1000 1000"),
    ("judging_matchup", "judging_matchup_right_id_1c738af5", "1000 84"),
    ("judging_matchup", "judging_matchup_run_id_3ede6400", "1000 1000"),
    ("judging_seat", "judging_seat_run_id_5148bf58", "1 1"),
    ("generation_entrant", None, "12"),
    ("generation_run", None, "1"),
]


@pytest.mark.parametrize("beliefs", [[], AFTER_ONE_JUDGE])
def test_matchups_in_line_are_found_by_seat_and_state(beliefs):
    if connection.vendor != "sqlite":
        return  # PostgreSQL keeps its statistics itself
    seat = make_seat(make_run())
    take_seat(seat.pk)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        cursor.execute("DELETE FROM sqlite_stat1")
        cursor.executemany("INSERT INTO sqlite_stat1 VALUES (%s, %s, %s)", beliefs)
        cursor.execute("ANALYZE sqlite_schema")  # read them again

    for rows in (with_seats().filter(seat__judge=seat.judge), with_drawings().filter(seat=seat)):
        plan = [line for line in rows.filter(state__in=WAITING).explain().splitlines() if "judging_matchup " in line]
        assert [line.partition("USING ")[2] for line in plan] == [
            "INDEX judging_matchup_in_line (seat_id=? AND state=?)"
        ]
    assert Matchup.objects.filter(seat=seat, state__in=WAITING).count() == 2
