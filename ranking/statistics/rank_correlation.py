"""How far two rankings of the same things agree: an automatic score and people, for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

LEVEL = 0.95


@dataclass(frozen=True)
class Correlation:
    """A rank correlation with its interval; None where it is not defined or cannot be had."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Comparison:
    """Two rankings of `count` things compared."""

    kendall: Correlation
    spearman: Correlation
    count: int
    level: float = LEVEL


def fisher_interval(value: float, error: float, count: int, *, level: float = LEVEL) -> tuple[float, float]:
    """tanh(atanh(r) ± z · error). A perfect correlation stands for any above 1 − 1/n² and keeps 1 as its upper bound."""
    most = 1 - 1 / count**2
    centre = np.arctanh(np.clip(value, -most, most))
    reach = ndtri((1 + level) / 2) * error
    low, high = float(np.tanh(centre - reach)), float(np.tanh(centre + reach))
    return (-1.0 if value < -most else low), (1.0 if value > most else high)


# By hand and not from scipy.stats: that module alone doubles the start of every worker.
def kendall_tau(left: np.ndarray, right: np.ndarray) -> float:
    """Kendall's tau-b of two arrays of n scores (Kendall 1945): concordant less discordant pairs, corrected for ties."""
    first, second = (np.sign(values[:, None] - values[None, :]) for values in (left, right))
    return float((first * second).sum() / np.sqrt((first**2).sum() * (second**2).sum()))


def spearman_rho(left: np.ndarray, right: np.ndarray) -> float:
    """Spearman's rho: the correlation of two arrays' ranks, ties sharing theirs."""
    return float(np.corrcoef(pd.Series(left).rank(), pd.Series(right).rank())[0, 1])


def spearman(left: np.ndarray, right: np.ndarray, *, level: float = LEVEL) -> Correlation:
    """Spearman's rho with its interval: standard error sqrt((1 + r²/2) / (n − 3)) on Fisher's scale (Bonett & Wright 2000)."""
    count = len(left)
    if count < 2 or len(set(left)) < 2 or len(set(right)) < 2:
        return Correlation(None, None, None)
    rho = round(spearman_rho(left, right), 12)
    if count < 5:
        return Correlation(rho, None, None)
    return Correlation(rho, *fisher_interval(rho, np.sqrt((1 + rho**2 / 2) / (count - 3)), count, level=level))


def compare_rankings(first: Mapping[str, float], second: Mapping[str, float], *, level: float = LEVEL) -> Comparison:
    """Kendall's tau-b and Spearman's rho over the names both have, higher being better in both.

    Tau's standard error on Fisher's scale is sqrt(0.437 / (n − 4)) (Fieller, Hartley & Pearson 1957). Under five names there is
    no interval, under two, or where one ranking is all ties, no correlation. The interval is about names drawn like these, not
    about votes.
    """
    names = sorted(name for name in first if name in second)
    left, right = np.array([first[name] for name in names]), np.array([second[name] for name in names])
    count = len(names)
    rho = spearman(left, right, level=level)
    if rho.value is None:
        return Comparison(rho, rho, count, level)
    tau = round(kendall_tau(left, right), 12)
    if count < 5:
        return Comparison(Correlation(tau, None, None), rho, count, level)
    tau_bounds = fisher_interval(tau, np.sqrt(0.437 / (count - 4)), count, level=level)
    return Comparison(Correlation(tau, *tau_bounds), rho, count, level)


def disagreements(first: Mapping[str, float], second: Mapping[str, float], *, most: int = 12) -> pd.DataFrame:
    """The names on which two scores disagree most: name, first, second, first_place, second_place, gap; widest first.

    A place is the share of names scored lower (ties count half), between 0 and 1; gap = first_place − second_place.
    Names of equal gaps come in the order of `first`.
    """
    names = [name for name in first if name in second]
    table = pd.DataFrame({"name": names, "first": [first[n] for n in names], "second": [second[n] for n in names]})
    for column in ("first", "second"):
        table[f"{column}_place"] = (table[column].rank() - 0.5) / max(len(names), 1)
    table["gap"] = table["first_place"] - table["second_place"]
    order = table["gap"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].head(most).reset_index(drop=True)
