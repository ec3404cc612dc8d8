"""How far judges agree: Krippendorff, Gwet, Cohen, ICC, with intervals by jackknife over units and judges.

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
FEWEST_JUDGES = 4  # for knowing how far judges differ


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% interval; None where the data cannot say."""

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


@dataclass(frozen=True)
class Answers:
    """Who put which unit (a row of the table) in which class; at most one answer for a judge and unit."""

    judge: Array
    unit: Array
    label: Array


def krippendorff(
    table: Array, delta: Array, *, mirror: tuple[int, int] | None = None, answers: Answers | None = None
) -> Estimate:
    """Krippendorff's alpha (2011) for a metric delta [C, C] of squared distances.

    `mirror` names two classes that swap when a pair is named the other way round ("first wins", "second wins"); chance
    agreement then gives them equal weight, so that alpha does not hang on which entrant was named first.
    """

    def sums(table: Array) -> Array:
        judges = table.sum(1)
        paired = np.where((judges >= 2)[:, None], table, 0.0)
        observed = np.einsum("uc,ck,uk->u", paired, delta, paired) / np.maximum(judges - 1, 1)
        return np.column_stack([paired, observed, judges >= 2])

    def parts(table: Array, answers: Answers) -> Array:
        seen = table[answers.unit]
        paired = seen.sum(1) >= 2
        apart = 2 * (seen @ delta)[np.arange(len(seen)), answers.label] / np.maximum(seen.sum(1) - 1, 1)
        own = np.eye(table.shape[1])[answers.label]
        return np.column_stack([own * paired[:, None], apart * paired, np.zeros(len(seen))])

    def alpha(totals: Array) -> Array:
        marginals, seen = _mirrored(totals[..., :-2], mirror), totals[..., -2]
        n = marginals.sum(-1)
        expected = np.einsum("...c,ck,...k->...", marginals, delta, marginals) / np.maximum(n - 1, 1)
        return _chance_corrected(expected, seen)

    return jackknife(table, sums, alpha, parts=parts, answers=answers)


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


def gwet_ac1(table: Array, *, mirror: tuple[int, int] | None = None, answers: Answers | None = None) -> Estimate:
    """Gwet's AC1 (2008): chance agreement from how mixed the classes are; steady where one class dominates.

    As Gwet has it, class shares come from every unit, also those with one judgement; agreement from those with more.
    """
    classes = np.shape(table)[1] if np.ndim(table) == 2 else 0
    if classes < 2:
        return Estimate(None)
    return _beyond_chance(table, lambda shares: (shares * (1 - shares)).sum(-1) / (classes - 1), mirror, answers)


def fleiss_kappa(table: Array, *, mirror: tuple[int, int] | None = None, answers: Answers | None = None) -> Estimate:
    """Fleiss' kappa (1971): chance agreement from the classes' shares; where ratings are missing, as Gwet has it (see AC1)."""
    return _beyond_chance(table, lambda shares: (shares**2).sum(-1), mirror, answers)


def _beyond_chance(
    table: Array, chance_of: Callable[[Array], Array], mirror: tuple[int, int] | None, answers: Answers | None
) -> Estimate:
    """Agreement beyond the chance that follows from class shares; full agreement in a single class counts as 1."""

    def sums(table: Array) -> Array:
        judges = table.sum(1)
        shares = table / np.maximum(judges, 1)[:, None]
        return np.column_stack([shares, judges >= 1, _agreement(table), judges >= 2])

    def parts(table: Array, answers: Answers) -> Array:
        judges = table.sum(1)[answers.unit]
        own = np.eye(table.shape[1])[answers.label] / judges[:, None]
        return np.column_stack([own, 1 / judges, _agreement_with(table, answers)])

    def coefficient(totals: Array) -> Array:
        shares = _mirrored(totals[..., :-3], mirror) / np.maximum(totals[..., -3, None], 1)
        chance = chance_of(shares)
        agreed = totals[..., -2] / np.maximum(totals[..., -1], 1)
        return np.where(chance < 1, (agreed - chance) / np.where(chance < 1, 1 - chance, 1), 1.0)

    return jackknife(table, sums, coefficient, parts=parts, answers=answers)


