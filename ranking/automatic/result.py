"""The document of an automatic fit, and of people's votes on the same drawings."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ranking.models import Fit
from ranking.results import AnswersResult, EntrantRow, EstimateResult, RunFacts, ScoreRow, VerdictsResult


class CategoryScore(ScoreRow):
    category: str
    samples: int
    prompts: int
    valid: NotRequired[float]  # fits of earlier releases lack it


class EntrantScore(ScoreRow):
    """Beside these keys a row has the mean of each part of the score, by the part's key."""

    samples: int
    prompts: int
    valid: float
    variance: float | None
    sd: float | None
    variance_low: float | None
    variance_high: float | None


class StageCount(EntrantRow):
    stage: str
    samples: int


class ReasonCount(EntrantRow):
    reason: str
    samples: int


class PromptScore(EntrantRow):
    prompt: str
    category: str
    score: float
    samples: int


class RatedEntrant(EntrantRow):
    score: float
    rating: float


class DisputedDrawing(TypedDict):
    """A drawing by its code, with its place among all by score and by people."""

    sample: str
    score: float
    liked: float
    votes: int
    score_place: float
    liked_place: float
    gap: float


class PeopleResult(TypedDict):
    """The score compared with people's votes."""

    votes: int
    entrants: list[RatedEntrant]
    kendall: EstimateResult
    spearman: EstimateResult
    count: int
    drawings: list[DisputedDrawing]


class AutomaticResult(TypedDict):
    """What a stored fit holds; where nothing is scored yet, without the tables."""

    backend: str
    by_format: bool
    votes: int
    unmeasured: int
    answers: NotRequired[AnswersResult]  # fits of earlier releases lack it
    overall: list[EntrantScore]
    categories: dict[str, list[CategoryScore]]
    run: RunFacts
    weights: NotRequired[dict[str, float]]
    stages: NotRequired[list[StageCount]]
    reasons: NotRequired[list[ReasonCount]]
    prompts: NotRequired[list[PromptScore]]
    verdicts: NotRequired[VerdictsResult]
    category_verdicts: NotRequired[dict[str, VerdictsResult]]
    people: NotRequired[PeopleResult | None]


def result_of(fit: Fit) -> AutomaticResult:
    return fit.result
