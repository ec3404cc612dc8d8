"""The rating of the answers: votes say whose drawings are better, and an invalid answer loses to a valid one.

On one prompt, with valid rates v and the chance p that a drawing of i is preferred to one of j, an answer of i scores
`v_i v_j p + v_i (1 − v_j) + ½ (1 − v_i)(1 − v_j)` against one of j. These scores, averaged over prompts, are fitted like votes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import (
    ELO,
    RIDGE,
    Connectivity,
    connectivity,
    expected_scores,
    fit_ratings,
    laplacian,
    to_elo,
)
from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.ratings.scopes import ScopeFit, Settings
from ranking.statistics.samples import SampleRate
from ranking.statistics.verdicts.paired import Gaps, judge_gaps, verdict_table
from ranking.statistics.verdicts.pairs import EQUAL, Verdicts

Array = NDArray[Any]


@dataclass(frozen=True)
class AnswerFit:
    """Ratings of answers [K] in log-odds with their precision; `gaps` has the same of all pairs."""

    theta: Array
    variance: Array
    df: Array
    gaps: Gaps
    connected: Connectivity


def fit_answers(theta: Array, covariance: Array, df: float, answers: Array, valid: Array) -> AnswerFit:
    """From ratings of drawings [K] with their covariance, and counts of answers and valid ones [K, P] by prompt."""
    given = answers > 0
    rate = np.where(given, valid / np.maximum(answers, 1), 0.0)
    at = given.astype(float)
    shared = np.maximum(at @ at.T, 1e-9)
    both, own = rate @ rate.T / shared, rate @ at.T / shared
    met = (at @ at.T > 0) & ~np.eye(len(theta), dtype=bool)
    chance = expected_scores(theta)
    score = np.where(met, both * chance + (own - both) + 0.5 * (1 - own - own.T + both), 0.0)
    weight = max(float(answers.sum(1).mean()), 1.0)  # what a ridge is weighed against: the answers of an entrant
    connected = connectivity(np.where(score > EQUAL, score, 0.0))
    rating = fit_ratings(weight * score, connected)
    expected = expected_scores(rating)
    inverse = _inverse(laplacian(np.where(met, expected * (1 - expected), 0.0)) / 2, weight, connected)
    pull = inverse @ laplacian(np.where(met, both * chance * (1 - chance), 0.0)) / 2
    from_votes = pull @ covariance @ pull.T
    prompts = int(given.any(0).sum())
    from_prompts = inverse @ _prompt_moments(rate, given, chance, score, shared, met) @ inverse
    if prompts < 2:
        from_prompts = np.full_like(from_votes, np.inf)
    total = from_votes + from_prompts
    gap = rating[:, None] - rating[None, :]
    pairs = _pair_variance(from_votes), _pair_variance(from_prompts)
    return AnswerFit(
        theta=rating,
        variance=np.diag(total),
        df=_satterthwaite(np.diag(from_votes), np.diag(from_prompts), df, prompts - 1),
        gaps=Gaps(
            gap=gap,
            variance=pairs[0] + pairs[1],
            df=_satterthwaite(*pairs, df, prompts - 1),
            units=np.full_like(gap, prompts),
            covariance=np.where(np.isfinite(total), total, 0.0),
        ),
        connected=connected,
    )


def _inverse(hessian: Array, weight: float, connected: Connectivity) -> Array:
    size = len(hessian)
    if connected.components > 1:
        return np.asarray(np.linalg.inv(hessian + RIDGE / weight * np.eye(size)))
    return np.asarray(np.linalg.inv(hessian + np.full((size, size), 1 / size)) - np.full((size, size), 1 / size))


def _prompt_moments(rate: Array, given: Array, chance: Array, score: Array, shared: Array, met: Array) -> Array:
    """Of the scores' sums by entrant: how they vary from prompt to prompt, since valid rates do."""
    sums = []
    for prompt in np.flatnonzero(given.any(0)):
        v, here = rate[:, prompt], given[:, prompt]
        both = np.outer(v, v)
        own = np.broadcast_to(v[:, None], both.shape)
        expected = both * chance + (own - both) + 0.5 * (1 - own - own.T + both)
        sums.append(np.where(met & np.outer(here, here), (expected - score) / shared, 0.0).sum(1))
    table = np.array(sums).reshape(-1, len(rate))
    return table.T @ table * len(table) / max(len(table) - 1, 1)


