"""Before a study: how wide its intervals will be, and the chance of telling neighbours apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit, ndtr

from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.verdicts.pairs import largest_quantile

DRAWS = 4000
FLATTENING = (16 * np.sqrt(3) / (15 * np.pi)) ** 2  # of a logistic curve by a normal effect of variance 1


@dataclass(frozen=True)
class Study:
    """What is planned. Spreads are Elo: `spread` from the best entrant to the weakest, the others one standard deviation."""

    entrants: int
    judges: int
    votes_each: int
    prompts: int
    spread: float = 280.0
    judge_sd: float = 70.0
    prompt_sd: float = 50.0
    undecided: float = 0.15  # share of ties and fails

    @property
    def votes(self) -> int:
        return self.judges * self.votes_each


@dataclass(frozen=True)
class Outlook:
    """What the study will be able to say, in Elo; `separates` is the chance that two neighbours come out as ahead."""

    width: float
    gap_width: float
    neighbour_gap: float
    separates: float
    df: float

    @property
    def half(self) -> float:
        """What a rating is known to: plus and minus this."""
        return self.width / 2


def plan_study(study: Study) -> Outlook:
    """The interval's width where pairs, judges and prompts are balanced, by the same formulas as a fit's.

    Undecided votes count half, so they press every difference together, those between judges too; and judges and prompts that
    differ make the common curve flatter than each one's.
    """
    size, kept = study.entrants, 1 - study.undecided
    sds = [sd / ELO for sd in (study.judge_sd, study.prompt_sd)]
    flatter = (1 + FLATTENING * 2 * sum(sd**2 for sd in sds)) ** -0.5
    theta = np.linspace(0.5, -0.5, size) * flatter * study.spread / ELO
    p = expit(theta[:, None] - theta[None, :])
    score = kept * p + study.undecided / 2  # what the half-win model sees
    residual = kept * (p * (1 - p) + (p - score) ** 2) + study.undecided * (0.5 - score) ** 2
    different = ~np.eye(size, dtype=bool)
    chance, spread, residual = (
        float(table[different].mean()) for table in (p * (1 - p), score * (1 - score), residual)
    )
    noise = residual / spread * (size - 1) / (2 * study.votes * spread)
    pressed = kept * chance / spread  # what is left of a difference in log-odds
    tastes = [(pressed * flatter * sd) ** 2 for sd in sds]
    groups = (study.judges, study.prompts)
    parts = [_way(taste, noise, count, size) for taste, count in zip(tastes, groups, strict=True)]
    total = max(sum(variance for variance, _ in parts) - noise, noise)
    spent = sum(variance**2 / df for variance, df in parts)
    df = total**2 / spent if spent > 0 else np.inf
    usual = (
        total * (1 - 2 / (9 * max(df, 1.0))) ** 3
    )  # the median of what studies find: with few groups it is below the mean
    own, gap = usual * (1 - 1 / size), 2 * usual
    neighbour = float(-np.diff(theta).mean()) * pressed
    critical = float(t_quantile(df, ndtr(_simultaneous(size))))
    return Outlook(
        width=float(2 * ELO * t_quantile(df, 0.975) * np.sqrt(own)),
        gap_width=float(2 * ELO * t_quantile(df, 0.975) * np.sqrt(gap)),
        neighbour_gap=ELO * neighbour,
        separates=float(ndtr(neighbour / np.sqrt(gap) - critical)),
        df=df,
    )


def _way(taste: float, noise: float, groups: int, size: int) -> tuple[float, float]:
    """Variance and degrees of freedom by judge or prompt; a single one is left out, as in a fit."""
    if groups < 2:
        return noise, np.inf
    variance = taste / groups + noise
    share = max(taste / groups / variance, 0.001)
    own = groups - 1.0
    return variance, own + min(2 / share**2, max((size - 1) * own - own, 0.0))


@lru_cache(maxsize=200)
def _simultaneous(size: int) -> float:
    """The quantile of max |z| over all pairs of equally well known entrants."""
    noise = np.random.default_rng(1).standard_normal((DRAWS, size))
    return largest_quantile(noise, np.full((size, size), np.sqrt(2.0)), np.ones((size, size), bool), 0.95)
