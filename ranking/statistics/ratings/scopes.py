"""The fit of a scope of a leaderboard from tallies: ratings with activity weights, and how sure they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.activity import (
    EVEN,
    FIRST_GUESS,
    ActivityWeights,
    class_information,
    weigh_classes,
)
from ranking.statistics.ratings.bradley_terry import (
    RIDGE,
    Connectivity,
    connectivity,
    fit_ratings,
    half_wins,
    information,
    map_ratings,
    outcome_scores,
)
from ranking.statistics.ratings.components import pool_component
from ranking.statistics.ratings.groups import Way, summarise_way
from ranking.statistics.ratings.precision import Precision, combine_ways, no_precision
from ranking.statistics.records import judge_homes, prompt_homes
from ranking.statistics.tables import Tables, group_tables
from ranking.statistics.tallies import Cells, Tallies, count_cells

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
    activity: str = "weighted"  # weighted | even: whether votes of very active judges count for less
    until: str | None = None
    level: float = 0.95
    margin: float = 35.0  # Elo: within it two entrants count as tied (one wins less than 55 in 100)
    judge_minimum: int = 50  # votes under which a judge's own ranking is hidden
    seed: int = 1
    draws: int = 2000

    @property
    def halves(self) -> Handling:
        return {"ties": self.ties, "fails": self.fails}

    @property
    def counted(self) -> Array:
        return outcome_scores(**self.halves)[1]


@dataclass(frozen=True)
class Pull:
    """What later fits need of this one: votes by group, both ways' sums and the inverse information, all at theta."""

    judges: Tables
    prompts: Tables
    ways: tuple[Way, Way]
    inverse: Array
    seen: Array  # numbers of the entrants with votes, to which all of the above belong


@dataclass(frozen=True)
class ScopeFit:
    """One scope: its counts, ratings (theta, mean 0) and how sure they are."""

    counts: Array  # [K, K, 4], votes
    weighted: Array  # [K, K, 4], votes times their weight
    squared: Array  # [K, K, 4], votes times their squared weight
    wins: Array  # [K, K], weighted half-wins
    theta: Array
    connected: Connectivity
    spread: Precision
    activity: ActivityWeights
    weights: Array  # [J]: a curator's weight times the activity's
    ridge: float  # of the fit: 0 where maximum likelihood exists among the entrants with votes
    pull: Pull | None  # None where votes decide nothing

    @property
    def decided(self) -> float:
        return float(self.counts[..., :2].sum())


def fit_overall(tallies: Tallies, settings: Settings) -> ScopeFit:
    """Recipe: unweighted ratings, activity weights from judges' variance, the weighted ratings and their precision."""
    size, cells = len(tallies.entrants), tallies.by_judge
    counts = count_cells(cells, scopes=1, scope=None, size=size, n=cells.n)[0]
    plain, plain_squared = _weigh(tallies, counts, tallies.weights, 1.0)
    wins = half_wins(plain, **settings.halves)
    connected = connectivity(wins)
    theta = fit_ratings(wins, connected)
    seen = np.flatnonzero((wins + wins.T).any(1))
    even = ScopeFit(
        counts=counts,
        weighted=plain,
        squared=plain_squared,
        wins=wins,
        theta=theta,
        connected=connected,
        spread=no_precision(size),
        activity=EVEN,
        weights=tallies.weights,
        ridge=RIDGE if len(seen) > 1 and connectivity(wins[np.ix_(seen, seen)]).components > 1 else 0.0,
        pull=None,
    )
    if len(seen) < 2 or not even.decided:
        return even
    judges = group_tables(cells, clusters=len(tallies.judges), size=size, counted=settings.counted, n=cells.n)
    strata = strata_of(judges.labels, judge_homes(tallies))
    judges = replace(judges, weight=tallies.weights[judges.labels], strata=strata)
    return _weighted_fit(tallies, settings, even, judges if len(seen) == size else judges.among(seen), seen)


def _weighted_fit(tallies: Tallies, settings: Settings, even: ScopeFit, judges: Tables, seen: Array) -> ScopeFit:
    by_class = class_information(judges, even.theta[seen], tallies.activity) if settings.activity == "weighted" else {}
    guess = weigh_classes(by_class, FIRST_GUESS)
    first, way = _refit(tallies, settings, even, judges, seen, guess)
    component = pool_component(way, len(seen))
    weights = weigh_classes(by_class, component.variance)
    if weights.by_class != guess.by_class:
        first, way = _refit(tallies, settings, even, judges, seen, weights)
    prompts = _prompt_tables(tallies, settings, weights, seen)
    assert first.pull is not None  # _refit gives it
    inverse = first.pull.inverse
    by_prompt = summarise_way(prompts, first.theta[seen], inverse)
    components = component, pool_component(by_prompt, len(seen))
    spread = combine_ways(
        way, by_prompt, components=components, prior=even.ridge * inverse @ inverse if even.ridge else None
    )
    pull = Pull(first.pull.judges, prompts, (way, by_prompt), inverse, seen)
    return replace(first, spread=spread.spread_out(seen, len(even.theta)), pull=pull)


