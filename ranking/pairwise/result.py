"""The document of a pairwise fit, and what its pages read from it. docs/statistics.md explains every key."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from judging.rules import rules_of
from ranking.models import Fit
from ranking.pairwise.model_judges.document import ModelJudgesResult, PickedResult
from ranking.pairwise.panels.document import ArenaResult, GroupingResult
from ranking.results import (
    AnswersResult,
    ConsistencyResult,
    EntrantRow,
    EstimateResult,
    RunFacts,
    VerdictsResult,
)


class StandingRow(EntrantRow):
    """One entrant in one scope; null where a bound does not exist."""

    rating: float
    se: float | None
    low: float | None
    high: float | None
    iid_low: float | None
    iid_high: float | None
    rank: int
    rank_low: int
    rank_high: int
    arena_rank: int
    p_best: float | None
    votes: int
    wins: int
    losses: int
    ties: int
    fails: int
    fail_rate: float | None
    fail_low: float | None
    fail_high: float | None
    unbounded: bool
    component: int
    raw_rating: NotRequired[float | None]  # in categories


class OwnStanding(EntrantRow):
    """One entrant in one judge's own ranking."""

    rating: float
    se: float
    low: float
    high: float
    rank: int
    votes: int
    wins: int
    losses: int
    ties: int
    fails: int


class JudgeResult(TypedDict):
    votes: int
    shown: bool
    reason: str
    weight: float
    vote_weight: float
    reliability: float
    reliability_low: float
    reliability_high: float
    left_share: float | None
    tie_share: float | None
    repeat_agreement: float | None
    repeats: int
    median_ms: float | None
    p5_ms: float | None
    longest_run: int | None
    flags: list[str]
    opposite_taste: NotRequired[bool]  # fits of earlier releases lack this and `infit`
    infit: NotRequired[float | None]
    standings: list[OwnStanding]


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


class IntervalsResult(TypedDict):
    method: Literal["two-way", "judge", "prompt", "iid"]
    df: float | None
    quantile: float | None
    design_effect: float | None
    judge_sd: float
    prompt_sd: float


class ActivityClass(TypedDict):
    votes_from: int
    weight: float


class ActivityResult(TypedDict):
    """What a vote counts by its judge's number of votes, and the table had all counted alike."""

    weights: list[ActivityClass]
    unweighted: list[StandingRow]


class CohenResult(TypedDict):
    judges: list[str]
    units: int
    kappa: float | None


class RepeatsResult(EstimateResult):
    repeats: int


# "self" is no name for an attribute.
class AgreementResult(TypedDict):
    units: int
    alpha_nominal: NotRequired[EstimateResult]
    alpha_interval: NotRequired[EstimateResult]
    ac1: NotRequired[EstimateResult]
    fleiss: NotRequired[EstimateResult]
    raw: NotRequired[EstimateResult]
    cohen: NotRequired[list[CohenResult]]
    self: NotRequired[RepeatsResult]


class SideBiasResult(TypedDict):
    logit: float | None
    low: float | None
    high: float | None


class TiesResult(TypedDict):
    nu: float | None
    ratings: dict[str, float]


class ConnectivityResult(TypedDict):
    connected: bool
    components: list[list[str]]
    islands: list[list[str]]


class NeighboursResult(TypedDict):
    upper: str
    lower: str
    gap: float
    half_width: float | None
    state: str
    status: Literal["separated", "tied", "open"]
    votes_needed: int | None
    judges_needed: int | None
    prompts_needed: int | None


class StabilityResult(TypedDict):
    stable: bool
    votes_needed: int | None
    judges_needed: int | None
    prompts_needed: int | None
    pairs: list[NeighboursResult]


class WithoutJudgeResult(TypedDict):
    judge: str
    first: str
    ranks_moved: int
    largest_move: int
    mover: str | None
    largest_change: float


class FewestVotesResult(TypedDict):
    votes: int
    share: float
    first: str
    instead: str


class RobustnessResult(TypedDict):
    first: str | None
    leave_one_judge_out: list[WithoutJudgeResult]
    first_holds_without_any_judge: bool | None
    fewest_votes: FewestVotesResult | None


class MisfitResult(TypedDict):
    winner: str
    loser: str
    share: float
    expected: float
    p_value: float


class ModelFitResult(TypedDict):
    separation_reliability: float | None
    split_half_reliability: NotRequired[float | None]
    entrant_infit: NotRequired[dict[str, float | None]]
    misfits: list[MisfitResult]


class JointRow(TypedDict):
    entrant: str
    rating: float
    low: float
    high: float


class JointResult(TypedDict):
    fails: float
    slope: float
    slope_error: float
    ratings: list[JointRow]


class SampleRateResult(TypedDict):
    samples: int
    valid: int
    valid_rate: float | None
    low: float | None
    high: float | None
    robustness: float | None
    measured: int
    fonts: dict[str, float]
    coverage: NotRequired[float | None]  # fits from before pictures were compared have it as `robustness`
    similarity: NotRequired[dict[str, float]]


class CategoryBasis(TypedDict):
    """How many judges voted in a category, and on how many of its prompts."""

    judges: int
    prompts: int


class AnswerRow(EntrantRow):
    """One entrant in the rating of the answers."""

    rating: float
    low: float | None
    high: float | None
    rank: int
    rank_low: int
    rank_high: int
    answers: int
    valid: int


class AnswerRatingsResult(TypedDict):
    overall: list[AnswerRow]
    verdicts: VerdictsResult


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


class EveryoneResult(TypedDict):
    votes: int
    overall: list[StandingRow]


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
