"""How far judges agree: Krippendorff, Gwet, Fleiss, with intervals by jackknife over units and judges.

Everything works on a table [units, classes] of how many judges put a unit in a class. Units with the same counts are alike in
all of it, so one row may stand for many of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ranking.statistics.grouping import count_rows, sum_rows

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
    """Which judge [n] put a unit in which class: `place` [n] is the unit's row in a table [U, C], times C, plus the class."""

    judge: Array
    place: Array
    judges: int

    def sums(self, influence: Array) -> Array:
        """By judge [J]: of what each answer does, from what it does by place."""
        each = influence.ravel()
        return sum_rows(len(self.judge), self.judges, lambda here: (self.judge[here], each[self.place[here]]))[0]

    @cached_property
    def present(self) -> Array:
        """Which judges [J] gave any."""
        return count_rows(len(self.judge), self.judges, lambda here: self.judge[here]) > 0


@dataclass(frozen=True)
class Panel:
    """Units and who judged them: what a coefficient and its interval need.

    - `table` [U, C]: how many judges put a unit in each class; `times` [U]: how many such units there are.
    - `answers` to these units; None where nobody knows whose they were.
    """

    table: Array
    times: Array
    answers: Answers | None = None


def panel_of(table: Any, judge: Array | None = None, unit: Array | None = None, label: Array | None = None) -> Panel:
    """A panel of single units; `judge`, `unit` and `label` are columns, one answer a row."""
    table = np.asarray(table, float)
    answers = None
    if judge is not None and unit is not None and label is not None:
        answers = Answers(judge, unit * table.shape[1] + label, int(judge.max(initial=-1)) + 1)
    return Panel(table, np.ones(len(table)), answers)


def krippendorff(panel: Panel, delta: Array, *, mirror: tuple[int, int] | None = None) -> Estimate:
    """Krippendorff's alpha (2011) for a metric delta [C, C] of squared distances.

    `mirror` names two classes that swap when a pair is named the other way round ("first wins", "second wins"); chance
    agreement then gives them equal weight, so that alpha does not hang on which entrant was named first.
    """

    def sums(table: Array) -> Array:
        judges = table.sum(1)
        paired = np.where((judges >= 2)[:, None], table, 0.0)
        observed = np.einsum("uc,ck,uk->u", paired, delta, paired) / np.maximum(judges - 1, 1)
        return np.column_stack([paired, observed, judges >= 2])

    def parts(table: Array) -> Array:
        judges = table.sum(1)[:, None]
        apart = 2 * (table @ delta) / np.maximum(judges - 1, 1)
        own = np.broadcast_to(np.eye(table.shape[1]), (*table.shape, table.shape[1]))
        return np.concatenate([own, apart[..., None], np.zeros((*table.shape, 1))], -1) * (judges >= 2)[..., None]

    def alpha(totals: Array) -> Array:
        marginals, seen = mirrored(totals[..., :-2], mirror), totals[..., -2]
        n = marginals.sum(-1)
        expected = np.einsum("...c,ck,...k->...", marginals, delta, marginals) / np.maximum(n - 1, 1)
        return _chance_corrected(expected, seen)

    return jackknife(panel, sums, alpha, parts=parts)


def _chance_corrected(expected: Array, observed: Array) -> Array:
    """1 - observed / expected disagreement; full agreement in a single class counts as 1."""
    safe = np.where(expected > 0, expected, 1)
    return np.where(expected > 0, 1 - observed / safe, 1.0)


def mirrored(marginals: Array, mirror: tuple[int, int] | None) -> Array:
    """Both mirrored classes at the mean of the two."""
    if mirror is None:
        return marginals
    result = marginals.copy()
    result[..., list(mirror)] = marginals[..., list(mirror)].mean(-1, keepdims=True)
    return result


def gwet_ac1(panel: Panel, *, mirror: tuple[int, int] | None = None) -> Estimate:
    """Gwet's AC1 (2008): chance agreement from how mixed the classes are; steady where one class dominates.

    As Gwet has it, class shares come from every unit, also those with one judgement; agreement from those with more.
    """
    classes = panel.table.shape[1] if panel.table.ndim == 2 else 0
    if classes < 2:
        return Estimate(None)
    return _beyond_chance(panel, lambda shares: (shares * (1 - shares)).sum(-1) / (classes - 1), mirror)


def fleiss_kappa(panel: Panel, *, mirror: tuple[int, int] | None = None) -> Estimate:
    """Fleiss' kappa (1971): chance agreement from the classes' shares; where ratings are missing, as Gwet has it (see AC1)."""
    return _beyond_chance(panel, lambda shares: (shares**2).sum(-1), mirror)


