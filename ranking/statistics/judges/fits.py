"""Judges one by one: own rankings drawn to the common one, and how far votes follow the other judges'."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ranking.statistics.definite import inverse
from ranking.statistics.judges.rankings import own_rankings, own_strength, usual_taste
from ranking.statistics.ratings.bradley_terry import (
    NEARLY,
    RIDGE,
    connectivity,
    expected_scores,
    information,
    map_ratings,
    residual_table,
)
from ranking.statistics.ratings.scopes import ScopeFit, Settings
from ranking.statistics.records import entrant_records, side_records
from ranking.statistics.tables import Tables, batches, group_tables
from ranking.statistics.tallies import Tallies

Array = NDArray[Any]
PRIOR_SLOPE, PRIOR_SD = 1.0, 0.5
SLIGHT = 0.01
CHORDS, CLOSE = 12, 1e-8  # steps with one matrix before Newton's are taken, and how small the last one must be
OPPOSED = float(-ndtri(0.02))


@dataclass(frozen=True)
class JudgeFits:
    """Per judge (first axis, in the order of the name table).

    - `outcomes` [J, 4] counts votes by key; `tallies` [J, K, 4] each entrant's wins, losses, ties and fails.
    - `theta`, `variance` [J, K]: own ratings drawn to the common ones with one `strength`, their variances, and `df` [J].
    - `slope`, `slope_se` [J]: reliability; 1 is the average judge, 0 clicks at random.
    - `without` [J, K]: everybody's ratings when this judge's votes are left out.
    - `random_keys`, `one_entrant` [J]: log-odds of two odd habits against judging by those ratings (`odd_habits`).
    - `accord` [J]: how well votes follow those ratings, standard normal for an honest judge (`accord`).
    - `opposite` [J]: whether votes follow the reverse of those ratings, which no clicker's do: a taste, not a fault.
    """

    outcomes: Array
    tallies: Array
    theta: Array
    variance: Array
    strength: float
    df: Array
    slope: Array
    slope_se: Array
    without: Array
    random_keys: Array
    one_entrant: Array
    accord: Array
    opposite: Array

    @property
    def votes(self) -> Array:
        return self.outcomes.sum(1)


def fit_judges(tallies: Tallies, overall: ScopeFit, settings: Settings) -> JudgeFits:
    """All judges from tallies; work in batches of judges."""
    judges, size = len(tallies.judges), len(tallies.entrants)
    theta, variance, without = (np.zeros((judges, size)) for _ in range(3))
    df, slope, slope_se, random_keys, one_entrant, accords = (np.zeros(judges) for _ in range(6))
    opposite = np.zeros(judges, bool)
    component = overall.spread.judge_component
    taste, noise = usual_taste(component), vote_noise(overall, settings)
    tables = judge_tables(tallies, overall, settings)
    for batch in batches(tables.wins):
        here, votes = tables.labels[batch], tables.meetings(batch)
        wins = votes.half_wins
        own = own_rankings(votes, overall, overall.weights[here])
        theta[here], variance[here], df[here] = own.theta, own.variance, own.df
        others, unsure = leave_out(overall, wins * overall.weights[here, None, None])
        without[here] = others
        slope[here], slope_se[here] = reliability(wins, others)
        reverse = follows_reverse(wins, others)
        opposite[here] = reverse
        random_keys[here], one_entrant[here] = odd_habits(wins, np.where(reverse[:, None], -others, others))
        accords[here] = accord(wins, others, unsure, taste, noise)
    habits = (random_keys, one_entrant, accords, opposite)
    known = (own_strength(component), df)
    shape = (judges, size, len(tallies.categories))
    outcomes = side_records(tallies.by_judge, *shape)[0].sum((0, 2))[1:]
    records = entrant_records(tallies.by_judge, *shape).sum(0)[1:]
    return JudgeFits(outcomes, records, theta, variance, *known, slope, slope_se, without, *habits)


def judge_tables(tallies: Tallies, overall: ScopeFit, settings: Settings) -> Tables:
    """Votes of every judge, those without any too, each vote counting once."""
    judges, size = len(tallies.judges), len(tallies.entrants)
    if overall.pull is not None and len(overall.pull.seen) == size:
        tables = overall.pull.judges
    else:
        cells = tallies.by_judge
        tables = group_tables(cells, clusters=judges, size=size, counted=settings.counted, n=cells.n)
    silent = np.setdiff1d(np.arange(judges), tables.labels)
    if len(silent):
        nothing = np.zeros((len(silent), size, size))
        wins, draws = (np.concatenate([table, nothing]) for table in (tables.wins, tables.draws))
        labels = np.concatenate([tables.labels, silent])
        tables = replace(tables, labels=labels, wins=wins, draws=draws, squared=(wins, draws))
    return replace(tables, weight=None, strata=None)


def leave_out(overall: ScopeFit, wins: Array) -> tuple[Array, Array]:
    """Ratings [G, K] without each of the given shares of the votes, W [G, K, K], from the full fit; and their covariance."""
    rest = np.maximum(overall.wins - wins, 0)
    whole, edges = overall.connected.components == 1, rest > 0
    # Who took points from whom seldom hangs on one judge: only then must it be looked at again.
    changed = (edges != (overall.wins > 0)).any((1, 2))
    broken = np.full(len(rest), not whole)
    broken[changed] = [connectivity(table).components > 1 for table in rest[changed]]
    result, near = _by_chords(rest, overall)
    for ridge, rows in ((1e-9, ~broken & ~near), (RIDGE, broken)):
        if rows.any():
            result[rows] = map_ratings(rest[rows], ridge=ridge, start=overall.theta)
    result -= result.mean(1, keepdims=True)
    # The slight pull bounds what votes leave open; the common shift cancels in every gap.
    return result, inverse(information(rest, result) + SLIGHT * np.eye(rest.shape[-1]))


def _by_chords(wins: Array, overall: ScopeFit) -> tuple[Array, Array]:
    """Ratings [G, K] of W [G, K, K] by steps with the full fit's inverse information, and whether they came to rest [G].

    A step leaves of the error about the share of the votes that is left out.
    """
    theta = np.tile(overall.theta, (len(wins), 1))
    if overall.pull is None or len(overall.pull.seen) < theta.shape[1]:
        return theta, np.zeros(len(wins), bool)
    totals, won = wins + np.swapaxes(wins, 1, 2), wins.sum(2)
    step = np.full(theta.shape, np.inf)
    for _ in range(CHORDS):
        gradient = won - np.einsum("gij,gij->gi", totals, expected_scores(theta))
        step = np.clip(gradient @ overall.pull.inverse, -1, 1)
        theta += step
        if np.abs(step).max(initial=0) < CLOSE:
            break
    return theta, np.abs(step).max(1, initial=0) < CLOSE


def _moments(totals: Array, won: Array, theta: Array, slope: Array | float = 1.0) -> tuple[Array, Array, Array]:
    """At ratings slope x theta [G, K]: points above expectation [G, K], p(1 - p) of a pair's votes [G, K, K], and p."""
    p = expected_scores(slope * theta)
    expected = totals * p
    residual = won - expected.sum(2)
    expected *= 1 - p
    return residual, expected, p


