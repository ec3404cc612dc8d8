"""Passes over columns of very many rows: some at a time, so that what is worked out on the way stays in the processor's cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Array = NDArray[Any]
PORTION = 2**18  # rows at a time


def portions(rows: int) -> Iterator[slice]:
    for first in range(0, rows, PORTION):
        yield slice(first, min(first + PORTION, rows))


def count_rows(rows: int, places: int, place_of: Callable[[slice], Array]) -> Array:
    """How many of the rows have each place (0 to places - 1)."""
    if places > PORTION:  # adding so many counts for each portion would take longer than to hold all places once
        every = np.empty(rows, np.int64)
        for here in portions(rows):
            every[here] = place_of(here)
        return np.bincount(every, minlength=places)
    counts = np.zeros(places, np.int64)
    for here in portions(rows):
        counts += np.bincount(place_of(here).astype(np.int64, copy=False), minlength=places)
    return counts


def sum_rows(rows: int, places: int, parts_of: Callable[[slice], tuple[Array, ...]], sums: int = 1) -> list[Array]:
    """For each place the sums of so many values of its rows; `parts_of` some rows are their places, then these values."""
    totals = [np.zeros(places) for _ in range(sums)]
    for here in portions(rows):
        place, *values = parts_of(here)
        place = place.astype(np.int64, copy=False)
        for total, value in zip(totals, values, strict=True):
            if places <= PORTION:
                total += np.bincount(place, value, places)
            else:
                np.add.at(total, place, value)
    return totals


def count_cells_at(n: Array | None, rows: int, places: int, place_of: Callable[[slice], Array]) -> Array:
    """Votes at each place, of cells with so many votes each (None: one)."""
    if n is None:
        return count_rows(rows, places, place_of).astype(float)
    return sum_rows(rows, places, lambda here: (place_of(here), n[here]))[0]


def packed_in_order(rows: int, *columns: tuple[Array | None, int]) -> Array | None:
    """One number a row, in order: the bits of its columns, the first column's highest; None if that takes over 63 bits.

    Each column has values from 0 to below the number beside it; None stands for the rows' own numbers.
    """
    widths = [bits_of(values) for _, values in columns]
    if sum(widths) > 63:
        return None
    packed = np.zeros(rows, np.int64)
    for here in portions(rows):
        part = packed[here]
        for (column, _), width in zip(columns, widths, strict=True):
            part <<= width
            part |= np.arange(here.start, here.stop) if column is None else column[here]
    packed.sort()  # numbers sort many times quicker than rows do
    return packed


def bits_of(values: int) -> int:
    """That hold the numbers from 0 to below so many."""
    return max(values - 1, 0).bit_length()


def grouped(values: Array, group: Array, groups: int) -> Array:
    """Values [n] in order of their group (0 to groups - 1), those of one group as they came: by counting, not by comparing."""
    rows = len(values)
    one_each = np.arange(rows + 1, dtype=np.int32 if rows < 2**31 else np.int64)
    table: Any = csr_matrix
    return np.asarray(table((values, group, one_each), shape=(rows, groups)).tocsc().data)


def edges_of(group: Array, groups: int) -> Array:
    """Where each group begins in values in order of it, and the last one's end [groups + 1]."""
    sizes = count_rows(len(group), groups, lambda here: group[here])
    return np.concatenate([[0], np.cumsum(sizes)])