def _beyond_chance(panel: Panel, chance_of: Callable[[Array], Array], mirror: tuple[int, int] | None) -> Estimate:
    """Agreement beyond the chance that follows from class shares; full agreement in a single class counts as 1."""

    def sums(table: Array) -> Array:
        judges = table.sum(1)
        shares = table / np.maximum(judges, 1)[:, None]
        return np.column_stack([shares, judges >= 1, _agreement(table), judges >= 2])

    def parts(table: Array) -> Array:
        each = np.broadcast_to(1 / np.maximum(table.sum(1), 1)[:, None, None], (*table.shape, 1))
        return np.concatenate([np.eye(table.shape[1]) * each, each, _agreement_with(table)], -1)

    def coefficient(totals: Array) -> Array:
        shares = mirrored(totals[..., :-3], mirror) / np.maximum(totals[..., -3, None], 1)
        chance = chance_of(shares)
        agreed = totals[..., -2] / np.maximum(totals[..., -1], 1)
        return np.where(chance < 1, (agreed - chance) / np.where(chance < 1, 1 - chance, 1), 1.0)

    return jackknife(panel, sums, coefficient, parts=parts)


def raw_agreement(panel: Panel) -> Estimate:
    """The share of pairs of judges that said the same, averaged over units."""

    def sums(table: Array) -> Array:
        return np.column_stack([_agreement(table), table.sum(1) >= 2])

    def share(totals: Array) -> Array:
        return totals[..., 0] / np.maximum(totals[..., 1], 1)

    return jackknife(panel, sums, share, parts=_agreement_with, within=(0.0, 1.0))


def _agreement(table: Array) -> Array:
    """By unit: the share of pairs of judges that said the same, 0 where there is no pair."""
    judges = table.sum(1)
    return (table * (table - 1)).sum(1) / np.maximum(judges * (judges - 1), 1)


def _agreement_with(table: Array) -> Array:
    """By unit and class of an answer: the agreement of its pairs and how much of the unit's pairs they are [U, C, 2]."""
    judges = table.sum(1)[:, None]
    share = 2 * (judges >= 2) / np.maximum(judges, 1)
    same = (table - 1) / np.maximum(judges - 1, 1)
    return np.stack([same * share, np.broadcast_to(share, same.shape)], -1)


def jackknife(
    panel: Panel,
    sums: Callable[[Array], Array],
    statistic: Callable[[Array], Array],
    *,
    parts: Callable[[Array], Array],
    within: tuple[float, float] = (-1.0, 1.0),
) -> Estimate:
    """A statistic of column sums over units, with Student's 95% t interval from leaving out each unit in turn.

    `sums` makes the columns [U, S] of a table; the last one says which units have two judgements or more. With answers, what
    judges differ in is added, since other judges would have agreed more or less; `parts` [U, C, S] is what an answer of each
    class takes part in.
    """
    table, times = panel.table, panel.times
    columns = sums(table) if len(table) else np.zeros((0, 1))
    paired = int((times * columns[:, -1]).sum())
    if not paired:
        return Estimate(None)
    total = times @ columns
    value = float(statistic(total))
    if paired < 3:
        return Estimate(value)
    variance, df = _left_out_variance(statistic(total - columns), times), paired - 1.0
    if panel.answers is not None:
        influence = statistic(total + parts(table)) - value
        excess, shown, judges = _judge_excess(influence, panel)
        # Satterthwaite: a difference spends like a sum. Where judges seem not to differ, half is spent: they may all the same.
        spent = variance**2 / df + (shown if excess > 0 else shown / 2) ** 2 / max(judges - 1, 1)
        variance += max(excess, 0.0)
        df = variance**2 / spent if spent > 0 else df
    if variance <= 1e-12:  # all units alike: no sign of how much others would differ
        return Estimate(value)
    half = float(stdtrit(df, 0.975) * np.sqrt(variance))
    return Estimate(value, max(within[0], value - half), min(within[1], value + half))


def _left_out_variance(left_out: Array, times: Array) -> float:
    units = times.sum()
    return float((units - 1) / units * (times @ (left_out - times @ left_out / units) ** 2))


def _judge_excess(influence: Array, panel: Panel) -> tuple[float, float, int]:
    """What J judges add to the variance beyond units, the squared sums by judge it was taken from, and J; 0 under four judges.

    Answers of one judge move a coefficient the same way where the judge agrees more, or less, than others do (`influence`
    [U, C] is that of an answer). Sums by judge are around their mean, which takes out a share of units/J of chance; and each
    judge's pairs are half the other judges', which hides (J-2)/(J-1) of what judges differ in.
    """
    assert panel.answers is not None
    judges = int(panel.answers.present.sum())
    if judges < FEWEST_JUDGES:
        return 0.0, 0.0, judges
    many = panel.times[:, None] * panel.table
    size = panel.table.sum(1).astype(int)
    usual = np.bincount(size, (many * influence).sum(1)) / np.maximum(np.bincount(size, many.sum(1)), 1)
    influence = influence - usual[size][:, None]
    by_judge = panel.answers.sums(influence)[panel.answers.present]
    by_unit = (panel.table * influence).sum(1)
    hidden = judges * (judges - 1) / (judges - 2) ** 2
    shown = hidden * float(((by_judge - by_judge.mean()) ** 2).sum())
    chance = hidden * float((many * influence**2).sum() - (panel.times * by_unit**2).sum() / judges)
    return shown - chance, shown, judges
