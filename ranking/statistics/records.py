"""Votes of each judge (or prompt) by category, entrant and outcome, and what is read from them: fail rates, records, homes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.grouping import PORTION
from ranking.statistics.tallies import Cells, Tallies, grouped_cells
from ranking.statistics.votes import LEFT, RIGHT

Array = NDArray[Any]
HOME_SHARE = 0.75  # of a group's votes that make a category its home


def side_records(cells: Cells, groups: int, size: int, categories: int) -> tuple[Array, Array]:
    """Votes [C + 1, G + 1, K, 4] by category, group, entrant and outcome, of entrants on the left and on the right.

    The first category and the first group are those of votes that name none. Counted once for all who ask.
    """
    return cells.once(("records", groups, size, categories), lambda: _count_sides(cells, groups, size, categories))


def _count_sides(cells: Cells, groups: int, size: int, categories: int) -> tuple[Array, Array]:
    shape = (categories + 1, groups + 1, size, 4)
    places, codes = int(np.prod(shape)), cells.codes(size)
    left, right, outcome = np.indices((size, size, 4), np.int32).reshape(3, -1)
    sides = [entrant * 4 + outcome for entrant in (left, right)]
    counts = np.zeros((2, places))
    step = max(PORTION, places)
    for first in range(0, len(codes), step):
        here = slice(first, first + step)
        group = (cells.category[here] + 1).astype(np.int64)
        group *= groups + 1
        group += cells.cluster[here]
        group += 1
        group *= size * 4
        n = None if cells.n is None else cells.n[here]
        for count, side in zip(counts, sides, strict=True):
            count += np.bincount(group + side[codes[here]], n, places)
    as_left, as_right = counts.reshape(2, *shape)
    return as_left, as_right


def entrant_records(cells: Cells, groups: int, size: int, categories: int) -> Array:
    """Wins, losses, ties and fails [C + 1, G + 1, K, 4] of each entrant, by category and group as above."""
    as_left, as_right = side_records(cells, groups, size, categories)
    return as_left + as_right[..., [RIGHT, LEFT, 2, 3]]


def entrant_record(counts: Array) -> Array:
    """Wins, losses, ties and fails [..., K, 4] of each entrant, from counts [..., K, K, 4]."""
    as_left, as_right = counts.sum(-2), counts.sum(-3)
    return as_left + as_right[..., [RIGHT, LEFT, 2, 3]]


def votes_by_category(cells: Cells, groups: int, size: int, categories: int) -> Array:
    """Votes [C, G] of each judge (or prompt) in each category; those of an unknown one are left out."""
    return side_records(cells, groups, size, categories)[0].sum((2, 3))[1:, 1:]


def judge_homes(tallies: Tallies) -> Array:
    """The category [J] in which nearly all votes of each judge are; -1 where they are in several."""
    if tallies.homes is not None:
        return tallies.homes
    return _homes(tallies, tallies.by_judge, len(tallies.judges))


def prompt_homes(tallies: Tallies) -> Array:
    """The same of each prompt."""
    return _homes(tallies, tallies.by_prompt, len(tallies.prompts))


def _homes(tallies: Tallies, cells: Cells, groups: int) -> Array:
    categories = len(tallies.categories)
    if categories < 2:
        return np.full(groups, -1)
    votes = votes_by_category(cells, groups, len(tallies.entrants), categories)
    top = votes.argmax(0)
    return np.where(votes[top, np.arange(groups)] > HOME_SHARE * votes.sum(0), top, -1)


def pool_categories(tallies: Tallies) -> Tallies:
    """The same votes of all categories together, where that leaves far fewer cells by judge."""
    cells = tallies.by_judge
    apart = replace(cells, category=np.broadcast_to(np.int32(-1), cells.category.shape))
    pooled = grouped_cells(apart)
    return tallies if pooled is apart else replace(tallies, by_judge=pooled, homes=judge_homes(tallies))
