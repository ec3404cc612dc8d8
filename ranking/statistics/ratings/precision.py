"""How sure ratings and gaps are: judges' and prompts' variances added, each with its degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from ranking.statistics.ratings.components import NO_COMPONENT, Component, moderated_variance, pool_component
from ranking.statistics.ratings.groups import Way, contrasts

Array = NDArray[Any]
ONE_LEFT_OUT = {(True, True): "two-way", (True, False): "judge", (False, True): "prompt", (False, False): "iid"}


@dataclass(frozen=True)
class Parts:
    """Where the variance of each pair's gap [K, K] comes from: single votes, judges' tastes, prompts."""

    votes: Array
    judges: Array
    prompts: Array


@dataclass(frozen=True)
class Precision:
    """Variances and degrees of freedom of theta [K] and of every gap [K, K]; infinite where votes decide nothing.

    - `covariance`: the model's own covariance of all ratings (positive, needs no clipping), for draws.
    - `iid_covariance`: as if votes were independent.
    - `judge_component`, `prompt_component`: how much judges and prompts differ.
    """

    variance: Array
    df: Array
    pair_variance: Array
    pair_df: Array
    parts: Parts
    covariance: Array
    iid_covariance: Array
    judge_component: Component
    prompt_component: Component
    method: str  # two-way | judge | prompt | iid
    judges: float
    prompts: float

    @property
    def design_effect(self) -> float | None:
        """How many times wider the variance is than if votes were independent."""
        iid = float(np.diag(self.iid_covariance).sum())
        return float(self.variance.sum() / iid) if iid > 0 and np.isfinite(self.variance).all() else None

    @property
    def usual_df(self) -> float:
        return float(np.median(self.df)) if len(self.df) else np.inf

    def reach(self, level: float = 0.95) -> Array:
        """Half-widths [K] of the ratings' intervals."""
        return t_quantile(self.df, 0.5 + level / 2) * np.sqrt(self.variance)

    def pair_reach(self, level: float = 0.95) -> Array:
        """Half-widths [K, K] of the gaps' intervals."""
        return t_quantile(self.pair_df, 0.5 + level / 2) * np.sqrt(self.pair_variance)

    def spread_out(self, seen: Array, size: int) -> Precision:
        """The same for `size` entrants, of which only those `seen` have votes; the others' variance is infinite."""
        if len(seen) == size:
            return self
        full = no_precision(size)
        at = np.ix_(seen, seen)
        for name in ("variance", "df"):
            getattr(full, name)[seen] = getattr(self, name)
        for name in ("pair_variance", "pair_df", "covariance", "iid_covariance"):
            getattr(full, name)[at] = getattr(self, name)
        for name in ("votes", "judges", "prompts"):
            getattr(full.parts, name)[at] = getattr(self.parts, name)
        return replace(
            full,
            judge_component=self.judge_component,
            prompt_component=self.prompt_component,
            method=self.method,
            judges=self.judges,
            prompts=self.prompts,
        )

    @property
    def scaled_covariance(self) -> Array:
        """`covariance` scaled to the printed variances."""
        own = np.diag(self.covariance)
        scale = np.sqrt(np.where(own > 0, self.variance / np.where(own > 0, own, 1), 1.0))
        return self.covariance * scale[:, None] * scale[None, :]


def no_precision(size: int) -> Precision:
    """Nothing is known: every variance is infinite."""
    unknown, zero = np.full((size, size), np.inf), np.zeros((size, size))
    np.fill_diagonal(unknown, 0.0)
    return Precision(
        variance=np.full(size, np.inf),
        df=np.full(size, np.inf),
        pair_variance=unknown,
        pair_df=np.full((size, size), np.inf),
        parts=Parts(unknown.copy(), zero.copy(), zero.copy()),
        covariance=zero.copy(),
        iid_covariance=zero.copy(),
        judge_component=NO_COMPONENT,
        prompt_component=NO_COMPONENT,
        method="iid",
        judges=0.0,
        prompts=0.0,
    )


def t_quantile(df: Any, tail: Any) -> Array:
    """Student's quantile, the normal one where df is infinite."""
    df, tail = np.broadcast_arrays(np.asarray(df, float), np.asarray(tail, float))
    bounded = np.isfinite(df)
    return np.where(bounded, stdtrit(np.where(bounded, df, 1.0), tail), ndtri(tail))


def combine_ways(
    judge: Way, prompt: Way, *, components: tuple[Component, Component] | None = None, prior: Array | None = None
) -> Precision:
    """One precision from both ways; `prior` is the covariance that a ridge's own uncertainty adds.

    A way with a single group is left out: the interval then speaks for that judge (or prompt) alone.
    """
    size = len(judge.taste_matrix)
    pooled = components or (pool_component(judge, size), pool_component(prompt, size))
    used = (judge.groups > 1, prompt.groups > 1)
    judge_part, prompt_part = (c if u else NO_COMPONENT for c, u in zip(pooled, used, strict=True))
    iid = judge.noise
    (by_judge, judge_df), (by_prompt, prompt_df) = (
        moderated_variance(way, component) if wanted else (iid, np.full(len(iid), np.inf))
        for way, component, wanted in ((judge, judge_part, used[0]), (prompt, prompt_part, used[1]))
    )
    total = np.maximum(by_judge + by_prompt - iid, iid)
    spent = by_judge**2 / judge_df + by_prompt**2 / prompt_df
    df = np.where(spent > 0, total**2 / np.where(spent > 0, spent, 1), np.inf)
    covariance = (
        judge.noise_matrix + judge_part.positive * judge.taste_matrix + prompt_part.positive * prompt.taste_matrix
    )
    if prior is not None:
        total, covariance = total + contrasts(prior), covariance + prior
    total = np.maximum(total, 0.0)  # rounding takes a variance of nothing below it
    parts = Parts(*(_square(p, size) for p in (iid, np.maximum(by_judge - iid, 0), np.maximum(by_prompt - iid, 0))))
    return Precision(
        variance=total[:size],
        df=df[:size],
        pair_variance=_square(total, size),
        pair_df=_square(df, size, diagonal=np.inf),
        parts=parts,
        covariance=covariance,
        iid_covariance=judge.noise_matrix if prior is None else judge.noise_matrix + prior,
        judge_component=judge_part,
        prompt_component=prompt_part,
        method=ONE_LEFT_OUT[used],
        judges=judge.groups,
        prompts=prompt.groups,
    )


def _square(values: Array, size: int, *, diagonal: float = 0.0) -> Array:
    """The pairs of a row of contrasts as a symmetric matrix [K, K]."""
    matrix = np.full((size, size), diagonal)
    first, second = np.triu_indices(size, 1)
    matrix[first, second] = matrix[second, first] = values[size:]
    return matrix
