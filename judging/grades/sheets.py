"""Verbs: list the drawings a judge grades, and find the next in line. What is served is a row."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from django.contrib.auth.models import User
from django.db.models import Count, Max, QuerySet

from generation.models import Run, Sample
from generation.suites.suite import Rubric, Stage, Suite
from judging.grades.order import Drawing, choose_drawings, order_drawings
from judging.models import GradeItem, GradeSheet, Kind, Seat
from judging.rules import rules_of
from judging.seats import StaleSeatError, retried


@lru_cache(maxsize=64)
def rubric_of(run_code: str) -> Rubric:
    """The rubric of a run; it is frozen, and so may be kept in memory."""
    rubric = Suite.from_dict(Run.objects.values_list("config", flat=True).get(code=run_code)).rubric
    if rubric is None:
        raise ValueError(f"Run {run_code} has no rubric.")
    return rubric


def stage_of(item: GradeItem) -> Stage:
    return rubric_of(item.seat.run.code).stage(item.stage)


@retried
def open_sheet(seat_id: int) -> GradeSheet:
    """Make the judge's list, or add to it what can be graded since it was made."""
    seat = Seat.objects.select_related("run").defer("run__config").get(pk=seat_id)
    sheet, _ = GradeSheet.objects.get_or_create(seat=seat)
    if seat.run.judging_state != Run.Judging.OPEN:
        return sheet
    listed = set(seat.grade_items.values_list("sample_id", flat=True))
    fresh = [drawing for drawing in gradeable(seat.run) if drawing.sample not in listed]
    room = None if seat.quota is None else max(seat.quota - len(listed), 0)
    if not fresh or room == 0:
        return sheet
    chosen, shared = choose_drawings(
        fresh,
        quota=room,
        overlap=0 if listed else rules_of(seat.run.code).judging.overlap,
        run_seed=_run_seed(seat.run),
        seed=sheet.seed + len(listed),
        graded=_coverage(seat.run),
    )
    _add_items(sheet, chosen, shared)
    return sheet


def gradeable(run: Run) -> list[Drawing]:
    """Every drawing of the run that a judge may see, in stages of the rubric."""
    stages = {stage.key for stage in rubric_of(run.code).stages}
    rows = Sample.objects.filter(run=run, prompt__category__in=stages).judgeable().order_by("id")
    return [Drawing(*row) for row in rows.values_list("id", "entrant_id", "prompt_id", "prompt__category")]


def _run_seed(run: Run) -> int:
    return int.from_bytes(blake2b(run.code.encode(), digest_size=7).digest())


def _coverage(run: Run) -> dict[int, int]:
    """How many judges have each drawing on their list."""
    return dict(GradeItem.objects.filter(seat__run=run).order_by().values_list("sample").annotate(Count("id")))


def _add_items(sheet: GradeSheet, chosen: list[Drawing], shared: set[int]) -> None:
    seat = sheet.seat
    stages = [stage.key for stage in rubric_of(seat.run.code).stages]
    first = Seat.objects.filter(run=seat.run, pk__lt=seat.pk).count()
    ordered = order_drawings(chosen, stages=stages, first=first, seed=sheet.seed + sheet.items)
    last = seat.grade_items.aggregate(last=Max("order"))["last"]
    GradeItem.objects.bulk_create(
        GradeItem(
            seat=seat,
            sample_id=drawing.sample,
            stage=drawing.stage,
            order=number,
            kind=Kind.SHARED if drawing.sample in shared else Kind.REGULAR,
        )
        for number, drawing in enumerate(ordered, 0 if last is None else last + 1)
    )
    step_sheet(sheet, items=sheet.items + len(ordered))


def step_sheet(sheet: GradeSheet, **values: object) -> None:
    """Write the sheet if nobody else did since it was read."""
    read = GradeSheet.objects.filter(pk=sheet.pk, steps=sheet.steps)
    if read.update(steps=sheet.steps + 1, **values) != 1:
        raise StaleSeatError
    sheet.steps += 1
    for name, value in values.items():
        setattr(sheet, name, value)


def showable(seat: Seat) -> QuerySet[GradeItem]:
    """The judge's items that may be on a screen, in order."""
    return GradeItem.objects.filter(
        seat=seat,
        reported_at=None,
        sample__state=Sample.State.DRAWN,
        sample__verdict=Sample.Verdict.VALID,
        sample__held=False,
        sample__excluded_reason="",
        sample__entrant__disqualified="",
    )


def next_item(seat: Seat) -> GradeItem | None:
    """Where the judge left off: the first drawing in line that lacks a grade."""
    return showable(seat).filter(graded_at=None).order_by("order").first()


def own_item(judge: User, code: str) -> GradeItem:
    """The judge's item of that code; another judge's, or a guest's of a study, finds nothing, like a code that never was."""
    items = GradeItem.objects.select_related("seat__run", "seat__sheet", "sample__prompt", "sample__entrant")
    return items.defer("seat__run__config", "sample__raw", "sample__answer").get(
        code=code, seat__judge=judge, seat__participation=None
    )
