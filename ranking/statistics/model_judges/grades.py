"""How far two raters' grades of the same drawings agree, whoever they are: a model and people, or people with each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.agreement.clustered import clustered_estimate
from ranking.statistics.agreement.coefficients import Estimate

Array = NDArray[Any]
NO_LIMITS = (-np.inf, np.inf)


@dataclass(frozen=True)
class GradePairs:
    """Two grades of one drawing a row.

    `first` and `second` [n] are the grades, `drawing` and `subject` [n] what they are of; `person` [n] is who gave the second one,
    or [n, 2] who gave either.
    """

    first: Array
    second: Array
    drawing: Array
    subject: Array
    person: Array

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: Array) -> GradePairs:
        return GradePairs(**{name: column[rows] for name, column in vars(self).items()})


@dataclass(frozen=True)
class GradeAgreement:
    """95% intervals are clustered by person and by subject: other people and other subjects would have given other figures.

    - `alpha`: Krippendorff's, interval metric: the same grade counts, so strictness tells.
    - `order`: the correlation within each person, of grades less that person's mean and the other rater's on the same drawings:
      the same order counts, strictness and use of the scale do not.
    - `apart`: the mean distance; `higher`: the first rater's grade less the second's, on average.
    """

    grades: int
    drawings: int
    people: int
    alpha: Estimate
    order: Estimate
    apart: Estimate
    higher: Estimate


def grade_agreement(pairs: GradePairs, *, reach: float = np.inf) -> GradeAgreement:
    """`reach` is the length of the scale: no two grades are further apart."""
    first, second, ways = pairs.first, pairs.second, (pairs.person, pairs.subject)
    ones = np.ones(len(pairs))
    gap = first - second
    alike = np.column_stack([gap**2, first + second, first**2 + second**2, ones])
    a, b = centred(pairs)
    return GradeAgreement(
        grades=len(pairs),
        drawings=len(np.unique(pairs.drawing)),
        people=len(np.unique(pairs.person)),
        alpha=clustered_estimate(alike, interval_alpha, *ways),
        order=clustered_estimate(np.column_stack([a * b, a * a, b * b]), correlation, *ways),
        apart=clustered_estimate(np.column_stack([np.abs(gap), ones]), mean, *ways, within=(0.0, reach)),
        higher=clustered_estimate(np.column_stack([gap, ones]), mean, *ways, within=(-reach, reach)),
    )


def favour(gap: Array, favoured: Array, person: Array, subject: Array) -> Estimate:
    """The mean of `gap` where `favoured`, less the mean elsewhere; unknown where either is empty."""
    if not favoured.any() or favoured.all():
        return Estimate(None)
    own = favoured.astype(float)
    columns = np.column_stack([gap * own, own, gap * (1 - own), 1 - own])

    def apart(sums: Array) -> Array:
        return mean(sums[..., :2]) - mean(sums[..., 2:])

    return clustered_estimate(columns, apart, person, subject, within=NO_LIMITS)


def centred(pairs: GradePairs) -> tuple[Array, Array]:
    """Both grades less their means over the drawings that the same two raters share."""
    _, group = np.unique(pairs.person, axis=0, return_inverse=True)
    group = group.ravel()
    n = np.maximum(np.bincount(group), 1)
    first, second = (column - (np.bincount(group, column) / n)[group] for column in (pairs.first, pairs.second))
    return first, second


def mean(sums: Array) -> Array:
    return np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1e-12))


def correlation(sums: Array) -> Array:
    spread = np.sqrt(sums[..., 1] * sums[..., 2])
    return np.where(spread > 1e-12, sums[..., 0] / np.where(spread > 1e-12, spread, 1), 0.0)


def interval_alpha(sums: Array) -> Array:
    """1 − observed over expected squared distance, the latter between any two of all grades of both raters."""
    squares, total, powers, n = (sums[..., place] for place in range(4))
    many = np.maximum(2 * n, 2)
    variance = powers / many - (total / many) ** 2
    expected = 2 * variance * many / (many - 1)
    observed = squares / np.maximum(n, 1)
    return np.where(expected > 1e-12, 1 - observed / np.where(expected > 1e-12, expected, 1), 1.0)
