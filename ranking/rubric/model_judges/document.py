"""What a fit says about model judges that grade, as JSON. docs/model-judges.md explains every key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypedDict

from ranking.results import EstimateResult
from ranking.rubric.model_judges.study import GraderStudy


class AmongPeopleResult(TypedDict):
    """Who of two people graded higher is only a matter of names, so that figure is the model's alone."""

    grades: int
    drawings: int
    people: int
    alpha: EstimateResult
    order: EstimateResult
    apart: EstimateResult


class GradeAgreementResult(AmongPeopleResult):
    higher: EstimateResult


class DimensionResult(TypedDict):
    """Stage and dimension are empty for the drawing's score."""

    stage: str
    dimension: str
    with_people: GradeAgreementResult
    among_people: AmongPeopleResult


class WorstGradeResult(TypedDict):
    entrant: str
    stage: str
    subject: str
    attempt: int
    dimension: str
    people: int
    people_grade: float
    model_grade: float
    reason: str


class GraderResult(TypedDict):
    judge: str
    model: str
    version: int
    simulated: bool
    answers: int
    unreadable: int
    cost_nano: int | None
    cost_each_nano: float | None
    dimensions: list[DimensionResult]
    spread: float | None
    people_spread: float | None
    own_family: EstimateResult
    own_drawings: int
    worst: list[WorstGradeResult]


class GradersResult(TypedDict):
    judges: list[GraderResult]


def graders_dict(studies: Sequence[GraderStudy]) -> GradersResult:
    return {"judges": [_judge(study) for study in studies]}


def _judge(study: GraderStudy) -> Any:
    record = asdict(study)
    priced = record.pop("priced")
    record["cost_each_nano"] = study.cost_nano / priced if study.cost_nano is not None and priced else None
    for row in record["dimensions"]:
        del row["among_people"]["higher"]
    return record
