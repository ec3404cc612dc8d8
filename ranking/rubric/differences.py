"""Differences of rubric scores between entrants, on the subjects that both drew: what judges and subjects share cancels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.results import VerdictsResult
from ranking.rubric.intervals import GradedItems, judgement_parts
from ranking.statistics.rounding import rounded
from ranking.statistics.verdicts.paired import Gaps, judge_gaps, verdict_table

Array = NDArray[Any]
MARGIN = 0.02  # of the scale: scores within it are practically equal


@dataclass(frozen=True)
class Differences:
    """Verdicts on all pairs (see `verdict_table`), and the range of ranks that they leave each entrant."""

    table: VerdictsResult
    ranges: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class _Sums:
    """One entrant's score, and how judges and subjects pull it from its mean."""

    value: float
    subjects: Array  # [S]
    judges: Array  # [J]
    noise: float
    graders: Array  # [J]: who graded it


def compare_entrants(
    graded: Mapping[str, GradedItems], order: Sequence[str], weights: Array, *, subjects: int, judges: int, top: float
) -> Differences:
    """Of entrants in this order, best first; subjects and judges are numbered alike in all of them."""
    size = len(order)
    drawn = np.array([_drawn(graded[name], weights, subjects) for name in order]).reshape(size, subjects)
    stages = _stages(graded.values(), subjects)
    gap, variance = np.full((size, size), np.nan), np.full((size, size), np.inf)
    df, units = np.ones((size, size)), np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1, size):
            shared = drawn[i] & drawn[j]
            one, other = (_sums(graded[order[k]], weights, shared, judges) for k in (i, j))
            if one is None or other is None:
                continue
            gap[i, j], gap[j, i] = one.value - other.value, other.value - one.value
            variance[i, j], df[i, j] = _variance(one, other, stages, shared)
            variance[j, i], df[j, i] = variance[i, j], df[i, j]
            units[i, j] = units[j, i] = shared.sum()
    np.fill_diagonal(gap, 0.0)
    whole = [_sums(graded[name], weights, drawn[i], judges) for i, name in enumerate(order)]
    pulls = np.array([np.concatenate([s.subjects, s.judges]) if s else np.zeros(subjects + judges) for s in whole])
    pulls = pulls.reshape(size, subjects + judges) - pulls.mean(0) if size else pulls.reshape(0, subjects + judges)
    verdicts = judge_gaps(Gaps(gap, variance, df, units, pulls @ pulls.T), margin=MARGIN * top)
    ranges = zip(verdicts.rank_low.tolist(), verdicts.rank_high.tolist(), strict=True)
    return Differences(rounded(verdict_table(verdicts, order, range(size))), dict(zip(order, ranges, strict=True)))


def _drawn(graded: GradedItems, weights: Array, subjects: int) -> Array:
    counts = ~np.isnan(graded.score) & (weights[graded.stage] > 0)
    return np.bincount(graded.subject[counts], minlength=subjects) > 0


def _stages(entrants: Any, subjects: int) -> Array:
    """The stage of each subject."""
    stages = np.zeros(subjects, int)
    for graded in entrants:
        stages[graded.subject] = graded.stage
    return stages


def _sums(graded: GradedItems, weights: Array, shared: Array, judges: int) -> _Sums | None:
    counts = ~np.isnan(graded.score) & (weights[graded.stage] > 0) & shared[graded.subject]
    sizes = np.bincount(graded.stage[counts], minlength=len(weights))
    if (sizes[weights > 0] == 0).any():
        return None
    share = np.where(counts, weights[graded.stage] / np.maximum(sizes[graded.stage], 1), 0.0)
    score = np.where(counts, graded.score, 0.0)
    means = np.bincount(graded.stage, np.where(counts, score, 0), len(weights)) / np.maximum(sizes, 1)
    by_subject = np.bincount(graded.subject, share * np.where(counts, score - means[graded.stage], 0), len(shared))
    parts = judgement_parts(graded, share, len(weights))
    used = share[graded.item] > 0
    return _Sums(
        value=float(share @ score),
        subjects=by_subject,
        judges=np.bincount(graded.judge[used], parts[used], judges),
        noise=float(parts @ parts),
        graders=np.bincount(graded.judge[used], minlength=judges) > 0,
    )


def _variance(one: _Sums, other: _Sums, stages: Array, shared: Array) -> tuple[float, float]:
    """(variance, degrees of freedom) of a difference, two-way clustered as scores are; infinite where nothing is known."""
    ways: list[tuple[float, float]] = []
    present = np.bincount(stages[shared])
    if not (present == 1).any():
        squares = np.bincount(stages[shared], (one.subjects - other.subjects)[shared] ** 2, len(present))
        factor = present / np.maximum(present - 1, 1)
        ways.append((float((squares * factor).sum()), float((present - (present > 0)).sum())))
    graders = int((one.graders | other.graders).sum())
    if graders > 1:
        pulls = one.judges - other.judges
        ways.append((float(pulls @ pulls) * graders / (graders - 1), graders - 1.0))
    if not ways:
        return np.inf, 1.0
    variance = max(way[0] for way in ways)
    if len(ways) == 2:
        variance = max(variance, ways[0][0] + ways[1][0] - one.noise - other.noise)
    return variance, min(df for _, df in ways)
