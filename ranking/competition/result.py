"""The document of a competition."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ranking.automatic.result import PeopleResult
from ranking.models import Fit
from ranking.results import AnswersResult, EntrantRow, RunFacts, VerdictsResult


class ProgramScore(EntrantRow):
    """A program out of 100; a disqualified one has no score. `prompt` has its score on each model."""

    score: float | None
    prompt: dict[str, float] | None
    total: float | None
    normalised: float | None
    low: float | None
    high: float | None
    rank: int | None
    winner: bool
    baseline: bool
    disqualified: str
    note: str
    prompt_length: int
    n: int
    levels: int
    stability: float | None
    similarity: float | None


class LetterWeight(TypedDict):
    model: str
    target: str
    weight: float
    stability: float
    similarity: float
    diversity: float


class LetterScore(TypedDict):
    program: str
    model: str
    target: str
    stability: float
    similarity: float
    diversity: float
    char: float


class CompetitionResult(TypedDict):
    """What a stored fit holds; where no level is measured yet, without the tables."""

    backend: str
    trials: int
    votes: int
    unmeasured: int
    answers: NotRequired[AnswersResult]  # fits of earlier releases lack it
    waiting: list[str]
    overall: list[ProgramScore]
    categories: dict[str, list[ProgramScore]]
    run: RunFacts
    competition: NotRequired[float]
    verdicts: NotRequired[VerdictsResult]
    models: NotRequired[list[str]]
    targets: NotRequired[list[str]]
    weights: NotRequired[list[LetterWeight]]
    chars: NotRequired[list[LetterScore]]
    people: NotRequired[PeopleResult | None]


def result_of(fit: Fit) -> CompetitionResult:
    return fit.result