def _refit(
    tallies: Tallies, settings: Settings, even: ScopeFit, judges: Tables, seen: Array, weights: ActivityWeights
) -> tuple[ScopeFit, Way]:
    """Ratings under weights, and the judges' way at them."""
    size, ridge = len(even.theta), even.ridge
    fit = even
    if not weights.even:
        loner = weights.by_class.get(-1, 1.0)
        factor = tallies.weights * weights.of(tallies.activity)
        judges = replace(judges, weight=factor[judges.labels], loner_weight=loner)
        weighted, squared = _weigh(tallies, even.counts, factor, loner)
        wins = half_wins(weighted, **settings.halves)
        theta = np.zeros(size)
        theta[seen] = map_ratings(wins[np.ix_(seen, seen)], ridge=ridge or 1e-9, start=even.theta[seen])
        theta[seen] -= 0.0 if ridge else theta[seen].mean()
        fit = replace(
            even, weighted=weighted, squared=squared, wins=wins, theta=theta, activity=weights, weights=factor
        )
    bread = information(fit.wins[np.ix_(seen, seen)], fit.theta[seen])
    inverse = np.linalg.inv(bread + (ridge * np.eye(len(seen)) if ridge else 1 / len(seen)))
    way = summarise_way(judges, fit.theta[seen], inverse)
    return replace(fit, pull=Pull(judges, judges, (way, way), inverse, seen)), way


def _weigh(tallies: Tallies, counts: Array, weights: Array, loner: float) -> tuple[Array, Array]:
    """Counts [K, K, 4] times weights, and times squared weights."""
    if (weights == 1).all() and loner == 1:
        return counts, counts
    cells, size = tallies.by_judge, len(tallies.entrants)
    each = np.append(weights, loner)[cells.cluster]
    once, squared = (
        count_cells(cells, n=times(cells.n, w), scopes=1, scope=None, size=size)[0] for w in (each, each**2)
    )
    return once, squared


def _prompt_tables(tallies: Tallies, settings: Settings, weights: ActivityWeights, seen: Array) -> Tables:
    cells = tallies.by_prompt
    n, squares = cells.n, cells.squares
    if not weights.even:
        each = weights.of(cells.activity)
        n, squares = times(n, each), times(n if squares is None else squares, each**2)
    size = len(tallies.entrants)
    tables = group_tables(
        cells, n=n, squares=squares, clusters=len(tallies.prompts), size=size, counted=settings.counted
    )
    tables = replace(tables, strata=strata_of(tables.labels, prompt_homes(tallies)))
    return tables if len(seen) == size else tables.among(seen)


def strata_of(labels: Array, homes: Array) -> Array | None:
    """Kinds of groups by their home category; None where there is one kind, or fewer than two groups of a kind on average.

    Categories are those of the study, not a sample of categories: what distinguishes them is not chance, and judges who keep
    to one of them, or its prompts, are compared with each other.
    """
    kinds, stratum = np.unique(homes[labels], return_inverse=True)
    return stratum if 1 < len(kinds) <= len(labels) / 2 else None


def judge_weights(fit: ScopeFit, cells: Cells) -> Array | None:
    """The weight of each cell by judge; None where all are 1."""
    each = np.append(fit.weights, fit.activity.by_class.get(-1, 1.0))
    return None if (each == 1).all() else each[cells.cluster]


def prompt_weights(fit: ScopeFit, cells: Cells) -> Array | None:
    """The same by prompt: by class of judge."""
    return None if fit.activity.even else fit.activity.of(cells.activity)


def times(n: Array | None, weight: Array | None) -> Array | None:
    if n is None or weight is None:
        return weight if n is None else n
    return n * weight


def as_cells(rows: Mapping[str, Any], cluster: str) -> Cells:
    """Cells from columns of equal length: `cluster` (judge or prompt), category, left, right, outcome, n, and activity if given."""
    names = (cluster, "category", "left", "right", "outcome")
    cluster_of, category, left, right, outcome = (np.asarray(rows[name], np.int32) for name in names)
    activity = np.asarray(rows["activity"], np.int8) if "activity" in rows else None
    n = np.asarray(rows["n"], np.float64)
    return Cells(cluster_of, category, left, right, outcome, n=n, activity=activity)
