"""Picks as a file of a run's archive."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from generation.models import Run
from ranking.archive.fields import fields_of
from ranking.archive.lines import Rows, rows_of
from ranking.archive.members import Member
from ranking.archive.storing import ImportState, Where, made, time_of
from tests.best_of_four.judging.models import Pick

PICK = fields_of(
    judge=("text", "the judge's pseudonym"),
    sample=("code", "the drawing that was picked"),
    picked_at=("time", "when"),
)


def pick_rows(run: Run, picks: QuerySet[Pick] | None = None) -> Rows:
    picks = run.picks.order_by("id") if picks is None else picks
    return rows_of(picks, judge="seat__pseudonym", sample="sample__code", picked_at="picked_at")


def load_picks(state: ImportState) -> None:
    def make(row: dict[str, Any], where: Where) -> Pick:
        seat, at = where.known(state.seats, "judge"), time_of(row["picked_at"])
        return Pick(run=state.run, seat_id=seat, sample_id=row["sample_id"], picked_at=at)

    for _ in made(state, "picks.jsonl", make, samples=("sample",)):
        pass


MEMBERS = (Member(name="picks.jsonl", table=Pick, fields=PICK, rows=pick_rows, load=load_picks),)
