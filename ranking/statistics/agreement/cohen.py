"""Cohen's kappa of every two judges, from the units that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ranking.statistics.agreement.coefficients import mirrored

Array = NDArray[Any]
BITS, STEP = 12, 2**14
BLOCK = 2**BITS - 1  # units at a time, so that two sums below 2¹² are exact in one number of single precision
PAIRS = 2**16  # at a time, about
MOST = 2500  # judges x classes up to which all pairs have a place in a table
DENSE = 0.022  # what a step of a product of whole tables takes, over one of counting pairs of answers


def cohen_matrix(
    answers: Array, edges: Array, *, judges: int, classes: int, mirror: tuple[int, int] | None = None
) -> tuple[Array, Array]:
    """Cohen's kappa [J, J] of every pair of judges and the units they share [J, J]; NaN where they share none.

    `answers` is judge x classes + class, unit by unit, at most one for a judge and unit; unit u's begin at edges[u] [units + 1].
    """
    pairs = float((np.diff(edges).astype(float) ** 2).sum()) / 2
    if mirror is not None and classes <= 4 and DENSE * judges**2 * (len(edges) - 1) < pairs:
        chosen, agreed = _by_tables(answers, edges, judges, classes, mirror)
    else:
        chosen, agreed = _by_answers(answers, edges, judges, classes)
    shared = chosen.sum(-1)
    marginals = mirrored(chosen, mirror)
    n = np.where(shared > 0, shared, np.nan)
    chance = (marginals * np.swapaxes(marginals, 0, 1)).sum(-1) / n**2
    kappa = np.where(chance < 1, (agreed / n - chance) / np.where(chance < 1, 1 - chance, 1), 1.0)
    return np.where(shared > 0, kappa, np.nan), shared.astype(int)


def _by_answers(answers: Array, edges: Array, judges: int, classes: int) -> tuple[Array, Array]:
    """How often each judge chose each class on units shared with each other [J, J, C], and how often they agreed [J, J]."""
    side = judges * classes
    if side > MOST:
        return _by_product(answers, edges, judges, classes)
    both = _by_pairs(answers, edges, side).reshape(judges, classes, judges, classes)
    return both.sum(3).swapaxes(1, 2).astype(float), np.einsum("iaja->ij", both)


def _by_pairs(answers: Array, edges: Array, side: int) -> Array:
    """How often two answers (judge and class as one number) stand on one unit, both ways round: pair by pair."""
    sizes = np.diff(edges)
    counts = np.zeros(side * side, np.int64)
    short = sizes.astype(np.min_scalar_type(sizes.max(initial=0)))  # which sort quicker
    order = np.argsort(short, kind="stable")
    last = np.cumsum(np.bincount(sizes))
    for size in range(2, len(last)):
        alike = order[last[size - 1] : last[size]]
        step = max(PAIRS // size, 1)
        for first in range(0, len(alike), step):
            columns = answers[edges[alike[first : first + step]] + np.arange(size)[:, None]].astype(np.int64)
            for k in range(size - 1):
                np.add.at(counts, (columns[k] * side + columns[k + 1 :]).ravel(), 1)
    both = counts.reshape(side, side)
    return both + both.T


def _by_product(answers: Array, edges: Array, judges: int, classes: int) -> tuple[Array, Array]:
    """As `_by_answers`, where there are so many judges that few of their pairs share a unit."""
    table: Any = csr_matrix(
        (np.ones(len(answers), np.int32), answers, edges.astype(np.int32)), shape=(len(edges) - 1, judges * classes)
    )
    both = (table.T @ table).tocoo()
    (one, mine), (other, theirs) = np.divmod(both.row, classes), np.divmod(both.col, classes)
    pair = one.astype(np.int64) * judges + other
    same = mine == theirs
    chosen = np.bincount(pair * classes + mine, both.data, judges * judges * classes)
    agreed = np.bincount(pair[same], both.data[same], judges * judges)
    return chosen.reshape(judges, judges, classes), agreed.reshape(judges, judges)


def _by_tables(answers: Array, edges: Array, judges: int, classes: int, mirror: tuple[int, int]) -> tuple[Array, Array]:
    """As `_by_answers`, by products of whole tables, some thousand units at a time.

    Sums are whole numbers below 2¹², so three are taken in one product, each at its own power of two, and none is rounded.
    With w = 1 and -1 in the mirrored classes, and d = 1 in both, LL' + RR' is (ww' + dd') / 2. Answers in the other classes,
    `others`, are few, and only their units' rows are added up.
    """
    others = [c for c in range(classes) if c not in mirror]
    sign, code = np.full(classes, float(STEP)), np.ones(classes)
    sign[list(mirror)] += (1, -1)
    code[others] += float(STEP) ** np.arange(1, 1 + len(others))
    rank = np.full(classes, -1)
    rank[others] = np.arange(len(others))
    signed, shared = np.zeros((judges, judges)), np.zeros((judges, judges))
    few = np.zeros(
        (3, judges, len(others), judges)
    )  # units on which one chose such a class: shared; and by the other's
    table = np.zeros((min(BLOCK, len(edges) - 1), judges))
    for first in range(0, len(edges) - 1, BLOCK):
        ends = edges[first : first + BLOCK + 1]
        units = len(ends) - 1
        part = answers[ends[0] : ends[-1]]
        judge = part // classes
        label = part - judge * classes
        unit = np.repeat(np.arange(units), np.diff(ends))
        here, place = table[:units], unit * judges + judge
        flat = here.reshape(-1)
        flat[place] = sign[label]
        low, _, high = _digits((here.T @ here).astype(np.int64))
        signed += low
        shared += high
        flat[place] = code[label]
        rare = np.flatnonzero(rank[label] >= 0)
        row = judge[rare] * len(others) + rank[label[rare]]
        chose: Any = csr_matrix((np.ones(len(rare)), (row, unit[rare])), shape=(judges * len(others), units))
        few += np.reshape(_digits((chose @ here).astype(np.int64)), few.shape)
        flat[place] = 0
    chosen = np.zeros((judges, judges, classes))
    chosen[..., others] = few[0].swapaxes(1, 2)
    not_mirrored, both = chosen.sum(-1), few[1:].sum((0, 2))
    decided = shared - not_mirrored - not_mirrored.T + both
    # Chance takes the mean of the mirrored classes, so their sum will do.
    chosen[..., mirror[0]] = shared - not_mirrored
    same = sum(few[1 + k, :, k] for k in range(len(others)))
    return chosen, (signed + decided) / 2 + same


def _digits(numbers: Array) -> list[Array]:
    """Three whole numbers, each less than half a STEP either side of 0, from their sum times 1, STEP and STEP²."""
    digits = []
    for _ in range(3):
        low = ((numbers + STEP // 2) & (STEP - 1)) - STEP // 2
        digits.append(low)
        numbers = (numbers - low) // STEP
    return digits