def reliability(wins: Array, theta: Array) -> tuple[Array, Array]:
    """Slope of each judge's votes W [G, K, K] on ratings theta [G, K] made without it; prior N(1, ½²); and its SE."""
    totals, won = wins + np.swapaxes(wins, 1, 2), wins.sum(2)
    slope = np.full(len(wins), PRIOR_SLOPE)
    precision = np.full(len(wins), PRIOR_SD**-2)
    for _ in range(30):
        residual, spread, _ = _moments(totals, won, theta, slope[:, None])
        gradient = (theta * residual).sum(1) - (slope - PRIOR_SLOPE) / PRIOR_SD**2
        precision = (theta * pull_of(spread, theta)).sum(1) + PRIOR_SD**-2
        step = np.clip(gradient / precision, -1, 1)
        slope = slope + step
        if np.abs(step).max(initial=0) < NEARLY:
            break
    return slope, precision**-0.5


def pull_of(spread: Array, theta: Array) -> Array:
    """Σ_j spread_ij (theta_i - theta_j) [G, K]: how a shift of each entrant moves the score of a slope."""
    return spread.sum(2) * theta - (spread @ theta[..., None])[..., 0]


def follows_reverse(wins: Array, theta: Array) -> Array:
    """[G]: whether votes W [G, K, K] go against ratings theta [G, K] more than random keys would in 1 of 50 cases."""
    won, lost = wins.sum(2), wins.sum(1)
    score = (theta * (won - lost)).sum(1) / 2
    crossed = (theta * (wins @ theta[..., None])[..., 0]).sum(1)
    variance = (((won + lost) * theta**2).sum(1) - 2 * crossed) / 4
    return score < -OPPOSED * np.sqrt(np.maximum(variance, 0.0))


