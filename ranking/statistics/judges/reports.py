"""One judge on a page: how much, how reliably, how evenly; an own ranking only from enough votes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.statistics.judges.behaviour import Behaviour, judge_flags
from ranking.statistics.judges.fits import JudgeFits
from ranking.statistics.judges.standings import JudgeStanding, judge_standings
from ranking.statistics.ratings.intervals import Z95
from ranking.statistics.ratings.scopes import ScopeFit, Settings


@dataclass(frozen=True)
class JudgeReport:
    """One judge; `weight` is what a curator set, `vote_weight` that times the weight by activity."""

    votes: int
    shown: bool
    reason: str
    weight: float
    vote_weight: float
    reliability: float
    reliability_low: float
    reliability_high: float
    left_share: float | None
    tie_share: float | None
    repeat_agreement: float | None
    repeats: int
    median_ms: float | None
    p5_ms: float | None
    longest_run: int | None
    flags: tuple[str, ...]
    opposite_taste: bool
    infit: float | None
    standings: tuple[JudgeStanding, ...]


def report_judge(
    fits: JudgeFits,
    j: int,
    *,
    entrants: tuple[str, ...],
    settings: Settings,
    overall: ScopeFit,
    weight: float,
    behaviour: Behaviour | None,
    usual_ms: float | None,
    repeats: tuple[int, int],
    infit: float,
) -> JudgeReport:
    left, right, ties, fails = fits.outcomes[j]
    votes = round(fits.votes[j])
    shown = votes >= settings.judge_minimum
    hits, trials = repeats
    half = Z95 * float(fits.slope_se[j])
    return JudgeReport(
        votes=votes,
        shown=shown,
        reason="" if shown else f"{votes} votes; a ranking of one’s own needs {settings.judge_minimum}",
        weight=weight,
        vote_weight=float(overall.weights[j]),
        reliability=float(fits.slope[j]),
        reliability_low=float(fits.slope[j]) - half,
        reliability_high=float(fits.slope[j]) + half,
        left_share=float(left / (left + right)) if left + right else None,
        tie_share=float((ties + fails) / votes) if votes else None,
        repeat_agreement=hits / trials if trials else None,
        repeats=trials,
        median_ms=behaviour.median_ms if behaviour else None,
        p5_ms=behaviour.p5_ms if behaviour else None,
        longest_run=behaviour.longest_run if behaviour else None,
        flags=tuple(judge_flags(fits, j, behaviour, usual_ms)),
        opposite_taste=bool(fits.opposite[j]),
        infit=None if np.isnan(infit) else float(infit),
        standings=tuple(judge_standings(entrants, fits, j)) if shown else (),
    )


def usual_pace(behaviours: list[Behaviour]) -> float | None:
    paces = [b.median_ms for b in behaviours if b.median_ms is not None]
    return float(np.median(paces)) if paces else None
