"""Verb: bring grades made elsewhere into a run whose drawings they are about."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.timezone import now

from benchsite.lib.file_errors import FileError
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import clean_text
from benchsite.lib.times import parse_stored_time
from generation.models import Event, Run
from generation.runs.staleness import mark_stale
from generation.suites.suite import Suite
from judging.models import Grade, Seat
from judging.provenance import import_reason, refuse_judged
from ranking.rubric.files import read_grades, standing_rows

BATCH = 500
LONGEST_NAME = 100


@transaction.atomic
def import_grades(*, path: Path, run: Run, reason: str, by: User | None = None, progress: Progress = unwatched) -> int:
    """Let the file's grades stand beside the run's own, and say how many are new; a bad line refuses the whole file.

    A judge of the file gets a seat without an account; only in the run that the file came from a seat of that name is the same
    judge. A grade that stands already is passed over, and one that contradicts it is refused.
    """
    refuse_judged(run)
    reason = import_reason(reason)
    suite = Suite.from_dict(run.config)
    if suite.rubric is None:
        raise FileError(path.name, 0, "", f"run {run.code} has no rubric.")
    frame = read_grades(path, suite=suite, progress=progress)
    samples, standing = _drawings(run), _standing(run)
    seats: dict[tuple[str, bool], Seat] = {}
    made: list[Grade] = []
    rows: Iterator[Any] = frame.itertuples()
    for row, (number, extra) in zip(rows, standing_rows(path), strict=True):
        progress(row.Index, len(frame))
        where = (path.name, number)
        sample = samples.get((row.entrant, row.stage, row.subject, row.attempt))
        if sample is None:
            message = f"run {run.code} has no valid drawing of {row.subject} by {row.entrant}, attempt {row.attempt}."
            raise FileError(*where, "entrant", message)
        seat = _seat(run, row.judge, own=extra.get("run") == run.code, seats=seats, where=where)
        stands = standing.get((seat.pk, sample, row.dimension))
        if stands is None:
            made.append(_grade(run, seat, sample, row, _moment(extra.get("graded_at"), where)))
        elif stands != row.value:
            raise FileError(*where, "value", f"{seat} has given {stands:g} for {row.dimension} here already.")
    Grade.objects.bulk_create(made, batch_size=BATCH)
    facts = {"file": clean_text(path.name)[0], "grades": len(made)}
    Event.objects.create(
        run=run, actor=by, verb=Event.Verb.IMPORT_GRADES, subject=f"{len(made)} grades", reason=reason, facts=facts
    )
    mark_stale(run.pk)
    return len(made)


def _drawings(run: Run) -> dict[tuple[str, str, str, int], int]:
    """The run's valid samples by entrant, stage, subject (or the prompt's key) and attempt."""
    columns = ("pk", "entrant__name", "prompt__category", "prompt__subject", "prompt__key", "attempt")
    return {
        (entrant, stage, name, attempt): pk
        for pk, entrant, stage, subject, key, attempt in run.samples.filter(verdict="valid").values_list(*columns)
        for name in (subject, key)
        if name
    }


def _standing(run: Run) -> dict[tuple[int, int, str], float]:
    rows = run.grades.standing().values_list("seat_id", "sample_id", "dimension", "value")
    return {(seat, sample, dimension): value for seat, sample, dimension, value in rows}


def _grade(run: Run, seat: Seat, sample: int, row: Any, at: datetime) -> Grade:
    return Grade(
        run=run, seat=seat, sample_id=sample, dimension=row.dimension, value=row.value, graded_at=at, imported=True
    )


def _seat(run: Run, judge: str, *, own: bool, seats: dict[tuple[str, bool], Seat], where: tuple[str, int]) -> Seat:
    if len(judge) > LONGEST_NAME:
        raise FileError(*where, "judge", "the name is too long.")
    if (judge, own) not in seats:
        seat = Seat.objects.filter(run=run, pseudonym=judge).first()
        if seat is not None and seat.judge_id and not own:
            judge, seat = f"{judge} (imported)", None
        seats[judge, own] = seat or Seat.objects.get_or_create(run=run, pseudonym=judge)[0]
        seats[judge.removesuffix(" (imported)"), own] = seats[judge, own]
    return seats[judge, own]


def _moment(value: object, where: tuple[str, int]) -> datetime:
    try:
        return parse_stored_time(value, "it") or now()
    except ValueError as error:
        raise FileError(*where, "graded_at", f"{error}.") from None
