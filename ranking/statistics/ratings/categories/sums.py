"""A category's votes as sums: weighted counts, and the squared information of its judges and its prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import expected_scores
from ranking.statistics.ratings.scopes import ScopeFit, Settings, judge_weights, prompt_weights, times
from ranking.statistics.tables import Tables, group_tables, squared_information
from ranking.statistics.tallies import Cells, Tallies, count_cells

Array = NDArray[Any]


@dataclass(frozen=True)
class Sums:
    """Per category [C, ...]: weighted counts, and the squared information of its judges and its prompts, summed."""

    counts: Array
    weighted: Array
    squared: Array
    judges: Array  # Σ H_gc² over judges
    prompts: Array  # Σ H_p² over prompts


def category_sums(tallies: Tallies, overall: ScopeFit, settings: Settings) -> Sums:
    cells, size, many = tallies.by_judge, len(tallies.entrants), len(tallies.categories)
    each = judge_weights(overall, cells)
    shape: dict[str, Any] = {"scopes": many, "scope": cells.category, "size": size}
    counts = count_cells(cells, n=cells.n, **shape)
    weighted = counts if each is None else count_cells(cells, n=times(cells.n, each), **shape)
    squared = counts if each is None else count_cells(cells, n=times(cells.n, each**2), **shape)
    p = expected_scores(overall.theta)
    spread = p * (1 - p)
    judges = _judge_squares(cells, times(cells.n, each), settings, spread, len(tallies.judges), many)
    return Sums(counts, weighted, squared, judges, _prompt_squares(tallies, overall, settings, spread))


def _judge_squares(
    cells: Cells, n: Array | None, settings: Settings, spread: Array, judges: int, categories: int
) -> Array:
    """Σ over judges of the squared information of their votes in each category [C, K, K]."""
    size = len(spread)
    squares = np.zeros((categories, size, size))
    used = (cells.cluster >= 0) & (settings.counted > 0)[cells.outcome]
    place = cells.codes(size) >> 2  # outcomes apart
    place += cells.cluster.astype(np.int64) * (size * size)
    for c in range(categories):
        rows = np.flatnonzero(used & (cells.category == c))
        votes = np.bincount(place[rows], None if n is None else n[rows], max(judges, 1) * size * size)
        squares[c] = squared_information(votes.reshape(-1, size, size).astype(float, copy=False), spread)
    return squares


def _prompt_squares(tallies: Tallies, overall: ScopeFit, settings: Settings, spread: Array) -> Array:
    """Σ over a category's prompts of their squared information [C, K, K]."""
    tables, owner = _prompt_tables(tallies, overall, settings)
    squares = np.zeros((len(tallies.categories), *spread.shape))
    for c in range(len(squares)):
        here = np.flatnonzero(owner == c)
        if len(here):
            squares[c] = squared_information(tables.wins[here] + tables.draws[here], spread)
    return squares


def _prompt_tables(tallies: Tallies, overall: ScopeFit, settings: Settings) -> tuple[Tables, Array]:
    """Votes by prompt within a category, and each group's category; as in the overall fit where no prompt has two."""
    cells, size = tallies.by_prompt, len(tallies.entrants)
    shape = (len(tallies.categories), len(tallies.prompts))
    known = (cells.cluster >= 0) & (cells.category >= 0)
    code = cells.category.astype(np.int64) * shape[1] + cells.cluster
    present = np.bincount(code[known], minlength=shape[0] * shape[1]).reshape(shape) > 0
    pull = overall.pull
    if pull is not None and len(pull.seen) == size and known.all() and (present.sum(0) <= 1).all():
        return pull.prompts, present.argmax(0)[pull.prompts.labels]
    number = (np.cumsum(present) - 1)[np.where(known, code, 0)]
    grouped = Cells(np.where(known, number, -1), cells.category, cells.left, cells.right, cells.outcome)
    n = times(cells.n, prompt_weights(overall, cells))
    tables = group_tables(grouped, clusters=int(present.sum()), size=size, counted=settings.counted, n=n)
    return tables, (np.flatnonzero(present) // max(shape[1], 1))[tables.labels]
