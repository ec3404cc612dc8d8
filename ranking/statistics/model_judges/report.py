"""Model judges compared with people: every figure about each of them, and people's ratings with their votes corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsite.lib.model_families import family_of
from ranking.statistics.model_judges.agreement import WithPeople, agreement_with_people
from ranking.statistics.model_judges.corrected import Corrected, correct_votes
from ranking.statistics.model_judges.habits import Disagreement, Habits, judge_habits, worst_disagreements
from ranking.statistics.model_judges.pairing import Paired, pair_up
from ranking.statistics.ratings.fail_rates import fail_rates
from ranking.statistics.ratings.scopes import ScopeFit, Settings
from ranking.statistics.standings import EntrantStanding, overall_standings
from ranking.statistics.tallies import tally_votes
from ranking.statistics.verdicts.pairs import judge_pairs
from ranking.statistics.votes import Votes

Array = NDArray[Any]


@dataclass(frozen=True)
class BallotJudge:
    """A model judge: what it is, and what became of the questions it was asked; costs in nano-dollars, None if unknown."""

    name: str
    model: str
    version: int = 1
    simulated: bool = False
    answers: int = 0
    unreadable: int = 0
    cost_nano: int | None = None
    priced: int = 0  # answers whose cost is known


@dataclass(frozen=True)
class Ballots:
    """Model judges' readable answers as votes, the left drawing being the one shown first, with a reason each.

    `judges` are in the order of `votes.judges`.
    """

    votes: Votes
    reasons: tuple[str, ...]
    judges: tuple[BallotJudge, ...]


@dataclass(frozen=True)
class WorstCase:
    """A pair of drawings on which people and a model judge differ, in names."""

    prompt: str
    first: str
    second: str
    first_attempt: int
    second_attempt: int
    people_votes: int
    people_score: float
    model_score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class JudgeStudy:
    judge: BallotJudge
    agreement: WithPeople
    habits: Habits
    worst: tuple[WorstCase, ...]


@dataclass(frozen=True)
class ModelStudy:
    """What a board says about its model judges; `standings` are the overall table with corrected votes, if there is one."""

    judges: tuple[JudgeStudy, ...]
    corrected: Corrected
    standings: list[EntrantStanding]


def study_models(people: Votes, ballots: Ballots, *, fit: ScopeFit, settings: Settings) -> ModelStudy:
    """`people` are standing votes with the entrants of `fit`, which must be made of them with these settings."""
    left_out = [j for j, name in enumerate(people.judges) if settings.weights.get(name, 1.0) == 0]
    if left_out:
        people = people.take(~np.isin(people.judge, left_out))
    paired = pair_up(people, ballots.votes)
    corrected = correct_votes(paired, fit, settings)
    standings: list[EntrantStanding] = []
    if not corrected.reason:
        fails = fail_rates(tally_votes(people, weights=settings.weights), level=settings.level)
        verdicts = judge_pairs(corrected.fit, settings)
        standings = overall_standings(people.entrants, corrected.fit, settings, verdicts=verdicts, fails=fails)
    return ModelStudy(tuple(_study(paired, ballots, m) for m in range(len(ballots.judges))), corrected, standings)


def _study(paired: Paired, ballots: Ballots, m: int) -> JudgeStudy:
    judge = ballots.judges[m]
    family = family_of(judge.model)
    return JudgeStudy(
        judge,
        agreement_with_people(paired, m),
        judge_habits(paired, ballots.votes, m, lambda entrant: family_of(entrant) == family),
        tuple(_worst(paired, ballots, m, case) for case in worst_disagreements(paired, m)),
    )


def _worst(paired: Paired, ballots: Ballots, m: int, case: Disagreement) -> WorstCase:
    unit, entrants = case.unit, paired.people.entrants
    prompt = paired.prompts[paired.prompt[unit]]
    drawings = [
        (entrants[side[unit]], int(attempt[unit]))
        for side, attempt in ((paired.first, paired.first_attempt), (paired.second, paired.second_attempt))
    ]
    return WorstCase(
        prompt=prompt,
        first=drawings[0][0],
        second=drawings[1][0],
        first_attempt=drawings[0][1],
        second_attempt=drawings[1][1],
        people_votes=case.people_votes,
        people_score=case.people_score,
        model_score=case.model_score,
        reasons=_reasons(ballots, m, prompt, drawings),
    )


def _reasons(ballots: Ballots, m: int, prompt: str, drawings: list[tuple[str, int]]) -> tuple[str, ...]:
    """The judge's reasons in either order of the drawings, as given."""
    votes = ballots.votes
    (one, attempt), (other, other_attempt) = ((votes.entrants.index(name), number) for name, number in drawings)
    here = (votes.judge == m) & (votes.prompt == votes.prompts.index(prompt))
    here &= (
        (votes.left == one)
        & (votes.left_attempt == attempt)
        & (votes.right == other)
        & (votes.right_attempt == other_attempt)
    ) | (
        (votes.left == other)
        & (votes.left_attempt == other_attempt)
        & (votes.right == one)
        & (votes.right_attempt == attempt)
    )
    return tuple(ballots.reasons[row] for row in np.flatnonzero(here).tolist() if ballots.reasons[row])
