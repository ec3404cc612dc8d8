"""The whole analysis as one function: votes in, a frozen Leaderboard out.

`fit_counts` is the fast part and needs tallies only; `study_rows` is the slower part that needs each vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ranking.statistics.agreement.consistency import Consistency, vote_consistency
from ranking.statistics.agreement.shared_items import Agreement, measure_agreement
from ranking.statistics.judges.behaviour import Behaviour, judge_behaviour
from ranking.statistics.judges.fits import JudgeFits, fit_judges
from ranking.statistics.judges.reports import JudgeReport, report_judge, usual_pace
from ranking.statistics.judges.side_bias import SideBias, side_bias
from ranking.statistics.model_judges.report import Ballots, ModelStudy, study_models
from ranking.statistics.ratings.answers import AnswerRatings, rate_answers
from ranking.statistics.ratings.bradley_terry import Davidson, fit_davidson
from ranking.statistics.ratings.categories.fits import fit_categories
from ranking.statistics.ratings.fail_rates import fail_rates, scoped_fail_rates
from ranking.statistics.ratings.joint import JointFit, fit_joint
from ranking.statistics.ratings.misfit import MisfitPair, find_misfits
from ranking.statistics.ratings.reliability import ScaleChecks, check_scale
from ranking.statistics.ratings.robustness import FewestVotes, fewest_votes
from ranking.statistics.ratings.scopes import ScopeFit, Settings, fit_overall
from ranking.statistics.records import pool_categories, votes_by_category
from ranking.statistics.samples import SampleRate
from ranking.statistics.standings import (
    Categories,
    EntrantStanding,
    category_standings,
    overall_standings,
)
from ranking.statistics.tallies import Tallies, tally_votes
from ranking.statistics.verdicts.forecast import AdjacentPair, adjacent_pairs
from ranking.statistics.verdicts.pairs import Verdicts, judge_pairs
from ranking.statistics.votes import Votes, without_unseen

__all__ = ["CountsFit", "Leaderboard", "RowsStudy", "Settings", "analyse_votes", "fit_counts", "study_rows"]


@dataclass(frozen=True)
class CountsFit:
    """All that follows from tallies: ratings, intervals, ranks, judges, side bias, stability, robustness."""

    entrants: tuple[str, ...]
    judges: tuple[str, ...]
    prompts: tuple[str, ...]
    settings: Settings
    overall_fit: ScopeFit
    overall: list[EntrantStanding]
    unweighted: list[EntrantStanding]
    categories: Categories
    judge_fits: JudgeFits
    weights: Mapping[str, float]
    side_bias: SideBias
    davidson: Davidson
    verdicts: Verdicts
    pairs: list[AdjacentPair]
    fewest: FewestVotes | None
    category_basis: dict[str, tuple[int, int]]  # judges and prompts of each category
    misfits: list[MisfitPair]
    checks: ScaleChecks
    joint: JointFit | None

    @property
    def votes(self) -> int:
        return round(float(self.overall_fit.counts.sum()))


def fit_counts(tallies: Tallies, *, settings: Settings | None = None) -> CountsFit:
    """The fast part; its cost grows with entrants, judges and prompts, not with votes."""
    settings = settings or Settings()
    pooled = pool_categories(tallies)
    fit = fit_overall(pooled, settings)
    verdicts = judge_pairs(fit, settings)
    names = tallies.entrants
    fails, *category_fails = scoped_fail_rates(tallies, level=settings.level)
    overall = overall_standings(names, fit, settings, verdicts=verdicts, fails=fails)
    categories = fit_categories(tallies, fit, settings)
    return CountsFit(
        entrants=names,
        judges=tallies.judges,
        prompts=tallies.prompts,
        settings=settings,
        overall_fit=fit,
        overall=overall,
        unweighted=overall if fit.activity.even else rank_overall(pooled, replace(settings, activity="even")),
        categories=category_standings(
            names,
            tallies.categories,
            categories,
            fit,
            settings,
            whole=overall,
            fails=category_fails,
        ),
        judge_fits=fit_judges(pooled, fit, settings),
        weights=dict(zip(tallies.judges, tallies.weights.tolist(), strict=True)),
        side_bias=side_bias(pooled, fit, settings),
        davidson=fit_davidson(fit.weighted, **settings.halves),
        verdicts=verdicts,
        pairs=adjacent_pairs(fit, verdicts, level=settings.level),
        fewest=fewest_votes(fit, settings),
        category_basis=basis_of_categories(tallies),
        misfits=find_misfits(fit, level=settings.level),
        checks=check_scale(fit, judges=len(tallies.judges), seed=settings.seed),
        joint=fit_joint(pooled, fit),
    )


def basis_of_categories(tallies: Tallies) -> dict[str, tuple[int, int]]:
    """Judges and prompts with a vote in each category."""
    ways = ((tallies.by_judge, len(tallies.judges)), (tallies.by_prompt, len(tallies.prompts)))
    judges, prompts = (
        (votes_by_category(cells, groups, len(tallies.entrants), len(tallies.categories)) > 0).sum(1).tolist()
        for cells, groups in ways
    )
    return dict(zip(tallies.categories, zip(judges, prompts, strict=True), strict=True))


def rank_overall(tallies: Tallies, settings: Settings) -> list[EntrantStanding]:
    """The overall table alone."""
    fit, fails = fit_overall(tallies, settings), fail_rates(tallies, level=settings.level)
    return overall_standings(tallies.entrants, fit, settings, verdicts=judge_pairs(fit, settings), fails=fails)


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
class Leaderboard:
    """The answer: the counts' part always; the rows' part, the samples and the model judges where they were given."""

    fit: CountsFit
    rows: RowsStudy | None = None
    samples: Mapping[str, SampleRate] = field(default_factory=dict)
    skipped: int = 0
    models: ModelStudy | None = None

    @cached_property
    def judge_reports(self) -> dict[str, JudgeReport]:
        """Of the judges with votes."""
        behaviour = self.rows.behaviour if self.rows else {}
        usual = usual_pace(list(behaviour.values()))
        fit, repeats = self.fit, self._repeats
        return {
            name: report_judge(
                fit.judge_fits,
                j,
                entrants=fit.entrants,
                settings=fit.settings,
                overall=fit.overall_fit,
                weight=float(fit.weights.get(name, 1.0)),
                behaviour=behaviour.get(name),
                usual_ms=usual,
                repeats=repeats.get(name, (0, 0)),
                infit=fit.checks.judge_infit[j],
            )
            for j, name in enumerate(fit.judges)
            if fit.judge_fits.votes[j] > 0
        }

    @cached_property
    def answer_ratings(self) -> AnswerRatings | None:
        """The ratings in which an invalid answer loses to a valid one; None without samples."""
        return rate_answers(self.fit.entrants, self.fit.overall_fit, self.samples, self.fit.settings)

    @property
    def _repeats(self) -> dict[str, tuple[int, int]]:
        """Hidden repeats answered alike and answered at all, by judge."""
        if self.rows is None:
            return {}
        agreement = self.rows.agreement
        answered = zip(agreement.repeat_hits.tolist(), agreement.repeat_trials.tolist(), strict=True)
        return dict(zip(self.rows.behaviour, answered, strict=True))


def analyse_votes(
    votes: Votes,
    *,
    settings: Settings | None = None,
    samples: Mapping[str, SampleRate] | None = None,
    skipped: int = 0,
    ballots: Ballots | None = None,
) -> Leaderboard:
    """Standing votes (see `standing_votes`) to a leaderboard; judges of weight 0 are left out of every part.

    `ballots` of model judges are compared with the votes; nothing else changes by them.
    """
    settings = settings or Settings()
    excluded = [j for j, name in enumerate(votes.judges) if settings.weights.get(name, 1.0) == 0]
    if excluded:
        votes = votes.take(~np.isin(votes.judge, excluded))
    votes = without_unseen(votes)
    fit = fit_counts(tally_votes(votes, weights=settings.weights), settings=settings)
    models = study_models(votes, ballots, fit=fit.overall_fit, settings=settings) if ballots and len(votes) else None
    return Leaderboard(fit, study_rows(votes, fit), dict(samples or {}), skipped, models)
