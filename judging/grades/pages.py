"""A drawing as a judge grades it: the subject, the dimensions and own grades, and nothing that tells whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from generation.models import Prompt, Run
from generation.suites.suite import Dimension, Rubric, Stage
from judging.grades.grading import standing_values
from judging.grades.sheets import rubric_of, showable, stage_of
from judging.models import GradeItem, GradeSheet, Seat
from judging.rules import rules_of

PREFIX = "value-"


@dataclass(frozen=True)
class Row:
    """One dimension with the judge's grade of it, if there is one."""

    dimension: Dimension
    value: float | None

    @property
    def name(self) -> str:
        return PREFIX + self.dimension.key


def rows_of(stage: Stage, values: Mapping[str, float]) -> list[Row]:
    return [Row(dimension, values.get(dimension.key)) for dimension in stage.dimensions]


def weighted(stage: Stage, values: Mapping[str, float]) -> float | None:
    """The drawing's score by these grades; None while a dimension lacks one."""
    if any(dimension.key not in values for dimension in stage.dimensions):
        return None
    total = sum(dimension.weight for dimension in stage.dimensions)
    return sum(values[dimension.key] * dimension.weight for dimension in stage.dimensions) / total


def read_values(fields: Mapping[str, str]) -> dict[str, Any]:
    """The grades of a posted form: numbers where they are some, else the text, to be refused by name."""
    return {
        name.removeprefix(PREFIX): _number(text.strip())
        for name, text in fields.items()
        if name.startswith(PREFIX) and text.strip()
    }


def _number(text: str) -> float | str:
    try:
        return float(text.replace(",", ".")) if len(text) <= 20 else text
    except ValueError:
        return text


def item_context(item: GradeItem) -> dict[str, Any]:
    seat, stage = item.seat, stage_of(item)
    values = standing_values(item)
    return {
        "run": seat.run,
        "item": item,
        "stage": stage,
        "rubric": rubric_of(seat.run.code),
        "rows": rows_of(stage, values),
        "title": title_of(item.sample.prompt),
        "description": item.sample.prompt.facts.get("description", ""),
        "reference": item.sample.prompt.code if item.sample.prompt.facts.get("has_image") else "",
        "text": drawing_text(item),
        "progress": progress(seat),
        "previous": showable(seat).filter(order__lt=item.order).order_by("-order").only("code").first(),
        "following": showable(seat).filter(order__gt=item.order).order_by("order").only("code").first(),
        "can_undo": can_undo(seat),
        "step": seat.sheet.steps,
    }


def title_of(prompt: Prompt) -> str:
    return prompt.subject or prompt.text


def drawing_text(item: GradeItem) -> str | None:
    """None where the format is shown as a picture."""
    return item.sample.drawing if item.seat.run.drawing_format.shown_as == "text" else None


def can_undo(seat: Seat) -> bool:
    return seat.grades.standing().filter(imported=False).exists()


def progress(seat: Seat) -> dict[str, int]:
    sheet = GradeSheet.objects.filter(seat=seat).first()
    return {"done": sheet.graded, "total": sheet.items} if sheet else {"done": 0, "total": 0}


def exact_progress(seat: Seat) -> dict[str, int]:
    """As `progress`, without drawings that were withheld since the list was made."""
    items = showable(seat)
    return items.aggregate(done=Count("id", filter=~Q(graded_at=None)), total=Count("id"))


def align_context(seat: Seat, stage: Stage) -> dict[str, Any]:
    """The judge's own graded drawings of one stage, the best first."""
    items = showable(seat).filter(stage=stage.key).exclude(graded_at=None)
    items = items.select_related("sample__prompt", "seat__run").defer(
        "sample__raw", "sample__answer", "seat__run__config"
    )
    values: dict[int, dict[str, float]] = {}
    standing = seat.grades.standing().filter(sample__prompt__category=stage.key)
    for sample, dimension, value in standing.values_list("sample_id", "dimension", "value"):
        values.setdefault(sample, {})[dimension] = value
    cards: list[dict[str, Any]] = [
        {
            "item": item,
            "title": title_of(item.sample.prompt),
            "text": drawing_text(item),
            "rows": rows_of(stage, values.get(item.sample_id, {})),
            "score": weighted(stage, values.get(item.sample_id, {})),
        }
        for item in items
    ]
    cards.sort(key=lambda card: (-(card["score"] or 0), card["title"], card["item"].order))
    return {
        "run": seat.run,
        "stage": stage,
        "rubric": rubric_of(seat.run.code),
        "tabs": stage_tabs(seat),
        "cards": cards,
        "can_undo": can_undo(seat),
        "step": seat.sheet.steps if hasattr(seat, "sheet") else 0,
    }


def stage_tabs(seat: Seat) -> list[tuple[Stage, int]]:
    """Each stage with the number of drawings the judge has graded in it."""
    graded = showable(seat).exclude(graded_at=None).order_by()
    counts = dict(graded.values_list("stage").annotate(Count("id")))
    return [(stage, counts.get(stage.key, 0)) for stage in rubric_of(seat.run.code).stages]


@dataclass(frozen=True)
class JudgeProgress:
    """A judge's progress as curators see it."""

    seat: Seat
    graded: int
    items: int
    changes: int
    mean: float | None


def judge_progress(run: Run, rubric: Rubric) -> list[JudgeProgress]:
    """The run's judges, the busiest first."""
    seats = run.seats.select_related("judge", "sheet").defer("plan").order_by("id")
    counted = seats.annotate(changes=Count("grades", filter=~Q(grades__withdrawn_at=None)))
    means = judge_means(run, rubric)
    judges = []
    for seat in counted:
        sheet = getattr(seat, "sheet", None)
        graded = sheet.graded if sheet else means.get(seat.pk, (0, 0.0))[0]
        mean = means[seat.pk][1] if seat.pk in means else None
        judges.append(JudgeProgress(seat, graded, sheet.items if sheet else 0, seat.changes, mean))
    return sorted(judges, key=lambda judge: -judge.graded)


def judge_means(run: Run, rubric: Rubric) -> dict[int, tuple[int, float]]:
    """(drawings, mean score) of each seat, over drawings graded on every dimension."""
    drawings: dict[tuple[int, int, str], dict[str, float]] = {}
    rows = run.grades.standing().order_by()
    for seat, sample, stage, dimension, value in rows.values_list(
        "seat_id", "sample_id", "sample__prompt__category", "dimension", "value"
    ):
        drawings.setdefault((seat, sample, stage), {})[dimension] = value
    scores: dict[int, list[float]] = {}
    for (seat, _, stage), values in drawings.items():
        score = weighted(rubric.stage(stage), values)
        if score is not None:
            scores.setdefault(seat, []).append(score)
    return {seat: (len(own), sum(own) / len(own)) for seat, own in scores.items()}


def home_part(seats: list[Seat]) -> dict[str, Any]:
    """What a judge's first page shows of runs that are graded."""
    return {"rows": [(seat, rules_of(seat.run.code).judging, progress(seat)) for seat in seats]}
