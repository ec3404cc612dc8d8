"""What it would take to settle two neighbours: more votes of this panel, or, where these cannot do it, more people or prompts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import ELO, Connectivity
from ranking.statistics.ratings.precision import Precision
from ranking.statistics.ratings.scopes import ScopeFit
from ranking.statistics.verdicts.pairs import SETTLED, TIED, Verdicts
from ranking.statistics.verdicts.sequence import sequence_quantiles

Array = NDArray[Any]
MOST_TIMES = 1e4  # more times the votes, judges or prompts at hand is no forecast
ROUNDS, CLOSE = 60, 1e-10  # of the search for it, and how near (of the width) it must come


@dataclass(frozen=True)
class Forecast:
    """What is still needed for a pair; all 0 where it is settled or tied, None where that alone will not do.

    - `votes`: more votes of the judges and on the prompts at hand;
    - `judges`: more judges as active as these, on the prompts at hand;
    - `prompts`: more prompts like these (and judges in proportion).
    """

    votes: int | None
    judges: int | None
    prompts: int | None


DONE, NEVER = Forecast(0, 0, 0), Forecast(None, None, None)


@dataclass(frozen=True)
class AdjacentPair:
    """Two neighbours in the ranking, their verdict, and what would settle it."""

    upper: int
    lower: int
    gap: float  # Elo
    half_width: float | None  # Elo, of the bound that stays right; None where there is none
    state: str
    forecast: Forecast

    @property
    def status(self) -> str:
        """separated, tied or open: the verdict in the words of the first release."""
        return {"settled": "separated", "tied": "tied"}.get(self.state, "open")

    @property
    def votes_needed(self) -> int | None:
        return self.forecast.votes


def adjacent_pairs(fit: ScopeFit, verdicts: Verdicts, *, level: float = 0.95) -> list[AdjacentPair]:
    """Every adjacent pair of each island."""
    votes = float(fit.counts.sum())
    neighbours = verdicts.neighbours(fit.connected.island)
    if not neighbours:
        return []
    upper, lower = np.array(neighbours).T
    gaps, bounds = ELO * verdicts.gap[upper, lower], ELO * verdicts.bound[upper, lower]
    known = np.isfinite(bounds)
    forecasts = np.full(len(neighbours), NEVER, object)
    forecasts[np.isin(verdicts.state[upper, lower], (SETTLED, TIED))] = DONE
    open_pairs = np.flatnonzero((forecasts == NEVER) & known) if votes > 0 else np.zeros(0, int)
    width = np.maximum(gaps, verdicts.margin - gaps)[open_pairs] / ELO
    alpha = (1 - level) / len(neighbours)
    forecasts[open_pairs] = forecast_pairs(
        fit.spread, upper[open_pairs], lower[open_pairs], width=width, votes=votes, alpha=alpha
    )
    halves = [bound if math.isfinite(bound) and bound > 0 else None for bound in bounds.tolist()]
    return [
        AdjacentPair(i, j, gap, half, verdicts.name(i, j), forecast)
        for (i, j), gap, half, forecast in zip(neighbours, gaps.tolist(), halves, forecasts, strict=True)
    ]


def forecast_pairs(
    spread: Precision, upper: Array, lower: Array, *, width: Array, votes: float, alpha: float
) -> list[Forecast]:
    """How much more until the bounds of pairs fall to `width` (log-odds).

    Only the noise of single votes shrinks with votes; what judges differ in needs more judges, prompts more prompts.
    """
    noise, tastes, prompts = (p[upper, lower] for p in (spread.parts.votes, spread.parts.judges, spread.parts.prompts))
    df = spread.pair_df[upper, lower]

    def more(shrinking: Array, fixed: Array, at_hand: float, *, grows: bool) -> list[int | None]:
        """How many more of what is at hand, where `shrinking` falls in proportion to it and `fixed` stays."""

        def excess(log_times: Array) -> Array:
            many = np.exp(log_times)
            quantile = sequence_quantiles(votes * many, alpha=alpha, df=df * many if grows else df)
            with np.errstate(divide="ignore"):  # where nothing varies, any votes will do
                return np.log(np.sqrt(shrinking / many + fixed) * quantile / width)

        times = np.exp(_falling_roots(excess, len(width), math.log(MOST_TIMES)))
        return [math.ceil((each - 1) * at_hand) if each < np.inf else None for each in times.tolist()]

    if not len(width):
        return []
    needed = zip(
        more(noise, tastes + prompts, votes, grows=False),
        more(noise + tastes, prompts, max(spread.judges, 1.0), grows=True),
        more(noise + tastes + prompts, np.zeros(len(width)), max(spread.prompts, 1.0), grows=True),
        strict=True,
    )
    return [Forecast(*each) for each in needed]


def _falling_roots(excess: Callable[[Array], Array], many: int, most: float) -> Array:
    """Where falling functions [n] cross 0: 0 where they are below it at 0 already, infinite where not even at `most`.

    By a straight line between two points on either side, whose older end is believed by half (the Illinois rule).
    """
    low, high = np.zeros(many), np.full(many, most)
    above, below = excess(low), excess(high)
    never, done = below > 0, above <= 0
    side = np.zeros(many)
    at = low
    for _ in range(ROUNDS):
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(done | never, 0.0, (low * below - high * above) / (below - above))
        here = excess(at)
        if np.abs(here[~(done | never)]).max(initial=0) < CLOSE:
            break
        up = here > 0
        above, below = (
            np.where(up, here, above * np.where(side < 0, 0.5, 1)),
            np.where(up, below * np.where(side > 0, 0.5, 1), here),
        )
        low, high, side = np.where(up, at, low), np.where(up, high, at), np.where(up, 1.0, -1.0)
    return np.where(never, np.inf, at)


def is_stable(pairs: list[AdjacentPair], connected: Connectivity) -> bool:
    """Every neighbour settled or tied, everyone comparable."""
    return bool(pairs) and all(pair.status != "open" for pair in pairs) and connected.components == 1


def still_needed(pairs: list[AdjacentPair]) -> Forecast:
    """Until the slowest pair is settled."""

    def most(values: list[int | None]) -> int | None:
        return None if None in values else max((v for v in values if v is not None), default=None)

    forecasts = [pair.forecast for pair in pairs]
    return Forecast(
        most([f.votes for f in forecasts]), most([f.judges for f in forecasts]), most([f.prompts for f in forecasts])
    )