def _pair_variance(covariance: Array) -> Array:
    own = np.diag(covariance)
    with np.errstate(invalid="ignore"):
        between = own[:, None] + own[None, :] - 2 * covariance
    return np.where(np.isnan(between), np.inf, np.maximum(between, 0.0))


def _satterthwaite(votes: Array, prompts: Array, votes_df: float, prompts_df: float) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        df = (votes + prompts) ** 2 / (votes**2 / votes_df + prompts**2 / max(prompts_df, 1))
    return np.where(np.isfinite(df), df, np.inf)


@dataclass(frozen=True)
class AnswerStanding:
    """One entrant in the rating of the answers, on the Elo scale; None where a bound does not exist."""

    entrant: str
    rating: float
    low: float | None
    high: float | None
    rank: int
    rank_low: int
    rank_high: int
    answers: int
    valid: int


@dataclass(frozen=True)
class AnswerRatings:
    overall: list[AnswerStanding]
    verdicts: dict[str, Any]


def rate_answers(
    names: Sequence[str], fit: ScopeFit, samples: Mapping[str, SampleRate], settings: Settings
) -> AnswerRatings | None:
    """Of entrants with answers that were voted on, or that are all invalid; None where there are not two, or no votes."""
    number = {name: i for i, name in enumerate(names)}
    voted = {name for name, i in number.items() if np.isfinite(fit.spread.variance[i])}
    entrants = sorted(name for name, rate in samples.items() if rate.by_prompt and (name in voted or not rate.valid))
    if len(entrants) < 2 or len(voted & {*entrants}) < 2 or fit.connected.islands > 1:
        return None
    answers, valid = count_table([samples[name] for name in entrants])
    rated = np.array([number.get(name, -1) if name in voted else -1 for name in entrants])
    known = rated >= 0
    theta = np.where(known, fit.theta[rated], 0.0)
    covariance = np.where(np.outer(known, known), fit.spread.scaled_covariance[np.ix_(rated, rated)], 0.0)
    result = fit_answers(theta, covariance, fit.spread.usual_df, answers, valid)
    verdicts = judge_gaps(result.gaps, margin=settings.margin / ELO, level=settings.level)
    rows = _standings(entrants, result, verdicts, answers, valid, settings)
    order = [entrants.index(row.entrant) for row in rows]
    return AnswerRatings(rows, verdict_table(verdicts, entrants, order, unit=ELO))


def count_table(rates: Sequence[SampleRate]) -> tuple[Array, Array]:
    """Answers and valid ones [K, P] over all prompts that any of them has."""
    prompts = {key: place for place, key in enumerate(sorted({key for rate in rates for key in rate.by_prompt}))}
    answers, valid = np.zeros((len(rates), len(prompts))), np.zeros((len(rates), len(prompts)))
    for i, rate in enumerate(rates):
        for key, (given, good) in rate.by_prompt.items():
            answers[i, prompts[key]], valid[i, prompts[key]] = given, good
    return answers, valid


def _standings(
    entrants: Sequence[str], fit: AnswerFit, verdicts: Verdicts, answers: Array, valid: Array, settings: Settings
) -> list[AnswerStanding]:
    rating = to_elo(fit.theta)
    reach = ELO * t_quantile(fit.df, 0.5 + settings.level / 2) * np.sqrt(fit.variance)
    low = np.where(fit.connected.no_lower, -np.inf, rating - reach)
    high = np.where(fit.connected.no_upper, np.inf, rating + reach)
    rank = verdicts.rank
    rows = [
        AnswerStanding(
            entrant=name,
            rating=float(rating[i]),
            low=float(low[i]) if np.isfinite(low[i]) else None,
            high=float(high[i]) if np.isfinite(high[i]) else None,
            rank=int(rank[i]),
            rank_low=int(min(verdicts.rank_low[i], rank[i])),
            rank_high=int(max(verdicts.rank_high[i], rank[i])),
            answers=int(answers[i].sum()),
            valid=int(valid[i].sum()),
        )
        for i, name in enumerate(entrants)
    ]
    return sorted(rows, key=lambda row: (-round(row.rating, 6), row.entrant))
