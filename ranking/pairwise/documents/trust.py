"""How far the numbers may be trusted: agreement, ties, connections, stability, robustness, and the model's fit."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ranking.results import EstimateResult


class IntervalsResult(TypedDict):
    method: Literal["two-way", "judge", "prompt", "iid"]
    df: float | None
    quantile: float | None
    design_effect: float | None
    judge_sd: float
    prompt_sd: float


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
