"""How far the scale can be trusted as a whole, as papers on comparative judgement report it: separation, split halves, infit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import RIDGE, map_ratings
from ranking.statistics.ratings.scopes import ScopeFit

Array = NDArray[Any]
SPLITS = 20  # of the judges into halves
FEWEST_JUDGES = 4


@dataclass(frozen=True)
class ScaleChecks:
    """- `separation`: the share of the ratings' variance that is not error (comparative judgement asks for 0.8).
    - `split_half`: how well ratings by one half of the judges predict those by the other, for the whole panel.
    - `judge_infit` [J], `entrant_infit` [K]: squared surprise over its expectation, 1 on average; NaN without votes.
    """

    separation: float | None
    split_half: float | None
    judge_infit: Array
    entrant_infit: Array


def check_scale(fit: ScopeFit, *, judges: int, seed: int = 1) -> ScaleChecks:
    by_judge, by_entrant = np.full(judges, np.nan), np.full(len(fit.theta), np.nan)
    whole = fit.connected.islands == 1  # ratings of groups that never met have no scale in common
    separation = separation_reliability(fit.theta, fit.spread.variance) if whole else None
    if fit.pull is None:
        return ScaleChecks(separation, None, by_judge, by_entrant)
    residuals = fit.pull.ways[0].residuals
    assert residuals is not None  # both ways of a fit have them
    surprise, expected = residuals.surprise, residuals.expected
    by_judge[fit.pull.judges.labels] = _infit(surprise.sum(1), expected.sum(1))
    by_entrant[fit.pull.seen] = _infit(surprise.sum(0), expected.sum(0))
    return ScaleChecks(separation, _split_half(fit, seed) if whole else None, by_judge, by_entrant)


def _infit(surprise: Array, expected: Array) -> Array:
    """Relative to that of all votes: ties and fails surprise less than wins, for everybody alike."""
    usual = surprise.sum() / expected.sum() if expected.sum() > 0 else 1.0
    return np.where(expected > 0, surprise / np.where(expected > 0, expected, 1) / (usual or 1.0), np.nan)


def separation_reliability(theta: Array, variance: Array) -> float | None:
    """Scale separation reliability."""
    if len(theta) < 2 or not np.isfinite(variance).all():
        return None
    observed = float(np.var(theta, ddof=1))
    return max(0.0, 1 - float(variance.mean()) / observed) if observed > 0 else None


def _split_half(fit: ScopeFit, seed: int) -> float | None:
    """Mean correlation of ratings by random halves of the judges, stepped up to the whole panel by Spearman and Brown."""
    assert fit.pull is not None
    tables = fit.pull.judges
    many, size = len(tables.labels), len(fit.pull.seen)
    if many < FEWEST_JUDGES or size < 3:
        return None
    rng = np.random.default_rng(seed)
    half = np.argsort(rng.random((SPLITS, many)), axis=1) < many // 2
    weight = np.ones(many) if tables.weight is None else tables.weight
    wins = tables.wins + 0.5 * (tables.draws + np.swapaxes(tables.draws, 1, 2))
    order = sorted(range(many), key=lambda judge: wins[judge].tobytes())  # whatever the judges are called
    wins, weight = wins[order], weight[order]
    sides = np.concatenate([half, ~half]) * weight
    totals = (sides @ wins.reshape(many, -1)).reshape(-1, size, size)
    ratings = map_ratings(totals, ridge=RIDGE, start=fit.theta[fit.pull.seen])
    pairs = zip(ratings[:SPLITS], ratings[SPLITS:], strict=True)
    r = float(np.mean([np.corrcoef(one, other)[0, 1] for one, other in pairs if one.std() and other.std()] or [0.0]))
    return 2 * r / (1 + r) if r > 0 else 0.0
