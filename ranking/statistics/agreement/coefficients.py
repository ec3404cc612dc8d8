"""How far judges agree: Krippendorff, Gwet, Cohen, ICC, with intervals by jackknife over units.

Everything nominal works on a table [units, classes] of how many judges put a unit in a class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import stdtrit

Array = NDArray[Any]


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; None where the data cannot say."""

    value: float | None
    low: float | None = None
    high: float | None = None


def nominal_delta(classes: int) -> Array:
    """Squared distance between classes: 0 or 1."""
    return 1.0 - np.eye(classes)


def interval_delta(values: Array) -> Array:
    """Squared distance of class values."""
    values = np.asarray(values, float)
    return (values[:, None] - values[None, :]) ** 2


def paired_units(table: Array) -> Array:
    """The units with two or more judgements: only they can agree or disagree."""
    return table[table.sum(1) >= 2]


def krippendorff(table: Array, delta: Array, *, mirror: tuple[int, int] | None = None) -> Estimate:
    """Krippendorff's alpha (2011) for a metric delta [C, C] of squared distances.

    `mirror` names two classes that swap when a pair is named the other way round ("first wins", "second wins"); chance
    agreement then gives them equal weight, so that alpha does not hang on which entrant was named first.
    """
    table = paired_units(np.asarray(table, float))
    if not len(table):
        return Estimate(None)
    judges = table.sum(1)
    observed = np.einsum("uc,ck,uk->u", table, delta, table) / (judges - 1)
    sums = np.column_stack([table, observed])

    def alpha(totals: Array) -> Array:
        marginals, seen = _mirrored(totals[..., :-1], mirror), totals[..., -1]
        n = marginals.sum(-1)
        expected = np.einsum("...c,ck,...k->...", marginals, delta, marginals) / np.maximum(n - 1, 1)
        return _chance_corrected(expected, seen)

    return jackknife(sums, alpha)


def _chance_corrected(expected: Array, observed: Array) -> Array:
    """1 - observed / expected disagreement; full agreement in a single class counts as 1."""
    safe = np.where(expected > 0, expected, 1)
    return np.where(expected > 0, 1 - observed / safe, 1.0)


def _mirrored(marginals: Array, mirror: tuple[int, int] | None) -> Array:
    if mirror is None:
        return marginals
    result = marginals.copy()
    result[..., list(mirror)] = marginals[..., list(mirror)].mean(-1, keepdims=True)
    return result


def gwet_ac1(table: Array, *, mirror: tuple[int, int] | None = None) -> Estimate:
    """Gwet's AC1 (2008): chance agreement from how mixed the classes are; steady where one class dominates."""
    table = paired_units(np.asarray(table, float))
    classes = table.shape[1]
    if not len(table) or classes < 2:
        return Estimate(None)
    sums = np.column_stack([table / table.sum(1, keepdims=True), _agreement(table), np.ones(len(table))])

    def ac1(totals: Array) -> Array:
        shares = _mirrored(totals[..., :classes], mirror) / totals[..., -1:]
        chance = (shares * (1 - shares)).sum(-1) / (classes - 1)
        return (totals[..., classes] / totals[..., -1] - chance) / (1 - chance)

    return jackknife(sums, ac1)


def raw_agreement(table: Array) -> Estimate:
    """The share of pairs of judges that said the same, averaged over units."""
    table = paired_units(np.asarray(table, float))
    if not len(table):
        return Estimate(None)
    sums = np.column_stack([_agreement(table), np.ones(len(table))])
    return jackknife(sums, lambda totals: totals[..., 0] / totals[..., 1], within=(0.0, 1.0))


def _agreement(table: Array) -> Array:
    judges = table.sum(1)
    return (table * (table - 1)).sum(1) / (judges * (judges - 1))


