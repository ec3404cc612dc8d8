"""How sure a mean of grades is: clustered by judge and by subject at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ranking.statistics.agreement.coefficients import Estimate
from ranking.statistics.ratings.intervals import unseen_share

LEVEL = 0.95
ALIKE = 1e-18  # a variance that is rounding only
Array = NDArray[Any]


@dataclass(frozen=True)
class GradedItems:
    """One entrant's drawings as columns, and who graded them how; stages, subjects and judges are numbers.

    `stage`, `subject` and `score` have a row for each drawing (score NaN where it does not count; a subject's number
    belongs to one stage); `item` (row of the drawing), `judge` and `value` have one for each judgement.
    """

    stage: Array
    subject: Array
    score: Array
    item: Array
    judge: Array
    value: Array


def mean_interval(graded: GradedItems, weights: Array, *, within: tuple[float, float]) -> Estimate:
    """`Σ weight · stage mean` over stages [S] of positive weight, with its two-way clustered interval.

    The mean is linear, so each judgement adds `weight / (drawings · its judges)` of its distance from the stage's mean.
    These are summed by judge and by subject: `V = V_judge + V_subject − V_iid`, with the CR1 factor G/(G−1) on each way
    (for subjects within each stage, as each stage has a mean of its own), never below either one-way variance; Student's
    t with `min(judges − 1, subjects − stages)` degrees of freedom. A single judge leaves the way of subjects alone, and
    the interval then speaks for that judge; no way at all leaves no interval. None where a stage has no drawing. Where all
    grades are alike, the interval holds what so many subjects may have missed (`unseen_share`).
    """
    counts = ~np.isnan(graded.score) & (weights[graded.stage] > 0)
    sizes = np.bincount(graded.stage[counts], minlength=len(weights))
    if (sizes[weights > 0] == 0).any():
        return Estimate(None)
    share = np.where(counts, weights[graded.stage] / np.maximum(sizes[graded.stage], 1), 0.0)
    value = float(share @ np.where(counts, graded.score, 0.0))
    parts = judgement_parts(graded, share, len(weights))
    ways = [way for way in (_by_subject(graded, share, counts, sizes), _by_judge(graded, parts, share)) if way]
    if not ways:
        return Estimate(value)
    variance = max(way[0] for way in ways)
    if len(ways) == 2:
        variance = max(variance, ways[0][0] + ways[1][0] - float(parts @ parts))
    half = float(stdtrit(min(df for _, df in ways), 0.5 + LEVEL / 2) * np.sqrt(variance))
    low, high = value - half, value + half
    if variance <= ALIKE:  # grades that are all alike show no spread, but others may be unlike
        missed = unseen_share(len(np.unique(graded.subject[counts])), LEVEL)
        low, high = (value + missed * (end - value) for end in within)
    return Estimate(value, max(within[0], low), min(within[1], high))


def _by_subject(graded: GradedItems, share: Array, counts: Array, sizes: Array) -> tuple[float, int] | None:
    """(variance, degrees of freedom); None where a stage has one subject only."""
    stage, subject = graded.stage[counts], graded.subject[counts]
    score, share = graded.score[counts], share[counts]
    means = np.bincount(stage, score, len(sizes)) / np.maximum(sizes, 1)
    sums = np.bincount(subject, share * (score - means[stage]))
    own_stage = np.full(len(sums), -1)
    own_stage[subject] = stage
    present = own_stage >= 0
    subjects = np.bincount(own_stage[present], minlength=len(sizes))
    if (subjects == 1).any():
        return None
    squares = np.bincount(own_stage[present], sums[present] ** 2, len(sizes))
    return float((squares * subjects / np.maximum(subjects - 1, 1)).sum()), int((subjects - (subjects > 0)).sum())


def judgement_parts(graded: GradedItems, share: Array, stages: int) -> Array:
    """Each judgement's part in the value, measured from the mean of its stage's judgements."""
    judges = np.bincount(graded.item, minlength=len(share))
    own = share[graded.item] / judges[graded.item] if len(graded.item) else np.zeros(0)
    stage = graded.stage[graded.item]
    total = np.bincount(stage, own, stages)
    centre = np.bincount(stage, own * graded.value, stages) / np.where(total > 0, total, 1)
    return own * (graded.value - centre[stage])


def _by_judge(graded: GradedItems, parts: Array, share: Array) -> tuple[float, int] | None:
    used = share[graded.item] > 0
    judges = len(np.unique(graded.judge[used]))
    if judges < 2:
        return None
    sums = np.bincount(graded.judge[used], parts[used])
    return float((sums @ sums) * judges / (judges - 1)), judges - 1
