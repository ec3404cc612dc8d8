"""The whole analysis as one function: votes in, a frozen Leaderboard out.

`fit_counts` is the fast part and needs tallies only; `study_rows` is the slower part that needs each vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ranking.statistics.agreement.consistency import Consistency, vote_consistency
from ranking.statistics.agreement.shared_items import Agreement, measure_agreement
from ranking.statistics.judges.fits import (
    Behaviour,
    JudgeFits,
    SideBias,
    fit_judges,
    judge_behaviour,
    judge_flags,
    side_bias,
)
from ranking.statistics.ratings.bradley_terry import Davidson, fit_davidson
from ranking.statistics.ratings.robustness import FewestVotes, fewest_votes
from ranking.statistics.ratings.scopes import ScopeFit, Settings, fit_categories, fit_overall
from ranking.statistics.ratings.stability import AdjacentPair, adjacent_pairs
from ranking.statistics.samples import SampleRate
from ranking.statistics.standings import (
    JudgeStanding,
    ShrunkCategories,
    Standing,
    category_standings,
    judge_standings,
    overall_standings,
)
from ranking.statistics.votes import Tallies, Votes, tally_votes

__all__ = ["CountsFit", "Leaderboard", "RowsStudy", "Settings", "analyse_votes", "fit_counts", "study_rows"]


@dataclass(frozen=True)
class CountsFit:
    """All that follows from tallies: ratings, intervals, ranks, judges, side bias, stability, robustness."""

    entrants: tuple[str, ...]
    judges: tuple[str, ...]
    prompts: tuple[str, ...]
    settings: Settings
    overall_fit: ScopeFit
    overall: list[Standing]
    categories: ShrunkCategories
    judge_fits: JudgeFits
    weights: Mapping[str, float]
    side_bias: SideBias
    davidson: Davidson
    pairs: list[AdjacentPair]
    fewest: FewestVotes | None

    @property
    def votes(self) -> int:
        return round(float(self.overall_fit.counts.sum()))


def fit_counts(tallies: Tallies, *, settings: Settings | None = None) -> CountsFit:
    """The fast part; its cost grows with entrants, judges and prompts, not with votes."""
    settings = settings or Settings()
    fit = fit_overall(tallies, settings)
    categories = fit_categories(tallies, settings) if tallies.categories else []
    spread = fit.spread
    settled = fit.connected.components <= 1
    return CountsFit(
        entrants=tallies.entrants,
        judges=tallies.judges,
        prompts=tallies.prompts,
        settings=settings,
        overall_fit=fit,
        overall=overall_standings(tallies.entrants, fit, settings),
        categories=category_standings(tallies.entrants, tallies.categories, categories, fit, settings),
        judge_fits=fit_judges(tallies, fit, settings),
        weights=dict(zip(tallies.judges, tallies.weights.tolist(), strict=True)),
        side_bias=side_bias(tallies, fit, settings),
        davidson=fit_davidson(fit.weighted, **settings.halves),
        pairs=adjacent_pairs(
            fit.theta,
            spread.pair_variance,
            votes=float(fit.counts.sum()) if settled else 0,
            df=spread.df,
            margin=settings.margin,
            island=fit.connected.island,
            level=settings.level,
        ),
        fewest=fewest_votes(fit, settings),
    )


@dataclass(frozen=True)
class RowsStudy:
    """What needs each vote: agreement on shared items, repeats, pace, variance across attempts."""

    agreement: Agreement
    behaviour: dict[str, Behaviour]
    consistency: dict[str, Consistency]


def study_rows(votes: Votes, fit: CountsFit) -> RowsStudy:
    """The slower part, on the same standing votes (repeats included) that the tallies were made of."""
    number = {name: i for i, name in enumerate(fit.entrants)}
    theta = fit.overall_fit.theta[[number[name] for name in votes.entrants]] if votes.entrants else np.zeros(0)
    return RowsStudy(
        agreement=measure_agreement(votes),
        behaviour=dict(zip(votes.judges, judge_behaviour(votes), strict=True)),
        consistency=dict(zip(votes.entrants, vote_consistency(votes, theta, **fit.settings.halves), strict=True)),
    )


@dataclass(frozen=True)
class JudgeReport:
    """One judge: how much, how reliably, how evenly; the own ranking only above the minimum of votes."""

    votes: int
    shown: bool
    reason: str
    weight: float
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
    standings: tuple[JudgeStanding, ...]


@dataclass(frozen=True)
class Leaderboard:
    """The answer: the counts' part always, the rows' part and the samples where they were given."""

    fit: CountsFit
    rows: RowsStudy | None = None
    samples: Mapping[str, SampleRate] = field(default_factory=dict)
    skipped: int = 0

    @cached_property
    def judge_reports(self) -> dict[str, JudgeReport]:
        paces = [b.median_ms for b in self.rows.behaviour.values() if b.median_ms is not None] if self.rows else []
        usual = float(np.median(paces)) if paces else None
        heard = [j for j in range(len(self.fit.judges)) if self.fit.judge_fits.votes[j] > 0]
        return {self.fit.judges[j]: _judge_report(self, j, usual) for j in heard}


def _judge_report(board: Leaderboard, j: int, usual_ms: float | None) -> JudgeReport:
    fit, fits, name = board.fit, board.fit.judge_fits, board.fit.judges[j]
    left, right, ties, fails = fits.outcomes[j]
    votes = round(fits.votes[j])
    shown = votes >= fit.settings.judge_minimum
    behaviour = board.rows.behaviour.get(name) if board.rows else None
    hits, trials = _repeats(board, name)
    half = 1.96 * float(fits.slope_se[j])
    return JudgeReport(
        votes=votes,
        shown=shown,
        reason="" if shown else f"{votes} votes; a ranking of one's own needs {fit.settings.judge_minimum}",
        weight=float(fit.weights.get(name, 1.0)),
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
        standings=tuple(judge_standings(fit.entrants, fits, j)) if shown else (),
    )


def _repeats(board: Leaderboard, name: str) -> tuple[int, int]:
    if board.rows is None or name not in board.rows.behaviour:
        return 0, 0
    at = list(board.rows.behaviour).index(name)
    agreement = board.rows.agreement
    return int(agreement.repeat_hits[at]), int(agreement.repeat_trials[at])


def analyse_votes(
    votes: Votes,
    *,
    settings: Settings | None = None,
    samples: Mapping[str, SampleRate] | None = None,
    skipped: int = 0,
) -> Leaderboard:
    """Standing votes (see `standing_votes`) to a leaderboard; judges of weight 0 are left out of every part."""
    settings = settings or Settings()
    excluded = [j for j, name in enumerate(votes.judges) if settings.weights.get(name, 1.0) == 0]
    if excluded:
        votes = votes.take(~np.isin(votes.judge, excluded))
    votes = _without_unseen(votes)
    fit = fit_counts(tally_votes(votes, weights=settings.weights), settings=settings)
    return Leaderboard(fit, study_rows(votes, fit), dict(samples or {}), skipped)


def _without_unseen(votes: Votes) -> Votes:
    """Name tables without entrants, judges and categories that no vote mentions."""
    changed: dict[str, Any] = {}
    for table, columns in (
        ("entrants", ("left", "right")),
        ("judges", ("judge",)),
        ("prompts", ("prompt",)),
        ("categories", ("category",)),
    ):
        names = getattr(votes, table)
        used = np.zeros(len(names) + 1, bool)
        for column in columns:
            used[getattr(votes, column)] = True
        if used[:-1].all():
            continue
        number = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        number[-1] = -1
        changed[table] = tuple(name for name, keep in zip(names, used, strict=False) if keep)
        changed |= {column: number[getattr(votes, column)] for column in columns}
    return replace(votes, **changed) if changed else votes


def is_stable(fit: CountsFit) -> bool:
    """Every neighbour settled, everyone comparable."""
    settled = all(pair.status != "open" for pair in fit.pairs)
    return bool(fit.pairs) and settled and fit.overall_fit.connected.components == 1


def votes_still_needed(fit: CountsFit) -> int | None:
    """Votes until the slowest pair is settled; None where votes like these will not settle one."""
    needed = [pair.votes_needed for pair in fit.pairs]
    return max((n for n in needed if n is not None), default=None) if None not in needed else None


def notes(board: Leaderboard) -> list[str]:
    """What a reader must know before trusting the numbers, in plain sentences."""
    fit = board.fit
    said = []
    if not fit.votes:
        said.append("There are no votes yet, so nothing is ranked.")
    elif len(fit.entrants) == 1:
        said.append("There is only one entrant, so there is nothing to compare it with.")
    method = fit.overall_fit.spread.method
    reports = len(board.judge_reports)
    if fit.votes and method == "prompt":
        said.append("All votes come from one judge: the intervals speak for that judge, not for judges at large.")
    elif fit.votes and method == "judge":
        said.append("All votes are on one prompt: the intervals speak for that prompt only.")
    elif fit.votes and method == "iid":
        said.append("One judge and one prompt: the intervals treat votes as independent, and are likely too narrow.")
    if fit.votes and not reports:
        said.append("No vote names its judge, so each counts as a judge of its own; intervals may be too narrow.")
    connected = fit.overall_fit.connected
    if connected.islands > 1 and fit.votes:
        said.append(
            f"The entrants fall into {connected.islands} groups that never met; ranks are within a group, "
            "and nothing is compared across them."
        )
    floating = [row.entrant for row in fit.overall if row.unbounded]
    if floating and fit.votes:
        said.append(
            f"Won or lost every comparison, so the rating has no limit that way: {', '.join(floating)}. "
            "The value shown leans on a mild assumption (ridge 0.5)."
        )
    if board.skipped:
        said.append(f"{board.skipped} bad line{'s were' if board.skipped > 1 else ' was'} passed over.")
    return said
