"""Fits of the scopes of a leaderboard (overall, each category) from tallies, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import (
    RIDGE,
    Connectivity,
    connectivity,
    fit_ratings,
    half_wins,
    information,
    laplacian,
    residual_table,
)
from ranking.statistics.ratings.intervals import Spread, cluster_scores, sandwich
from ranking.statistics.votes import Cells, Tallies, count_cells

Array = NDArray[Any]


class Handling(TypedDict):
    """How ties and fails count: as half a win for each, or not at all."""

    ties: str
    fails: str


@dataclass(frozen=True)
class Settings:
    """The choices behind a fit; stored with it, so that it can be made again."""

    ties: str = "half"  # half | drop
    fails: str = "half"  # half | drop
    weights: Mapping[str, float] = field(default_factory=dict)  # by judge; 0 leaves a judge out
    until: str | None = None
    level: float = 0.95
    margin: float = 35.0  # Elo: within it two entrants count as tied (one wins less than 55 in 100)
    judge_minimum: int = 20  # votes under which a judge's own ranking is hidden
    seed: int = 1
    draws: int = 2000

    @property
    def halves(self) -> Handling:
        return {"ties": self.ties, "fails": self.fails}


@dataclass(frozen=True)
class ScopeFit:
    """One scope: its counts, ratings (theta, mean 0) and how sure they are."""

    counts: Array  # [K, K, 4], votes
    weighted: Array  # [K, K, 4], votes times their judge's weight
    squared: Array  # [K, K, 4], votes times the square of their judge's weight
    wins: Array  # [K, K], weighted half-wins
    theta: Array
    connected: Connectivity
    spread: Spread
    meats: tuple[Array, tuple[Array, int], tuple[Array, int]]  # i.i.d., by judge, by prompt: to fit again elsewhere


def fit_overall(tallies: Tallies, settings: Settings) -> ScopeFit:
    return _fit(tallies, settings, scopes=1, judge_scope=None, prompt_scope=None)[0]


def fit_categories(tallies: Tallies, settings: Settings) -> list[ScopeFit]:
    """One fit a category, in the order of the name table; raw, each on its own votes only."""
    return _fit(
        tallies,
        settings,
        scopes=len(tallies.categories),
        judge_scope=tallies.by_judge.category,
        prompt_scope=tallies.by_prompt.category,
    )


def _fit(
    tallies: Tallies, settings: Settings, *, scopes: int, judge_scope: Array | None, prompt_scope: Array | None
) -> list[ScopeFit]:
    size = len(tallies.entrants)
    cells = tallies.by_judge
    shape = {"scopes": scopes, "scope": judge_scope, "size": size}
    counts = count_cells(cells, n=cells.n, **shape)
    weight = judge_weights(tallies)
    weighted = counts if weight is None else count_cells(cells, n=times(cells.n, weight), **shape)
    squared = counts if weight is None else count_cells(cells, n=times(cells.n, weight**2), **shape)
    wins = half_wins(weighted, **settings.halves)
    connected = [connectivity(table) for table in wins]
    theta = np.array([fit_ratings(table, c) for table, c in zip(wins, connected, strict=True)]).reshape(scopes, size)
    residuals = residual_table(theta, **settings.halves)
    iid = laplacian((squared * residuals**2).sum(-1))
    judges = cluster_scores(cells, residuals, scope=judge_scope, clusters=len(tallies.judges), n=times(cells.n, weight))
    prompts = cluster_scores(
        tallies.by_prompt, residuals, scope=prompt_scope, clusters=len(tallies.prompts), n=tallies.by_prompt.n
    )
    result = []
    for s in range(scopes):
        meats = iid[s], (judges.meat[s], judges.groups[s]), (prompts.meat[s], prompts.groups[s])
        spread = spread_of(wins[s], theta[s], meats, ridge=RIDGE if connected[s].components > 1 else 0.0)
        result.append(ScopeFit(counts[s], weighted[s], squared[s], wins[s], theta[s], connected[s], spread, meats))
    return result


def spread_of(wins: Array, theta: Array, meats: tuple[Array, Any, Any], *, ridge: float) -> Spread:
    iid, judge, prompt = meats
    return sandwich(information(wins, theta), iid_meat=iid, judge=judge, prompt=prompt, prior=ridge)


def judge_weights(tallies: Tallies) -> Array | None:
    """The weight of each cell's judge; None where all count fully (an unknown judge always does)."""
    if (tallies.weights == 1).all():
        return None
    return np.append(tallies.weights, 1.0)[tallies.by_judge.cluster]


def times(n: Array | None, weight: Array | None) -> Array | None:
    if n is None or weight is None:
        return weight if n is None else n
    return n * weight


def as_cells(rows: Mapping[str, Any], cluster: str) -> Cells:
    """Cells from columns of equal length: `cluster` (judge or prompt), category, left, right, outcome and n."""
    names = (cluster, "category", "left", "right", "outcome")
    columns = [np.asarray(rows[name], np.int32) for name in names]
    return Cells(*columns, n=np.asarray(rows["n"], np.float64))
