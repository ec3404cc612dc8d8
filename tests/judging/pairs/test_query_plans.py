"""What a vote reads is found by an index, also on a database without statistics."""

from __future__ import annotations

import pytest
from django.db import connection

from judging.models import PromptTally
from judging.models.votes import Outcome
from judging.pairs.matchups import WAITING, with_parts, with_seats
from judging.pairs.serving import take_seat
from judging.pairs.tallies import _TAKE_CELLS, CLASSES, _placed
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


def test_a_judge_who_moves_to_another_class_finds_each_tally_by_its_whole_key():
    """Joined to the judge's cells, tallies of the whole run were read, and the cells anew for each of them."""
    seat = make_seat(make_run())
    make_tallies(seat.run)
    sql, values = _placed(_TAKE_CELLS, {"run": seat.run_id, "seat": seat.pk, "activity": 3, "but": 0})
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE judging_prompttally")  # or the plan depends on when the server last did
            for number, value in enumerate(values, start=1):
                sql = sql.replace(f"${number}", str(value))
            cursor.execute(f"EXPLAIN {sql}")
            plan = [line for (line,) in cursor.fetchall()]
            plan_line = plan[next(n for n, line in enumerate(plan) if "judging_prompttally_once" in line) + 1]
        else:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}".replace("%(", ":").replace(")s", ""), values)
            plan_line = next(row[-1] for row in cursor.fetchall() if row[-1].startswith("SEARCH t USING"))

    assert all(f"{name}_id" in plan_line for name in ("run", "prompt", "left", "right"))
    assert all(name in plan_line for name in ("outcome", "is_repeat", "activity"))


def make_tallies(run):
    """One of every kind that the run can have."""
    entrants = list(run.entrants.all())
    PromptTally.objects.bulk_create(
        PromptTally(run=run, prompt=prompt, left=left, right=right, outcome=outcome, activity=activity, votes=1)
        for prompt in run.prompts.all()
        for left in entrants
        for right in entrants
        for outcome in Outcome.values
        for activity in range(CLASSES)
        if left != right
    )
