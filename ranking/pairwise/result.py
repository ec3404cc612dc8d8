"""The document of a pairwise fit, and what its pages read from it. docs/statistics.md explains every key."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

import numpy as np

from judging.rules import rules_of
from ranking.models import Fit
from ranking.pairwise.documents.standings import (
    ActivityResult,
    AnswerRatingsResult,
    CategoryBasis,
    EveryoneResult,
    JointResult,
    JudgeResult,
    SampleRateResult,
    StandingRow,
)
from ranking.pairwise.documents.trust import (
    AgreementResult,
    ConnectivityResult,
    IntervalsResult,
    ModelFitResult,
    RobustnessResult,
    SideBiasResult,
    StabilityResult,
    TiesResult,
)
from ranking.pairwise.model_judges.document import ModelJudgesResult, PickedResult
from ranking.pairwise.panels.document import ArenaResult, GroupingResult
from ranking.results import AnswersResult, ConsistencyResult, RunFacts, VerdictsResult


class SettingsResult(TypedDict):
    method: str
    ties: str
    fails: str
    weights: dict[str, float]
    activity: str
    until: str | None
    level: float
    margin: float
    judge_minimum: int
    seed: int
    draws: int
    ridge: float
    category_strength: float | None
    judge_strength: float | None
    votes: int
    skipped_lines: int


class PairsResult(TypedDict):
    """Lists [K][K] in the order of `entrants`: wins of row over column, ties and fails of each pair."""

    entrants: list[str]
    wins: list[list[int]]
    ties: list[list[int]]
    fails: list[list[int]]


class CostResult(TypedDict):
    nano: int
    answers: int
    each_nano: float | None
    unknown: int


class HistoryPoint(TypedDict):
    votes: int
    at: float
    ratings: dict[str, tuple[float, float | None, float | None]]  # rating, low, high


class EntrantFacts(TypedDict):
    best: list[tuple[str, int, float, int, float]]  # prompt, attempt, points, votes, strength
    worst: list[tuple[str, int, float, int, float]]
    prompts: list[tuple[str, int, float]]  # prompt, votes, strength


class CovarianceResult(TypedDict):
    """How sure the ratings are together: a matrix in squared points, and its degrees of freedom (null: very many)."""

    entrants: list[str]
    points: list[list[float]]
    df: float | None


class FontCheckResult(TypedDict):
    """Spearman's correlation, over drawings, of robustness with the share of votes that marked a break."""

    drawings: int
    marks: int
    value: float | None
    low: float | None
    high: float | None


class PairwiseFacts(RunFacts):
    """`font_marks`, `font_check`, `history` and `entrants` need every vote, so only a full fit has them."""

    pairs: PairsResult
    costs: dict[str, CostResult]
    covariance: NotRequired[CovarianceResult]  # fits of earlier releases lack it
    simulated: int
    model_judges: NotRequired[int]  # how many there are
    studies: NotRequired[int]  # that were ever opened
    everyone: NotRequired[EveryoneResult]
    aside: NotRequired[int]  # judges set aside or counted in part, an open arena's apart
    arena: NotRequired[ArenaResult]
    groups: NotRequired[list[GroupingResult]]  # a full fit's
    picked: NotRequired[list[PickedResult]]  # a full fit's: answers about pairs that a curator picked
    font_marks: NotRequired[dict[str, list[int]]]
    font_check: NotRequired[FontCheckResult | None]
    history: NotRequired[list[HistoryPoint]]
    entrants: NotRequired[dict[str, EntrantFacts]]


class PairwiseDocument(TypedDict):
    """What `analyse` writes of a file of votes."""

    votes: int
    judges_count: int
    prompts_count: int
    settings: SettingsResult
    notes: list[str]
    intervals: IntervalsResult
    overall: list[StandingRow]
    categories: dict[str, list[StandingRow]]
    judges: dict[str, JudgeResult]
    agreement: AgreementResult
    side_bias: SideBiasResult
    ties: TiesResult
    consistency: dict[str, ConsistencyResult]
    connectivity: ConnectivityResult
    activity: NotRequired[ActivityResult]  # fits of earlier releases lack these and `model_fit`
    verdicts: NotRequired[VerdictsResult]
    stability: StabilityResult
    robustness: RobustnessResult
    model_fit: NotRequired[ModelFitResult]
    joint: NotRequired[JointResult | None]
    samples: dict[str, SampleRateResult]
    category_basis: NotRequired[dict[str, CategoryBasis]]
    category_samples: NotRequired[dict[str, dict[str, SampleRateResult]]]
    answer_ratings: NotRequired[AnswerRatingsResult | None]  # null without samples, or where entrants never met
    answers: NotRequired[AnswersResult]  # of a run; a file of votes does not know
    model_judges: NotRequired[ModelJudgesResult]  # where models judged, too; in a full fit


class PairwiseResult(PairwiseDocument):
    """What a stored fit of a run holds."""

    run: PairwiseFacts


def result_of(fit: Fit) -> PairwiseResult:
    return fit.result


def covariance_of(result: PairwiseResult, names: list[str]) -> tuple[Any, float] | None:
    """The joint uncertainty of these entrants, NaN between groups that never met.

    None where a rating has no limit, or in a fit of an earlier release.
    """
    joint = result["run"].get("covariance")
    if joint is None or not set(names) <= set(joint["entrants"]):
        return None
    places = [joint["entrants"].index(name) for name in names]
    points = np.array(joint["points"])[np.ix_(places, places)]
    groups = {name: n for n, island in enumerate(result["connectivity"]["islands"]) for name in island}
    island = np.array([groups.get(name, -1) for name in names])
    points = np.where(island[:, None] == island[None, :], points, np.nan)
    return points, np.inf if joint["df"] is None else joint["df"]


def full_of(fit: Fit) -> Fit | None:
    """The fit itself where it is full, else the newest full one of its run."""
    return fit if fit.kind == Fit.Kind.FULL else Fit.objects.newest(fit.run, fit.protocol, kind=Fit.Kind.FULL)


def scope_rows(result: PairwiseDocument, scope: str) -> list[StandingRow]:
    """The entrants with votes; `scope` is a category's key or empty for the whole."""
    rows = result["categories"].get(scope, []) if scope else result["overall"]
    return [row for row in rows if row["votes"]]


def category_tabs(fit: Fit) -> list[tuple[str, str]]:
    return rules_of(fit.run.code).in_order(result_of(fit)["categories"])
