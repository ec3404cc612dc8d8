"""How steady an entrant is: variance across its attempts at the same prompt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ranking.statistics.grouping import count_rows, sum_rows
from ranking.statistics.ratings.bradley_terry import residual_table
from ranking.statistics.votes import REPEAT, Votes

Array = NDArray[Any]


@dataclass(frozen=True)
class Consistency:
    """Variance across attempts, pooled over prompts; lower is steadier. `low`, `high` bound the variance."""

    variance: float | None
    sd: float | None
    low: float | None
    high: float | None
    icc: float | None  # share of the variance that lies between prompts
    prompts: int  # prompts with two or more attempts


MOST_KINDS = 2**20  # of votes that have a place in a table that a processor's cache holds
NOTHING = Consistency(None, None, None, None, None, 0)


def score_consistency(scores: Array) -> Consistency:
    """From scores [prompts, attempts] (NaN where missing): pooled within-prompt variance, ddof = 1.

    The interval is by jackknife over prompts, and ICC(1) the share of variance between prompts (one-way ANOVA).
    """
    scores = np.asarray(scores, float)
    if scores.ndim != 2 or not scores.size:
        return NOTHING
    known = ~np.isnan(scores)
    n = known.sum(1)
    scores, known, n = scores[n > 1], known[n > 1], n[n > 1]
    if not len(n):
        return NOTHING
    means = np.where(known, scores, 0).sum(1) / n
    squares = (np.where(known, scores - means[:, None], 0) ** 2).sum(1)
    sums = np.column_stack([squares, n - 1])
    value = float(squares.sum() / (n - 1).sum())
    low, high = _jackknife(sums, lambda total: total[..., 0] / total[..., 1], value)
    return Consistency(value, value**0.5, low, high, _icc1(means, n, value), len(n))


def _icc1(means: Array, n: Array, within: float) -> float | None:
    if len(n) < 2:
        return None
    grand = (n * means).sum() / n.sum()
    between = (n * (means - grand) ** 2).sum() / (len(n) - 1)
    size = (n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1)
    total = between + (size - 1) * within
    return float((between - within) / total) if total > 0 else None


def _jackknife(sums: Array, statistic: Any, value: float) -> tuple[float | None, float | None]:
    prompts = len(sums)
    if prompts < 3:
        return None, None
    left_out = statistic(sums.sum(0) - sums)
    if not np.isfinite(left_out).all():
        return None, None
    error = np.sqrt((prompts - 1) / prompts * ((left_out - left_out.mean()) ** 2).sum())
    half = float(stdtrit(prompts - 1, 0.975) * error)
    return max(0.0, value - half), value + half


def vote_consistency(votes: Votes, theta: Array, **halves: Any) -> list[Consistency]:
    """One for each entrant, from votes against the ratings' expectation; repeats, unknown attempts and prompts aside.

    An attempt's strength is the mean residual of its votes (in win probability). One-way variance components within
    each entrant and prompt: between attempts less the noise of single votes, pooled over prompts, never below 0.
    """
    many = max(int(votes.left_attempt.max(initial=-1)), int(votes.right_attempt.max(initial=-1))) + 1
    if not many:
        return [NOTHING] * len(theta)
    table = residual_table(theta, **halves)
    shape = (len(theta), len(votes.prompts), many)
    sides = (
        (votes.left, votes.left_attempt, votes.right, table),
        (votes.right, votes.right_attempt, votes.left, -table.swapaxes(0, 1)),
    )
    sums: list[Array] = [np.zeros(0)] * 4
    for entrant, attempt, other, values in sides:
        usable = (votes.kind != REPEAT) & (votes.prompt >= 0) & (attempt >= 0)
        columns = (entrant, votes.prompt, attempt, other, votes.outcome)
        columns = columns if usable.all() else tuple(column[usable] for column in columns)
        sums = _added(sums, _sums_by_cell(columns, shape, values.reshape(len(theta), -1)))
    return _components(*sums, shape=shape)


def _sums_by_cell(columns: tuple[Array, ...], shape: tuple[int, int, int], values: Array) -> list[Array]:
    """Different cells (entrant, prompt, attempt) of these columns, and for each: votes, the sum of their values and of the squares.

    The columns are the cell's three, the other entrant and the outcome; `values` [K, K x 4] are by entrant, other and outcome.
    """
    entrant, prompt, attempt, other, outcome = columns
    rows, whole, kinds = len(entrant), math.prod(shape), values.shape[1]

    def cell_of(here: slice) -> Array:
        return (entrant[here].astype(np.int64) * shape[1] + prompt[here]) * shape[2] + attempt[here]

    def kind_of(here: slice) -> Array:
        return other[here].astype(np.int64) * 4 + outcome[here]

    if whole * kinds <= min(rows, MOST_KINDS):  # votes of one cell and kind are alike
        counts = count_rows(rows, whole * kinds, lambda here: cell_of(here) * kinds + kind_of(here))
        counts = counts.reshape(shape[0], -1, kinds)
        n = counts.sum(-1).ravel()
        total, squares = ((counts @ each[..., None]).ravel() for each in (values, values**2))
        cells = np.flatnonzero(n)
        return [cells, n[cells], total[cells], squares[cells]]
    number_of, names = cell_of, None
    if whole > 4 * rows + 1000:
        names, number = np.unique(cell_of(slice(None)), return_inverse=True)
        whole, number_of = len(names), lambda here: number.ravel()[here]

    def parts_of(here: slice) -> tuple[Array, ...]:
        value = values.ravel()[entrant[here].astype(np.int64) * kinds + kind_of(here)]
        return number_of(here), value, value**2

    n = count_rows(rows, whole, number_of)
    total, squares = sum_rows(rows, whole, parts_of, 2)
    cells = np.flatnonzero(n)
    return [cells if names is None else names[cells], n[cells], total[cells], squares[cells]]


def _added(one: list[Array], other: list[Array]) -> list[Array]:
    """Sums by cell, from two lists of them."""
    cells, at = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    pairs = zip(one[1:], other[1:], strict=True)
    return [cells.astype(np.int64), *(np.bincount(at.ravel(), np.concatenate(pair), len(cells)) for pair in pairs)]


def _components(
    cells: Array, n: Array, residuals: Array, squares: Array, *, shape: tuple[int, int, int]
) -> list[Consistency]:
    """From cells of a table [entrants, prompts, attempts] with votes, sums of residuals and of their squares."""
    entrants, prompts, many = shape
    if not len(cells):
        return [NOTHING] * entrants
    mean = residuals / n
    inside = squares - n * mean**2
    group, place = np.unique(cells // many, return_inverse=True)
    place = place.ravel()
    attempts, total = np.bincount(place), np.bincount(place, n)
    centre = np.bincount(place, n * mean) / total
    between = np.bincount(place, n * (mean - centre[place]) ** 2)
    size = total - np.bincount(place, n.astype(float) ** 2) / total  # n0 (m - 1) of the one-way layout
    weighed = total - size  # sum of n²/N over a prompt's attempts
    sums = np.column_stack(
        [between, attempts - 1, np.bincount(place, inside), total - attempts, size, total, centre, weighed]
    )
    owner = group // prompts
    return [_one_entrant(sums[(owner == e) & (attempts > 1)]) for e in range(entrants)]


def _one_entrant(sums: Array) -> Consistency:
    if not len(sums) or sums[:, 3].sum() <= 0:
        return Consistency(None, None, None, None, None, len(sums))

    def component(total: Array) -> Array:
        noise = total[..., 2] / np.where(total[..., 3] > 0, total[..., 3], np.nan)
        return (total[..., 0] - noise * total[..., 1]) / np.where(total[..., 4] > 0, total[..., 4], np.nan)

    raw = float(component(sums.sum(0)))
    low, high = _jackknife(sums, component, raw)
    value = max(0.0, raw)
    high = None if high is None else max(0.0, high)
    return Consistency(value, value**0.5, low, high, _nested_icc(sums, value), len(sums))


def _nested_icc(sums: Array, attempts: float) -> float | None:
    """Share of the variance between prompts: three-level nested ANOVA (vote in attempt in prompt), floored at 0."""
    if len(sums) < 2:
        return None
    noise = sums[:, 2].sum() / sums[:, 3].sum()
    total, centre, squares = sums[:, 5], sums[:, 6], sums[:, 7]
    whole, df = total.sum(), len(sums) - 1
    spread = (total * (centre - (total * centre).sum() / whole) ** 2).sum() / df
    per_attempt = (squares.sum() - (squares * total).sum() / whole) / df
    per_prompt = (whole - (total**2).sum() / whole) / df
    prompts = max(0.0, float((spread - noise - per_attempt * attempts) / per_prompt))
    return prompts / (prompts + attempts) if prompts + attempts > 0 else None