def odd_habits(wins: Array, theta: Array) -> tuple[Array, Array]:
    """Log likelihood ratios [G], twice, of votes W [G, K, K] against ratings theta [G, K] made without the judge.

    - keys pressed at random;
    - one entrant, the likeliest, wins (or loses) 19 times in 20 whoever it meets.
    By Markov's inequality a judge who votes by the ratings exceeds ln(1/a) with a chance of a at most, for one entrant.
    """
    by_ratings = expected_scores(theta)
    np.log(by_ratings, out=by_ratings)
    by_ratings *= wins
    own = by_ratings.sum(2)
    usual = own + by_ratings.sum(1)
    won, lost = wins.sum(2), wins.sum(1)
    often, seldom = np.log(0.95), np.log(0.05)
    for_it, against = won * often + lost * seldom - usual, won * seldom + lost * often - usual
    random_keys = -own.sum(1) - np.log(2) * won.sum(1)
    return random_keys, np.maximum(for_it, against).max(1, initial=0)


def vote_noise(overall: ScopeFit, settings: Settings) -> float:
    """How much single votes vary, over what they would if each were won or lost: ties and fails, half a win, vary less."""
    residuals = (overall.counts * residual_table(overall.theta, **settings.halves) ** 2).sum()
    p = expected_scores(overall.theta)
    expected = ((overall.counts * settings.counted).sum(-1) * p * (1 - p)).sum()
    return min(1.0, float(residuals / expected)) if expected > 0 else 1.0


def accord(wins: Array, theta: Array, unsure: Array, taste: float, noise: float = 1.0) -> Array:
    """Score [G] of votes W [G, K, K] for a slope above 1 on ratings theta [G, K] made without the judge, standardised.

    - Its mean: ratings with an error of covariance `unsure` [G, K, K] lie too far apart, which an honest judge must not pay for.
    - Its variance: chance (`noise` of a vote that is won or lost), an honest judge's own taste, N(0, taste) for each entrant,
      and that error.
    - Its skewness is taken out by Cornish and Fisher's first term.

    So it is about N(0, 1) for an honest judge, and far below for a clicker.
    """
    residual, met, p = _moments(wins + np.swapaxes(wins, 1, 2), wins.sum(2), theta)
    own = np.diagonal(unsure, axis1=1, axis2=2)
    too_far = (met.sum(2) * own).sum(1) - np.einsum("gij,gij->g", met, unsure)
    score = (theta * residual).sum(1) + too_far
    pull = pull_of(met, theta)
    shifted = taste * (pull**2).sum(1) + (pull * (unsure @ pull[..., None])[..., 0]).sum(1)
    variance = noise * (theta * pull).sum(1) + shifted
    # Σ over pairs of met (gap)³ (1 - 2p), gathered by powers of theta.
    lean = met * (1 - 2 * p)
    third = noise * ((theta**3 * lean.sum(2)).sum(1) - 3 * (theta**2 * (lean @ theta[..., None])[..., 0]).sum(1))
    known = np.maximum(variance, 1e-12)
    z = score / np.sqrt(known)
    # Beyond three standard deviations the term is held, or it would turn a clear case round.
    return np.where(variance > 1e-12, z - third / known**1.5 * (np.minimum(z**2, 9) - 1) / 6, 0.0)
