"""One scope's table: a line for each entrant, from its fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.judges.fits import JudgeFits, entrant_record
from ranking.statistics.ratings.bradley_terry import ELO, information, map_ratings, to_elo
from ranking.statistics.ratings.intervals import Z95, Ranks, Spread, arena_rank, rank_ranges, sandwich, wilson
from ranking.statistics.ratings.scopes import ScopeFit, Settings
from ranking.statistics.ratings.shrinkage import choose_strength

Array = NDArray[Any]


@dataclass(frozen=True)
class Standing:
    """One entrant in one scope; ratings on the Elo scale, None where a bound does not exist."""

    entrant: str
    rating: float
    se: float
    low: float | None
    high: float | None
    iid_low: float | None
    iid_high: float | None
    rank: int
    rank_low: int
    rank_high: int
    arena_rank: int
    p_best: float
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


@dataclass(frozen=True)
class JudgeStanding:
    """One entrant in one judge's own ranking, shrunk to the pooled one."""

    entrant: str
    rating: float
    se: float
    low: float
    high: float
    rank: int
    votes: int
    wins: int
    losses: int
    ties: int
    fails: int


def overall_standings(names: tuple[str, ...], fit: ScopeFit, settings: Settings) -> list[Standing]:
    no_upper, no_lower = fit.connected.no_upper, fit.connected.no_lower
    return _standings(
        names,
        fit,
        settings,
        theta=fit.theta,
        spread=fit.spread,
        island=fit.connected.island,
        open_above=no_upper,
        open_below=no_lower,
    )


@dataclass(frozen=True)
class ShrunkCategories:
    """Categories drawn to the overall rating, and how strongly."""

    standings: dict[str, list[Standing]]
    theta: Array  # [C, K]
    strength: float | None


def category_standings(
    names: tuple[str, ...],
    categories: tuple[str, ...],
    fits: list[ScopeFit],
    overall: ScopeFit,
    settings: Settings,
) -> ShrunkCategories:
    """Each category shrunk to the overall ratings (empirical Bayes), raw rating beside it.

    Votes are worth less than their number when judges and prompts hang together, so the strength is chosen from
    counts divided by the overall design effect.
    """
    if not fits or len(names) < 2:
        strength = None
    else:
        effect = max(1.0, overall.spread.design_effect or 1.0)
        strength = choose_strength(np.array([fit.wins for fit in fits]) / effect, overall.theta)
    tables, thetas = {}, []
    bounded = np.zeros(len(names), bool)
    for name, fit in zip(categories, fits, strict=True):
        theta, spread = fit.theta, fit.spread
        if strength is not None:
            theta = map_ratings(fit.wins, prior=overall.theta, ridge=strength)
            iid, judge, prompt = fit.meats
            bread = information(fit.wins, theta)
            spread = sandwich(bread, iid_meat=iid, judge=judge, prompt=prompt, prior=strength)
        thetas.append(theta)
        tables[name] = _standings(
            names,
            fit,
            settings,
            theta=theta,
            spread=spread,
            island=overall.connected.island,
            open_above=bounded,
            open_below=bounded,
            raw=to_elo(fit.theta),
        )
    return ShrunkCategories(tables, np.array(thetas).reshape(len(fits), len(names)), strength)


def _standings(
    names: tuple[str, ...],
    fit: ScopeFit,
    settings: Settings,
    *,
    theta: Array,
    spread: Spread,
    island: Array,
    open_above: Array,
    open_below: Array,
    raw: Array | None = None,
) -> list[Standing]:
    if not names:
        return []
    rating, se = to_elo(theta), ELO * np.sqrt(np.maximum(spread.variance, 0))
    iid = ELO * Z95 * np.sqrt(np.maximum(np.diag(spread.iid_covariance), 0))
    reach = spread.quantile(settings.level) * se
    low = np.where(open_below, -np.inf, rating - reach)
    high = np.where(open_above, np.inf, rating + reach)
    ranks = rank_ranges(theta, spread, island=island, seed=settings.seed, draws=settings.draws, level=settings.level)
    columns = {
        "rating": rating,
        "se": se,
        "low": low,
        "high": high,
        "iid_low": np.where(open_below, -np.inf, rating - iid),
        "iid_high": np.where(open_above, np.inf, rating + iid),
        "arena_rank": arena_rank(low, high),
        "component": fit.connected.component,
    }
    rows = [_standing(names, i, columns, ranks, entrant_record(fit.counts), fit, raw) for i in range(len(names))]
    return sorted(rows, key=lambda row: (-round(row.rating, 6), row.entrant))


def _standing(
    names: tuple[str, ...], i: int, columns: dict[str, Array], ranks: Ranks, record: Array, fit: ScopeFit, raw: Any
) -> Standing:
    wins, losses, ties, fails = (round(n) for n in record[i])
    votes = wins + losses + ties + fails
    fail_low, fail_high = wilson(fails, votes)
    bounds = {name: finite(columns[name][i]) for name in ("low", "high", "iid_low", "iid_high")}
    return Standing(
        entrant=names[i],
        rating=float(columns["rating"][i]),
        se=float(columns["se"][i]),
        rank=int(ranks.rank[i]),
        rank_low=int(ranks.low[i]),
        rank_high=int(ranks.high[i]),
        arena_rank=int(columns["arena_rank"][i]),
        p_best=float(ranks.p_best[i]),
        votes=votes,
        wins=wins,
        losses=losses,
        ties=ties,
        fails=fails,
        fail_rate=fails / votes if votes else None,
        fail_low=fail_low,
        fail_high=fail_high,
        unbounded=bool(fit.connected.no_upper[i] or fit.connected.no_lower[i]),
        component=int(columns["component"][i]),
        raw_rating=None if raw is None or not votes else float(raw[i]),
        **bounds,
    )


def finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def judge_standings(names: tuple[str, ...], fits: JudgeFits, judge: int) -> list[JudgeStanding]:
    rating, se = to_elo(fits.theta[judge]), ELO * np.sqrt(fits.variance[judge])
    order = sorted(range(len(names)), key=lambda i: (-round(rating[i], 6), names[i]))
    rows = []
    for place, i in enumerate(order, start=1):
        wins, losses, ties, fails = (round(n) for n in fits.tallies[judge, i])
        rows.append(
            JudgeStanding(
                entrant=names[i],
                rating=float(rating[i]),
                se=float(se[i]),
                low=float(rating[i] - Z95 * se[i]),
                high=float(rating[i] + Z95 * se[i]),
                rank=place,
                votes=wins + losses + ties + fails,
                wins=wins,
                losses=losses,
                ties=ties,
                fails=fails,
            )
        )
    return rows
