"""What it would take to settle two neighbours: more votes of this panel, or, where these cannot do it, more people or prompts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from scipy.optimize import brentq

from ranking.statistics.ratings.bradley_terry import ELO, Connectivity
from ranking.statistics.ratings.precision import Precision
from ranking.statistics.ratings.scopes import ScopeFit
from ranking.statistics.verdicts.pairs import SETTLED, TIED, Verdicts
from ranking.statistics.verdicts.sequence import sequence_quantile

Array = NDArray[Any]
MOST_TIMES = 1e4  # more times the votes, judges or prompts at hand is no forecast


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
    spread, votes = fit.spread, float(fit.counts.sum())
    neighbours = verdicts.neighbours(fit.connected.island)
    alpha = (1 - level) / max(len(neighbours), 1)
    pairs = []
    for i, j in neighbours:
        bound = ELO * float(verdicts.bound[i, j])
        gap = ELO * float(verdicts.gap[i, j])
        if verdicts.state[i, j] in (SETTLED, TIED):
            forecast = DONE
        elif not math.isfinite(bound) or votes <= 0:
            forecast = NEVER
        else:
            width = max(gap, verdicts.margin - gap) / ELO
            forecast = forecast_pair(spread, i, j, width=width, votes=votes, alpha=alpha)
        half = bound if math.isfinite(bound) and bound > 0 else None
        pairs.append(AdjacentPair(i, j, gap, half, verdicts.name(i, j), forecast))
    return pairs


def forecast_pair(spread: Precision, i: int, j: int, *, width: float, votes: float, alpha: float) -> Forecast:
    """How much more until the bound of the pair falls to `width` (log-odds).

    Only the noise of single votes shrinks with votes; what judges differ in needs more judges, prompts more prompts.
    """
    noise, tastes, prompts = (float(p[i, j]) for p in (spread.parts.votes, spread.parts.judges, spread.parts.prompts))
    df = float(spread.pair_df[i, j])

    def times(shrinking: float, fixed: float, *, grows: bool) -> float | None:
        """How many times as much is needed where `shrinking` falls in proportion and `fixed` stays."""

        def excess(log_times: float) -> float:
            many = math.exp(log_times)
            quantile = sequence_quantile(votes * many, alpha=alpha, df=df * many if grows else df)
            return math.sqrt(shrinking / many + fixed) * quantile - width

        if excess(math.log(MOST_TIMES)) > 0:
            return None
        return math.exp(brentq(excess, 0.0, math.log(MOST_TIMES), xtol=1e-4)) if excess(0.0) > 0 else 1.0

    def more(factor: float | None, at_hand: float) -> int | None:
        return None if factor is None else math.ceil((factor - 1) * at_hand)

    return Forecast(
        votes=more(times(noise, tastes + prompts, grows=False), votes),
        judges=more(times(noise + tastes, prompts, grows=True), max(spread.judges, 1.0)),
        prompts=more(times(noise + tastes + prompts, 0.0, grows=True), max(spread.prompts, 1.0)),
    )


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
