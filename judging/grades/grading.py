"""Verbs: grade a drawing, undo, report. A change withdraws the old grade and adds a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.utils.timezone import now

from generation.models import Run, Sample
from generation.runs.staleness import mark_stale_after_commit
from generation.suites.suite import Rubric, Stage
from judging.disclosure import could_know_names, is_in_public, is_judged_blind
from judging.grades import NAME
from judging.grades.sheets import own_item, rubric_of, stage_of, step_sheet
from judging.models import Grade, GradeItem, GradeSheet, Seat
from judging.seats import RefusedError, StaleSeatError, refuse_many_reports, retried


@dataclass(frozen=True)
class Graded:
    """A drawing with the grades that stand now; `changed` is false where nothing was new."""

    item: GradeItem
    values: dict[str, float]
    sheet: GradeSheet
    changed: bool


def standing_values(item: GradeItem) -> dict[str, float]:
    grades = Grade.objects.standing().filter(seat=item.seat_id, sample=item.sample_id)
    return dict(grades.values_list("dimension", "value"))


@retried
def grade_sample(*, judge: User, code: str, values: Mapping[str, float], note: str | None = None) -> Graded:
    """Let these grades stand for the judge's drawing; the same again changes nothing. Dimensions left out stay as they are."""
    item = own_item(judge, code)
    _check_allowed(item.seat, judge)
    _check_item(item)
    stage = stage_of(item)
    _check_values(values, stage, rubric_of(item.seat.run.code))
    if note is not None and note != item.note:
        GradeItem.objects.filter(pk=item.pk).update(note=note)
        item.note = note
    before = {grade.dimension: grade for grade in item.seat.grades.standing().filter(sample=item.sample)}
    new = {key: float(v) for key, v in values.items() if key not in before or before[key].value != v}
    now_standing = {key: grade.value for key, grade in before.items()} | new
    if new:
        moment = now()
        _check_not_public(item.seat.run, [before[key] for key in new if key in before])
        kept_out = could_know_names(item.seat.run, judge, [item.sample])
        _withdraw([before[key] for key in new if key in before], judge, moment)
        Grade.objects.bulk_create(
            Grade(
                run=item.seat.run,
                seat=item.seat,
                sample=item.sample,
                dimension=key,
                value=value,
                graded_at=moment,
                replaces=before.get(key),
                kept_out=kept_out,
            )
            for key, value in new.items()
        )
        _settle(item, stage, now_standing, moment)
    return Graded(item, now_standing, item.seat.sheet, bool(new))


def _check_allowed(seat: Seat, judge: User) -> None:
    if not judge.is_active and not seat.is_simulated:
        raise RefusedError("inactive", "Your account is not active. Ask a curator.")
    if seat.run.judging_state == Run.Judging.PAUSED:
        raise RefusedError("paused", "Judging is paused. Your grades so far are safe; come back later.")
    if seat.run.judging_state != Run.Judging.OPEN:
        raise RefusedError("closed", "Judging is closed. Your grades so far are safe; this one was not counted.")


def _check_item(item: GradeItem) -> None:
    sample = item.sample
    withheld = sample.held or sample.excluded_reason or sample.entrant.disqualified
    if item.reported_at or withheld or sample.verdict != Sample.Verdict.VALID:
        raise RefusedError("gone", "This drawing was removed and needs no grade.")


def _check_values(values: Mapping[str, float], stage: Stage, rubric: Rubric) -> None:
    labels = {dimension.key: dimension.label for dimension in stage.dimensions}
    for key, value in values.items():
        if key not in labels:
            raise RefusedError(
                "dimension", f"{stage.label} is graded on {', '.join(labels.values())}, and nothing else."
            )
        if fault := rubric.fault(value):
            raise RefusedError("value", f"{labels[key]}: {fault}")


def _check_not_public(run: Run, grades: list[Grade]) -> None:
    """A grade that a public state may contain stands while judging is open, or its change would show who drew it."""
    if grades and is_judged_blind(run) and is_in_public(run, NAME, min(grade.pk for grade in grades)):
        raise RefusedError(
            "public",
            "The public leaderboard already counts these grades, so they stay as they are until judging closes.",
        )


def _withdraw(grades: list[Grade], by: User, moment: datetime) -> None:
    keys = [grade.pk for grade in grades]
    standing = Grade.objects.standing().filter(pk__in=keys)
    if standing.update(withdrawn_at=moment, withdrawn_by=by) != len(keys):
        raise StaleSeatError


def _settle(item: GradeItem, stage: Stage, standing: Mapping[str, float], moment: datetime) -> None:
    """Keep the list's counts with the grades, and say that the ranking is stale. A reported drawing is not counted."""
    whole = all(dimension.key in standing for dimension in stage.dimensions)
    sheet, was = item.seat.sheet, item.graded_at is not None
    change = 0 if item.reported_at else whole - was
    item.graded_at = moment if whole else None
    GradeItem.objects.filter(pk=item.pk).update(graded_at=item.graded_at)
    step_sheet(sheet, graded=sheet.graded + change, last_graded_at=moment)
    mark_stale_after_commit(item.seat.run_id)


@retried
def undo_grade(*, seat: Seat, judge: User, step: int) -> GradeItem | None:
    """Take back the judge's newest change, and let what it replaced stand again; None where there is none, or it was done."""
    _check_allowed(seat, judge)
    newest = seat.grades.standing().filter(imported=False).order_by("-id").first()
    sheet = GradeSheet.objects.filter(seat=seat).first()
    if newest is None or sheet is None or sheet.steps != step:
        return None
    item = GradeItem.objects.select_related("seat__run", "seat__sheet").get(seat=seat, sample=newest.sample_id)
    change = seat.grades.standing().filter(sample=newest.sample_id, graded_at=newest.graded_at)
    batch, moment = list(change.select_related("replaces")), now()
    _check_not_public(seat.run, batch)
    _withdraw(batch, judge, moment)
    Grade.objects.bulk_create(
        Grade(
            run_id=old.run_id,
            seat=seat,
            sample_id=old.sample_id,
            dimension=old.dimension,
            value=old.value,
            graded_at=moment,
            replaces_id=old.replaces_id,
            kept_out=old.kept_out,
        )
        for old in (grade.replaces for grade in batch)
        if old is not None
    )
    _settle(item, stage_of(item), standing_values(item), moment)
    return item


@retried
def report_item(*, judge: User, code: str, reason: str, note: str = "") -> GradeItem:
    """Take the drawing off the judge's list and tell the curators why; grades given before stay."""
    item = own_item(judge, code)
    _check_allowed(item.seat, judge)
    recent = GradeItem.objects.filter(seat__judge=judge, reported_at__gte=now() - timedelta(hours=1))
    refuse_many_reports(recent.exclude(pk=item.pk).count())
    sheet, unreported = item.seat.sheet, GradeItem.objects.filter(pk=item.pk, reported_at=None)
    if unreported.update(reported_at=now(), reason=reason, note=note or item.note, decision=""):
        step_sheet(sheet, items=sheet.items - 1, graded=sheet.graded - (item.graded_at is not None))
    return item
