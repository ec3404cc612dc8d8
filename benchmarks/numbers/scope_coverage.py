"""How often intervals of categories, of judges' own rankings and of fail rates hold the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from benchmarks.numbers.ranking_coverage import FIRST_SEED, Row
from benchmarks.numbers.worlds import BASE, FieldWorld, simulate_field, true_ratings
from ranking.statistics.judges.fits import fit_judges
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.categories.fits import fit_categories
from ranking.statistics.ratings.fail_rates import fail_rates
from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.verdicts.pairs import judge_category

Array = NDArray[Any]
SETTINGS = Settings()
ALONE = 5  # times as many studies where one category of eight is looked at by itself
EIGHT = replace(BASE, categories=8, prompts=40)
CATEGORIES = {
    "categories alike": EIGHT,
    "categories differ (sd 0.3)": replace(EIGHT, category_sd=0.3),
    "categories differ (sd 0.6)": replace(EIGHT, category_sd=0.6),
    "one of 8 reversed, 50 votes in it": replace(EIGHT, reversed_category=50 / 4000),
    "one of 8 reversed, 250 votes in it": replace(EIGHT, reversed_category=250 / 4000),
    "1 judge, 80 votes": replace(EIGHT, judges=1, votes=80, judge_sd=0.0, categories=4),
}
JUDGES = {
    "50 votes each, tastes sd 0.3": replace(BASE, votes=1000, judge_sd=0.3),
    "50 votes each, tastes sd 0.6": replace(BASE, votes=1000, judge_sd=0.6),
    "50 votes each, tastes sd 1": replace(BASE, votes=1000, judge_sd=1.0),
    "100 votes each, tastes sd 0.6": replace(BASE, votes=2000, judge_sd=0.6),
    "100 votes each, tastes alike": replace(BASE, votes=2000, judge_sd=0.0),
}
FAILS = {
    "even judges": replace(BASE, fails=0.1),
    "judges' own thresholds": replace(BASE, fails=0.1, fail_sd=1.0),
    "own thresholds, Zipf activity": replace(BASE, fails=0.1, fail_sd=1.0, judges=50, zipf=1.0),
    "weaker drawings fail more": replace(BASE, fails=0.1, fail_sd=0.5, fail_by_rating=0.5),
    "5 judges": replace(BASE, fails=0.1, fail_sd=0.5, judges=5),
}


def error_of(shares: Any) -> float:
    """The standard error of the mean of studies' shares, which are not independent within a study."""
    return float(np.std(shares, ddof=1) / np.sqrt(len(shares)))


def category_table(*, runs: int) -> list[Row]:
    """`special` is the reversed category alone; `thin` the share of categories that make no statement about ranks."""
    rows = []
    for name, world in CATEGORIES.items():
        alone = bool(world.reversed_category)
        studies = ALONE * runs if alone else runs
        figures = np.array([_category_run(world, seed) for seed in range(FIRST_SEED, FIRST_SEED + studies)])
        held, special, width, false, thin = figures.mean(0).tolist()
        row: Row = {"world": name, "runs": studies, "rating": held, "error": error_of(figures[:, 0]), "width": width}
        row |= {"special": special if alone else None, "special_error": error_of(figures[:, 1]) if alone else None}
        rows.append(row | {"false_rank": false, "thin": thin})
    return rows


def _category_run(world: FieldWorld, seed: int) -> tuple[float, ...]:
    drawn = simulate_field(world, seed=seed)
    tallies = tally_votes(drawn.votes)
    overall = fit_overall(tallies, SETTINGS)
    held, widths, false, thin = [], [], False, []
    for c, fit in enumerate(fit_categories(tallies, overall, SETTINGS)):
        truth = true_ratings(world, by_category=drawn.by_category[c : c + 1], judge=_only_judge(world, drawn.by_judge))
        reach = float(t_quantile(fit.df, 0.975)) * np.sqrt(np.diag(fit.covariance))
        held.append((np.abs(fit.theta - fit.theta.mean() - truth) <= reach).mean())
        widths.append(np.median(2 * ELO * reach))
        verdicts = judge_category(fit, overall.connected, SETTINGS)
        false |= bool((verdicts.ahead & (np.subtract.outer(truth, truth) < 0)).any())
        thin.append(fit.is_thin)
    return float(np.mean(held)), float(held[0]), float(np.median(widths)), float(false), float(np.mean(thin))


def _only_judge(world: FieldWorld, by_judge: Array) -> Array | None:
    """One judge's ratings speak for that judge."""
    return by_judge[0] if world.judges == 1 else None


def own_table(*, runs: int) -> list[Row]:
    """Judges' own rankings."""
    rows = []
    for name, world in JUDGES.items():
        figures = [_own_run(world, seed) for seed in range(FIRST_SEED, FIRST_SEED + runs)]
        held, width = np.mean(figures, axis=0)
        error = error_of([figure[0] for figure in figures])
        rows.append({"world": name, "runs": runs, "rating": float(held), "error": error, "width": float(width)})
    return rows


def _own_run(world: FieldWorld, seed: int) -> tuple[float, float]:
    drawn = simulate_field(world, seed=seed)
    tallies = tally_votes(drawn.votes)
    fits = fit_judges(tallies, fit_overall(tallies, SETTINGS), SETTINGS)
    reach = t_quantile(fits.df, 0.975)[:, None] * np.sqrt(fits.variance)
    truth = np.array([true_ratings(world, judge=effects) for effects in drawn.by_judge])
    return float((np.abs(fits.theta - truth) <= reach).mean()), float(np.median(2 * ELO * reach))


def fail_table(*, runs: int) -> list[Row]:
    """Fail rates of entrants over all judges and prompts that there could be."""
    rows = []
    for name, world in FAILS.items():
        truth = true_fail_rates(world)
        held, width = [], []
        for seed in range(FIRST_SEED, FIRST_SEED + runs):
            rates = fail_rates(tally_votes(simulate_field(world, seed=seed).votes))
            held.append(((rates.low <= truth) & (truth <= rates.high)).mean())
            width.append(np.median(rates.high - rates.low))
        row: Row = {"world": name, "runs": runs, "rate": float(np.mean(held)), "error": error_of(held)}
        rows.append(row | {"width": float(np.median(width))})
    return rows


def true_fail_rates(world: FieldWorld) -> Array:
    """Mean over opponents, judges' thresholds and effects of judges and prompts."""
    theta = np.array(world.theta)
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    slope = world.fail_by_rating
    spread = np.sqrt(world.fail_sd**2 + 2 * slope**2 * (world.judge_sd**2 + world.prompt_sd**2))
    level = logit(world.fails) - slope * (theta[:, None] + theta[None, :])
    rate = (expit(level[..., None] + spread * nodes) * weights).sum(-1) / weights.sum()
    np.fill_diagonal(rate, 0)
    return rate.sum(1) / (len(theta) - 1)