def raw_agreement(table: Array, *, answers: Answers | None = None) -> Estimate:
    """The share of pairs of judges that said the same, averaged over units."""

    def sums(table: Array) -> Array:
        return np.column_stack([_agreement(table), table.sum(1) >= 2])

    def share(totals: Array) -> Array:
        return totals[..., 0] / np.maximum(totals[..., 1], 1)

    return jackknife(table, sums, share, parts=_agreement_with, answers=answers, within=(0.0, 1.0))


def _agreement(table: Array) -> Array:
    """By unit: the share of pairs of judges that said the same, 0 where there is no pair."""
    judges = table.sum(1)
    return (table * (table - 1)).sum(1) / np.maximum(judges * (judges - 1), 1)


def _agreement_with(table: Array, answers: Answers) -> Array:
    """By answer: the agreement of its pairs and how much of the unit's pairs they are [N, 2]."""
    seen = table[answers.unit]
    judges = seen.sum(1)
    same = seen[np.arange(len(seen)), answers.label] - 1
    return (
        2
        * (judges >= 2)[:, None]
        * np.column_stack([same / np.maximum(judges - 1, 1), np.ones(len(seen))])
        / judges[:, None]
    )


def jackknife(
    table: Array,
    sums: Callable[[Array], Array],
    statistic: Callable[[Array], Array],
    *,
    parts: Callable[[Array, Answers], Array] | None = None,
    answers: Answers | None = None,
    within: tuple[float, float] = (-1.0, 1.0),
) -> Estimate:
    """A statistic of column sums over units, with Student's 95% t interval from leaving out each unit in turn.

    `sums` makes the columns [U, S] of a table; the last one says which units have two judgements or more. With `answers`, what
    judges differ in is added, since other judges would have agreed more or less; `parts` [N, S] is what each answer takes part in.
    """
    table = np.asarray(table, float)
    columns = sums(table) if len(table) else np.zeros((0, 1))
    paired = int(columns[:, -1].sum())
    if not paired:
        return Estimate(None)
    total = columns.sum(0)
    value = float(statistic(total))
    if paired < 3:
        return Estimate(value)
    variance, df = _left_out_variance(statistic(total - columns), len(table)), paired - 1.0
    if answers is not None and parts is not None:
        influence = statistic(total + parts(table, answers)) - value
        excess, shown, judges = _judge_excess(influence, table, answers)
        # Satterthwaite: a difference spends like a sum. Where judges seem not to differ, half is spent: they may all the same.
        spent = variance**2 / df + (shown if excess > 0 else shown / 2) ** 2 / max(judges - 1, 1)
        variance += max(excess, 0.0)
        df = variance**2 / spent if spent > 0 else df
    if variance <= 1e-12:  # all units alike: no sign of how much others would differ
        return Estimate(value)
    half = float(stdtrit(df, 0.975) * np.sqrt(variance))
    return Estimate(value, max(within[0], value - half), min(within[1], value + half))


def _left_out_variance(left_out: Array, groups: int) -> float:
    return float((groups - 1) / groups * ((left_out - left_out.mean()) ** 2).sum())


def _judge_excess(influence: Array, table: Array, answers: Answers) -> tuple[float, float, int]:
    """What J judges add to the variance beyond units, the squared sums by judge it was taken from, and J; 0 under four judges.

    Answers [N] of one judge move a coefficient the same way where the judge agrees more, or less, than others do. Sums by judge
    are around their mean, which takes out a share of units/J of chance; and each judge's pairs are half the other judges', which
    hides (J-2)/(J-1) of what judges differ in.
    """
    size = table.sum(1)[answers.unit].astype(int)
    usual = np.bincount(size, influence) / np.maximum(np.bincount(size), 1)
    influence = influence - usual[size]
    present, judge = np.unique(answers.judge, return_inverse=True)
    judges = len(present)
    if judges < FEWEST_JUDGES:
        return 0.0, 0.0, judges
    by_judge, by_unit = np.bincount(judge.ravel(), influence), np.bincount(answers.unit, influence)
    hidden = judges * (judges - 1) / (judges - 2) ** 2
    shown = hidden * float(((by_judge - by_judge.mean()) ** 2).sum())
    chance = hidden * float((influence**2).sum() - (by_unit**2).sum() / judges)
    return shown - chance, shown, judges


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
    marginals = np.zeros((judges, judges, classes))  # [i, j, c]: how often i chose c on units shared with j
    for c in range(classes):
        chosen = label == c
        here = sparse.csr_matrix((ones[chosen], (judge[chosen], unit[chosen])), shape=(judges, units))
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
