"""What a model judge does whatever is drawn: positions, ties, fails, its own family; and where it differs most from people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.agreement.clustered import clustered_estimate, clustered_share
from ranking.statistics.agreement.coefficients import Estimate
from ranking.statistics.model_judges.agreement import persons, shared_rows
from ranking.statistics.model_judges.pairing import SCORES, Paired
from ranking.statistics.votes import FAIL, LEFT, TIE, Votes

Array = NDArray[Any]


@dataclass(frozen=True)
class Habits:
    """Shares of a judge's answers, with intervals clustered by prompt, and people's beside them on the same pairs.

    - `first`: decided answers for the drawing shown first; one half is no habit. `contradicts`: pairs judged in both orders
      whose answers contradict each other.
    - `own_family`: how much better, in shares of a vote, the judge scores its own family's drawings than people do.
    """

    answers: int
    pairs: int
    first: Estimate
    contradicts: Estimate
    both_orders: int
    ties: Estimate
    fails: Estimate
    people_ties: Estimate
    people_fails: Estimate
    own_family: Estimate
    own_votes: int


def judge_habits(paired: Paired, models: Votes, judge: int, family: Callable[[str], bool]) -> Habits:
    """`models` are the votes that `paired` was made of; `family` says whether an entrant is of the judge's family."""
    own = models.take(models.judge == judge)
    decided = own.outcome < TIE
    both = np.flatnonzero(paired.both_orders[:, judge])
    rows, _, _ = shared_rows(paired, judge)
    people = paired.people
    ways = (persons(people, rows), people.prompt[rows])
    preference, own_votes = _own_family(paired, judge, rows, family)
    return Habits(
        answers=len(own),
        pairs=int((paired.verdict[:, judge] >= 0).sum()),
        first=clustered_share(own.outcome[decided] == LEFT, own.prompt[decided]),
        contradicts=clustered_share(paired.contradicts[both, judge], paired.prompt[both]),
        both_orders=len(both),
        ties=clustered_share(own.outcome == TIE, own.prompt),
        fails=clustered_share(own.outcome == FAIL, own.prompt),
        people_ties=clustered_share(people.outcome[rows] == TIE, *ways),
        people_fails=clustered_share(people.outcome[rows] == FAIL, *ways),
        own_family=preference,
        own_votes=own_votes,
    )


def _own_family(paired: Paired, judge: int, rows: Array, family: Callable[[str], bool]) -> tuple[Estimate, int]:
    """The judge's score of its family's drawing less the person's, over votes on pairs with one such drawing."""
    people = paired.people
    related = np.array([family(name) for name in people.entrants])
    left, right = related[people.left[rows]], related[people.right[rows]]
    rows, as_left = rows[left != right], left[left != right]
    score = paired.score[paired.unit[rows], judge]
    model = np.where(paired.sign[rows] > 0, score, 1 - score)
    gap = (model - SCORES[people.outcome[rows]]) * np.where(as_left, 1.0, -1.0)
    columns = np.column_stack([gap, np.ones(len(gap))])
    mean = clustered_estimate(
        columns, lambda sums: sums[..., 0] / np.maximum(sums[..., 1], 1), persons(people, rows), people.prompt[rows]
    )
    return mean, len(rows)


@dataclass(frozen=True)
class Disagreement:
    """A pair of drawings (a unit of `Paired`) with the mean score of its first one by people and by the judge."""

    unit: int
    people_votes: int
    people_score: float
    model_score: float


def worst_disagreements(paired: Paired, judge: int, *, most: int = 6) -> list[Disagreement]:
    """Where people, as sure as their number makes them, and the judge are furthest apart; none less than a quarter apart."""
    rows, _, _ = shared_rows(paired, judge)
    unit = paired.unit[rows]
    outcome = SCORES[paired.people.outcome[rows]]
    score = np.where(paired.sign[rows] > 0, outcome, 1 - outcome)
    units = np.unique(unit)
    n, sums = (np.bincount(unit, weights, len(paired.first))[units] for weights in (None, score))
    mean, score_of_judge = sums / n, paired.score[units, judge]
    apart = np.abs(mean - score_of_judge)
    order = np.lexsort((units, -apart * n / (n + 1)))
    return [
        Disagreement(int(units[i]), int(n[i]), float(mean[i]), float(score_of_judge[i]))
        for i in order[:most].tolist()
        if apart[i] > 0.25
    ]