def jackknife(
    sums: Array, statistic: Callable[[Array], Array], *, within: tuple[float, float] = (-1.0, 1.0)
) -> Estimate:
    """A statistic of column sums over units [U, S], with Student's 95 % t interval from leaving out each unit in turn."""
    units = len(sums)
    total = sums.sum(0)
    value = float(statistic(total))
    if units < 3:
        return Estimate(value)
    left_out = statistic(total - sums)
    error = np.sqrt((units - 1) / units * ((left_out - left_out.mean()) ** 2).sum())
    half = float(stdtrit(units - 1, 0.975) * error)
    return Estimate(value, max(within[0], value - half), min(within[1], value + half))


def cohen_matrix(
    judge: Array, unit: Array, label: Array, *, judges: int, classes: int, mirror: tuple[int, int] | None = None
) -> tuple[Array, Array]:
    """Cohen's kappa [J, J] of every pair of judges and the units they share [J, J]; NaN where they share none.

    `judge`, `unit`, `label` are columns, one judgement a row and at most one for a judge and unit.
    """
    units = int(unit.max(initial=-1)) + 1
    ones = np.ones(len(judge))
    seen = sparse.csr_matrix((ones, (judge, unit)), shape=(judges, units))
    shared = (seen @ seen.T).toarray()
    agreed = np.zeros((judges, judges))
    marginals = np.zeros((judges, judges, classes))  # [i, j, c]: how often i said c on units shared with j
    for c in range(classes):
        said = label == c
        here = sparse.csr_matrix((ones[said], (judge[said], unit[said])), shape=(judges, units))
        agreed += (here @ here.T).toarray()
        marginals[:, :, c] = (here @ seen.T).toarray()
    marginals = _mirrored(marginals, mirror)
    n = np.where(shared > 0, shared, np.nan)
    chance = (marginals * np.swapaxes(marginals, 0, 1)).sum(-1) / n**2
    kappa = np.where(chance < 1, (agreed / n - chance) / np.where(chance < 1, 1 - chance, 1), 1.0)
    return np.where(shared > 0, kappa, np.nan), shared.astype(int)


@dataclass(frozen=True)
class Icc:
    """Intraclass correlations of Shrout and Fleiss (1979); for one judge and for the mean of k."""

    icc1: float | None
    icc2: float | None
    icc3: float | None
    icc1k: float | None
    icc2k: float | None
    icc3k: float | None
    targets: int
    judges: int


def icc(scores: Array) -> Icc:
    """From scores [targets, judges]; a target that some judge left out (NaN) is not used."""
    scores = np.asarray(scores, float)
    scores = scores[~np.isnan(scores).any(1)] if scores.size else scores.reshape(0, 0)
    n, k = scores.shape
    if n < 2 or k < 2:
        return Icc(None, None, None, None, None, None, n, k)
    grand, rows, columns = scores.mean(), scores.mean(1), scores.mean(0)
    between = k * ((rows - grand) ** 2).sum() / (n - 1)
    judges = n * ((columns - grand) ** 2).sum() / (k - 1)
    total = ((scores - grand) ** 2).sum()
    error = (total - between * (n - 1) - judges * (k - 1)) / ((n - 1) * (k - 1))
    within = (total - between * (n - 1)) / (n * (k - 1))

    def share(top: float, bottom: float) -> float | None:
        return float(top / bottom) if bottom > 0 else None

    return Icc(
        icc1=share(between - within, between + (k - 1) * within),
        icc2=share(between - error, between + (k - 1) * error + k * (judges - error) / n),
        icc3=share(between - error, between + (k - 1) * error),
        icc1k=share(between - within, between),
        icc2k=share(between - error, between + (judges - error) / n),
        icc3k=share(between - error, between),
        targets=n,
        judges=k,
    )


def icc_interval(scores: Array, pick: Callable[[Icc], float | None]) -> Estimate:
    """One of the correlations with its jackknife interval over targets."""
    scores = np.asarray(scores, float)
    scores = scores[~np.isnan(scores).any(1)] if scores.size else scores.reshape(0, 0)
    value = pick(icc(scores))
    n = len(scores)
    if value is None or n < 3:
        return Estimate(value)
    others = [pick(icc(np.delete(scores, i, 0))) for i in range(n)]
    if any(other is None for other in others):
        return Estimate(value)
    left_out = np.array(others, float)
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    half = float(stdtrit(n - 1, 0.975) * error)
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half))
