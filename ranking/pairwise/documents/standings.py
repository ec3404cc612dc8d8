"""Where entrants stand: by all votes, in each judge's own, by activity, by answers; and what drawings they rest on."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ranking.results import EntrantRow, RankedRow, VerdictsResult


class StandingRow(RankedRow):
    """One entrant in one scope; null where a bound does not exist."""

    se: float | None
    iid_low: float | None
    iid_high: float | None
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


class ActivityClass(TypedDict):
    votes_from: int
    weight: float


class ActivityResult(TypedDict):
    """What a vote counts by its judge's number of votes, and the table had all counted alike."""

    weights: list[ActivityClass]
    unweighted: list[StandingRow]


class EveryoneResult(TypedDict):
    votes: int
    overall: list[StandingRow]


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


class AnswerRow(RankedRow):
    """One entrant in the rating of the answers."""

    answers: int
    valid: int


class AnswerRatingsResult(TypedDict):
    overall: list[AnswerRow]
    verdicts: VerdictsResult


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
