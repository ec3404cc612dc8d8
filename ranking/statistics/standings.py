"""One scope's table: a line for each entrant, from its fit."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.best import chance_of_best, draw_best
from ranking.statistics.ratings.bradley_terry import ELO, to_elo
from ranking.statistics.ratings.categories.fits import CategoryFit
from ranking.statistics.ratings.fail_rates import FailRates
from ranking.statistics.ratings.intervals import Z95, arena_rank
from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.ratings.scopes import ScopeFit, Settings
from ranking.statistics.records import entrant_record
from ranking.statistics.verdicts.pairs import Verdicts, judge_category

Array = NDArray[Any]


@dataclass(frozen=True)
class EntrantStanding:
    """One entrant in one scope; ratings on the Elo scale, None where a bound does not exist."""

    entrant: str
    rating: float
    se: float | None
    low: float | None
    high: float | None
    iid_low: float | None
    iid_high: float | None
    rank: int
    rank_low: int
    rank_high: int
    arena_rank: int
    p_best: float | None
    votes: int
    wins: int
    losses: int
    ties: int
    fails: int
    fail_rate: float | None
    fail_low: float | None
    fail_high: float | None
    unbounded: bool
    component: int
    raw_rating: float | None = None  # in categories: the category's own votes, not shrunk


def overall_standings(
    names: tuple[str, ...], fit: ScopeFit, settings: Settings, *, verdicts: Verdicts, fails: FailRates
) -> list[EntrantStanding]:
    spread, connected = fit.spread, fit.connected
    chances = np.full(len(names), np.nan)  # nobody is best of groups that never met
    if connected.islands <= 1:
        chances = chance_of_best(fit.theta, spread, island=connected.island, seed=settings.seed, draws=settings.draws)
    columns = {
        **_bounds(
            fit.theta, np.sqrt(spread.variance), spread.reach(settings.level), connected.no_upper, connected.no_lower
        ),
        **_iid(fit.theta, spread.iid_covariance, np.isfinite(spread.variance), connected.no_upper, connected.no_lower),
        **_ranks(verdicts),
        "p_best": chances,
        "component": connected.component,
        "unbounded": connected.no_upper | connected.no_lower,
        "fail_low": fails.low,
        "fail_high": fails.high,
    }
    return _rows(names, columns, entrant_record(fit.counts))


@dataclass(frozen=True)
class Categories:
    """Tables of all categories, their ratings, and the names of those whose votes are too few for a statement."""

    standings: dict[str, list[EntrantStanding]]
    theta: Array  # [C, K]
    strength: float | None
    thin: tuple[str, ...]


def category_standings(
    names: tuple[str, ...],
    categories: tuple[str, ...],
    fits: list[CategoryFit],
    overall: ScopeFit,
    settings: Settings,
    *,
    whole: list[EntrantStanding],
    fails: list[FailRates],
) -> Categories:
    """Each category drawn to the overall ratings, raw rating beside it; a single category is the whole."""
    theta = np.array([fit.theta for fit in fits]).reshape(len(fits), len(names))
    if not fits:
        return Categories({}, theta, None, ())
    if len(fits) == 1:
        return Categories({categories[0]: whole}, overall.theta[None, :], None, ())
    tables = {
        name: _category_table(names, fit, overall, settings, failed)
        for name, fit, failed in zip(categories, fits, fails, strict=True)
    }
    thin = tuple(name for name, fit in zip(categories, fits, strict=True) if fit.is_thin)
    return Categories(tables, theta, float(np.median([fit.strength for fit in fits])), thin)


def _category_table(
    names: tuple[str, ...], fit: CategoryFit, overall: ScopeFit, settings: Settings, fails: FailRates
) -> list[EntrantStanding]:
    size = len(names)
    bounded = np.zeros(size, bool)
    variance = np.where(np.isfinite(overall.spread.variance), np.maximum(np.diag(fit.covariance), 0), np.inf)
    reach = float(t_quantile(fit.df, 0.5 + settings.level / 2)) * np.sqrt(variance)
    verdicts = judge_category(fit, overall.connected, settings)
    record = entrant_record(fit.counts)
    votes = record.sum(1)
    columns = {
        **_bounds(fit.theta, np.sqrt(variance), reach, bounded, bounded),
        **_iid(fit.theta, fit.iid_covariance, np.isfinite(variance), bounded, bounded),
        **_ranks(verdicts, theta=fit.theta),
        "p_best": np.full(size, np.nan)
        if fit.is_thin or overall.connected.islands > 1
        else draw_best(
            fit.theta, fit.covariance, fit.df, overall.connected.island, seed=settings.seed, draws=settings.draws
        ),
        "component": overall.connected.component,
        "unbounded": bounded,
        "fail_low": fails.low,
        "fail_high": fails.high,
        "raw_rating": np.where(votes > 0, to_elo(fit.raw), np.nan),
    }
    return _rows(names, columns, record)


def _bounds(theta: Array, error: Array, reach: Array, open_above: Array, open_below: Array) -> dict[str, Array]:
    rating = to_elo(theta)
    low = np.where(open_below, -np.inf, rating - ELO * reach)
    high = np.where(open_above, np.inf, rating + ELO * reach)
    return {"rating": rating, "se": ELO * error, "low": low, "high": high, "arena_rank": arena_rank(low, high)}


def _iid(theta: Array, covariance: Array, known: Array, open_above: Array, open_below: Array) -> dict[str, Array]:
    half = ELO * Z95 * np.sqrt(np.maximum(np.diag(covariance), 0))
    rating = to_elo(theta)
    return {
        "iid_low": np.where(open_below | ~known, -np.inf, rating - half),
        "iid_high": np.where(open_above | ~known, np.inf, rating + half),
    }


def _ranks(verdicts: Verdicts, theta: Array | None = None) -> dict[str, Array]:
    gap = verdicts.gap if theta is None else theta[:, None] - theta[None, :]
    rank = 1 + (verdicts.comparable & (gap < -1e-9)).sum(1)
    low, high = np.minimum(verdicts.rank_low, rank), np.maximum(verdicts.rank_high, rank)
    return {"rank": rank, "rank_low": low, "rank_high": high}


WHOLE = ("rank", "rank_low", "rank_high", "arena_rank", "component")
MAYBE = ("se", "low", "high", "iid_low", "iid_high", "p_best", "fail_low", "fail_high", "raw_rating")


def _rows(names: tuple[str, ...], columns: dict[str, Array], record: Array) -> list[EntrantStanding]:
    numbers = {key: np.asarray(columns[key], int).tolist() for key in WHOLE}
    numbers |= {key: [finite(value) for value in columns[key].tolist()] for key in MAYBE if key in columns}
    ratings, unbounded = columns["rating"].tolist(), columns["unbounded"].tolist()
    rows = []
    for i, (name, counts) in enumerate(zip(names, np.rint(record).astype(int).tolist(), strict=True)):
        wins, losses, ties, fails = counts
        votes = sum(counts)
        own: dict[str, Any] = {key: column[i] for key, column in numbers.items()}
        rows.append(
            EntrantStanding(
                entrant=name,
                rating=ratings[i],
                votes=votes,
                wins=wins,
                losses=losses,
                ties=ties,
                fails=fails,
                fail_rate=fails / votes if votes else None,
                unbounded=unbounded[i],
                **own,
            )
        )
    return sorted(rows, key=lambda row: (-round(row.rating, 6), row.entrant))


def finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None
