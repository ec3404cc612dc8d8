"""Simulated judges who grade, for demos and teaching. They grade through the same verbs as people, on marked seats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Event, Run
from judging.grades.grading import grade_sample
from judging.grades.sheets import open_sheet, rubric_of, showable, stage_of
from judging.models import GradeItem, Seat
from ranking.simulated.judges import Truth, make_finish, names_of, rounded, seat_simulated

DEMO_JUDGES = 5
BEST, WORST = 0.8, 0.35  # shares of the scale for the first and the last entrant
FINISH = 0.12  # share of the scale for a picture a standard deviation better finished, to the judges of a demo run
SPREAD = {"drawing": 0.08, "subject": 0.06, "dimension": 0.05, "severity": 0.06, "luck": 0.05}


def simulate_grades(
    run: Run, *, judges: int = 5, seed: int = 1, finish: float = 0.0, progress: Progress = unwatched
) -> int:
    """Seat the judges, let each grade the whole of a list, and say how many drawings were graded.

    Entrants get weaker in the order of the suite's file, drawings and subjects differ, and judges are more or less strict.
    `finish` says how much it matters to them how well a picture is finished.
    """
    if run.judging_state != Run.Judging.OPEN:
        raise ValueError(f"Judging of run {run.code} is {run.get_judging_state_display()}; open it first.")
    seats = [seat_simulated(run, number) for number in range(1, judges + 1)]
    entrants = list(run.entrants.order_by("id").values_list("id", flat=True))
    step = (WORST - BEST) / max(len(entrants) - 1, 1)
    truth = Truth(seed, {pk: BEST + step * place for place, pk in enumerate(entrants)}, {})
    if finish:
        truth = replace(truth, finish=make_finish(run, finish))
    severity = {seat.pk: SPREAD["severity"] * truth.chance("severity", number) for number, seat in enumerate(seats)}
    done = 0
    for seat in seats:
        for _ in grade_list(seat, truth, severity[seat.pk]):
            done += 1
            progress(done, 0)
    Event.objects.create(
        run=run,
        verb=Event.Verb.SIMULATE_GRADES,
        subject=f"{done} drawings graded by {judges} simulated judges",
        facts={
            "seed": seed,
            "levels": dict(zip(names_of(run), map(rounded, truth.strengths.values()), strict=True)),
            "severity": {str(seat): rounded(severity[seat.pk]) for seat in seats},
        },
    )
    return done


def grade_list(seat: Seat, truth: Truth, severity: float) -> Iterator[GradeItem]:
    """Grade all of a judge's list, drawing by drawing."""
    open_sheet(seat.pk)
    assert seat.judge is not None  # simulated judges have accounts
    items = showable(seat).filter(graded_at=None).order_by("order").select_related("sample", "seat__run")
    for item in items.defer("seat__run__config", "sample__raw", "sample__answer"):
        grade_sample(judge=seat.judge, code=item.code, values=choose(item, truth, severity))
        yield item


def choose(item: GradeItem, truth: Truth, severity: float) -> dict[str, float]:
    """A grade for each dimension: the entrant's level, this drawing's and subject's own, the judge's severity, and luck."""
    rubric, sample = rubric_of(item.seat.run.code), item.sample
    drawing = (sample.prompt_id, sample.entrant_id, sample.attempt)
    level = truth.strengths[sample.entrant_id] + truth.finish.get(sample.pk, 0.0) + severity
    level += SPREAD["drawing"] * truth.chance("drawing", *drawing)
    level += SPREAD["subject"] * truth.chance("subject", sample.prompt_id)
    steps = round((rubric.high - rubric.low) / rubric.step)
    values = {}
    for dimension in stage_of(item).dimensions:
        own = SPREAD["dimension"] * truth.chance(dimension.key, *drawing)
        luck = SPREAD["luck"] * truth.chance("luck", item.seat.pseudonym, dimension.key, *drawing)
        share = min(max(level + own + luck, 0.0), 1.0)
        values[dimension.key] = rubric.low + rubric.step * round(share * steps)
    return values


def grade_demo_run(run: Run) -> None:
    """The grades of a demo run."""
    simulate_grades(run, judges=DEMO_JUDGES, finish=FINISH)
