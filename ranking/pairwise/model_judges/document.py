"""What a fit says about model judges, as JSON. docs/model-judges.md explains every key."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypedDict

from ranking.results import EstimateResult, RankedRow
from ranking.statistics.model_judges.report import JudgeStudy, ModelStudy

TABLE = ("entrant", "rating", "low", "high", "rank", "rank_low", "rank_high", "p_best")


class CorrectedRow(RankedRow):
    """One entrant in the rating with corrected votes."""

    p_best: float | None


class CorrectedResult(TypedDict):
    """`reason` says why there is no corrected rating, and is empty where there is one."""

    reason: str
    votes: int
    shared: int
    pairs: int
    explained: float
    saved: float
    worth: float
    trust: dict[str, float]
    overall: list[CorrectedRow]


class AmongPeopleResult(TypedDict):
    pairs: int
    raw: EstimateResult
    kappa: EstimateResult
    alpha: EstimateResult
    ac1: EstimateResult


class CategoryAgreement(TypedDict):
    category: str
    votes: int
    raw: EstimateResult


class WithPeopleResult(TypedDict):
    votes: int
    pairs: int
    people: int
    raw: EstimateResult
    kappa: EstimateResult
    alpha: EstimateResult
    ac1: EstimateResult
    decided: EstimateResult
    decided_votes: int
    among_people: AmongPeopleResult
    by_category: list[CategoryAgreement]


class HabitsResult(TypedDict):
    answers: int
    pairs: int
    first: EstimateResult
    contradicts: EstimateResult
    both_orders: int
    ties: EstimateResult
    fails: EstimateResult
    people_ties: EstimateResult
    people_fails: EstimateResult
    own_family: EstimateResult
    own_votes: int


class WorstResult(TypedDict):
    """Scores are of the first drawing: 1 if it was always preferred, 0 if never."""

    prompt: str
    first: str
    second: str
    first_attempt: int
    second_attempt: int
    people_votes: int
    people_score: float
    model_score: float
    reasons: list[str]


class ModelJudgeResult(TypedDict):
    judge: str
    model: str
    version: int
    simulated: bool
    answers: int
    unreadable: int
    cost_nano: int | None
    cost_each_nano: float | None
    agreement: WithPeopleResult
    habits: HabitsResult
    worst: list[WorstResult]


class PickedResult(TypedDict):
    """What people said about pairs that were picked for them (`differs` or `hard`): apart from every other figure.

    `with_judge` is the share of decided answers for the drawing that the judge prefers, `undecided` that of the others.
    """

    why: str
    judge: str
    pairs: int
    answers: int
    people: int
    with_judge: EstimateResult
    undecided: EstimateResult


class ModelJudgesResult(TypedDict):
    judges: list[ModelJudgeResult]
    corrected: CorrectedResult


def models_dict(study: ModelStudy) -> ModelJudgesResult:
    corrected = study.corrected
    names = [each.judge.name for each in study.judges]
    return {
        "judges": [_judge(each) for each in study.judges],
        "corrected": {
            "reason": corrected.reason,
            "votes": corrected.votes,
            "shared": corrected.shared,
            "pairs": corrected.pairs,
            "explained": corrected.explained,
            "saved": corrected.saved,
            "worth": corrected.worth,
            "trust": dict(zip(names, corrected.trust.tolist(), strict=True)),
            "overall": [_row(vars(row)) for row in study.standings],
        },
    }


def _row(standing: dict[str, Any]) -> Any:
    return {key: standing[key] for key in TABLE}


def _judge(study: JudgeStudy) -> Any:
    judge, agreement = study.judge, asdict(study.agreement)
    agreement["by_category"] = [
        {"category": name, "votes": votes, "raw": asdict(raw)} for name, votes, raw in study.agreement.by_category
    ]
    return {
        "judge": judge.name,
        "model": judge.model,
        "version": judge.version,
        "simulated": judge.simulated,
        "answers": judge.answers,
        "unreadable": judge.unreadable,
        "cost_nano": judge.cost_nano,
        "cost_each_nano": judge.cost_nano / judge.priced if judge.cost_nano is not None and judge.priced else None,
        "agreement": agreement,
        "habits": asdict(study.habits),
        "worst": [asdict(case) | {"reasons": list(case.reasons)} for case in study.worst],
    }
