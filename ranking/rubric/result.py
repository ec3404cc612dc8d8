"""The document of a rubric fit."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ranking.models import Fit
from ranking.results import (
    AnswersResult,
    ConsistencyResult,
    EntrantRow,
    EstimateResult,
    RunFacts,
    ScoreRow,
    VerdictsResult,
)
from ranking.rubric.model_judges.document import GradersResult


class EntrantResult(EntrantRow):
    """`total` is out of 100, stages and dimensions are on the rubric's own scale."""

    rank: int | None
    total: EstimateResult
    stages: dict[str, EstimateResult]
    dimensions: dict[str, dict[str, float | None]]
    drawings: int
    graded: int
    invalid: int
    pending: int
    judges: int
    consistency: ConsistencyResult


class SeverityResult(TypedDict):
    judge: str
    drawings: int
    shared: int
    mean: float
    offset: float | None


class StageResult(TypedDict):
    label: str
    weight: float


class DrawingPoint(EntrantRow):
    """A graded drawing: its score out of 100 against its anchors."""

    subject: str
    attempt: int
    code: str
    visual: float
    anchors: float


class StructureResult(TypedDict):
    """Means over an entrant's valid drawings; `visual` over the graded ones."""

    bytes: float
    tags: float
    advanced_share: float
    anchors_path: float
    anchors_all: float
    drawings: int
    visual: float | None


class RubricFacts(RunFacts):
    simulated: int
    model_judges: NotRequired[int]  # how many there are
    waiting: int
    points: NotRequired[list[DrawingPoint]]
    structure: NotRequired[dict[str, StructureResult]]


class RubricDocument(TypedDict):
    """What `analyse` writes of a file of grades."""

    scores: list[EntrantResult]
    judges: list[SeverityResult]
    icc1: EstimateResult
    icck: EstimateResult
    icc_targets: int
    icc_judges: int
    alpha: EstimateResult
    alpha_units: int
    missing: str
    grades: int
    unfinished: int
    notes: list[str]
    stages: dict[str, StageResult]
    verdicts: NotRequired[VerdictsResult]  # fits of earlier releases lack these
    category_verdicts: NotRequired[dict[str, VerdictsResult]]
    model_judges: NotRequired[GradersResult]  # where models graded, too


class RubricResult(RubricDocument):
    """What a stored fit of a run holds; its categories are the stages."""

    overall: list[ScoreRow]
    categories: dict[str, list[ScoreRow]]
    votes: int
    answers: NotRequired[AnswersResult]  # fits of earlier releases lack it
    run: RubricFacts


def result_of(fit: Fit) -> RubricResult:
    return fit.result
