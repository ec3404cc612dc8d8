"""A judge's own ranking as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.statistics.judges.fits import JudgeFits
from ranking.statistics.ratings.bradley_terry import ELO, to_elo
from ranking.statistics.ratings.precision import t_quantile


@dataclass(frozen=True)
class JudgeStanding:
    """One entrant in one judge's own ranking, drawn to the common one."""

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


def judge_standings(names: tuple[str, ...], fits: JudgeFits, judge: int) -> list[JudgeStanding]:
    rating, se = to_elo(fits.theta[judge]), ELO * np.sqrt(fits.variance[judge])
    reach = float(t_quantile(fits.df[judge], 0.975)) * se
    order = sorted(range(len(names)), key=lambda i: (-round(float(rating[i]), 6), names[i]))
    rows = []
    for place, i in enumerate(order, start=1):
        wins, losses, ties, fails = (round(n) for n in fits.tallies[judge, i])
        rows.append(
            JudgeStanding(
                entrant=names[i],
                rating=float(rating[i]),
                se=float(se[i]),
                low=float(rating[i] - reach[i]),
                high=float(rating[i] + reach[i]),
                rank=place,
                votes=wins + losses + ties + fails,
                wins=wins,
                losses=losses,
                ties=ties,
                fails=fails,
            )
        )
    return rows
