"""Ratings to intervals: two-way clustered sandwich, rank ranges, the chance of being best, Wilson.

Votes of one judge hang together, and so do votes on one prompt. The variance of a rating is therefore summed by judge
and by prompt (Cameron, Gelbach and Miller 2011) instead of vote by vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from ranking.statistics.ratings.bradley_terry import laplacian
from ranking.statistics.votes import Cells

Array = NDArray[Any]
Z95 = float(ndtri(0.975))
FEW_CLUSTERS = 5


@dataclass(frozen=True)
class Clusters:
    """Scores summed by cluster within each scope.

    `meat` [S, K, K] is the sum of their outer products; `groups` [S] how many clusters had votes, where each vote
    of an unknown judge or prompt is a cluster of its own.
    """

    meat: Array
    groups: Array


def cluster_scores(cells: Cells, residuals: Array, *, scope: Array | None, clusters: int, n: Array | None) -> Clusters:
    """Sums by cluster of the residuals [S, K, K, 4] that cells pick; `n` weights each cell, -1 clusters stand alone."""
    scopes, size = residuals.shape[0], residuals.shape[1]
    left, right, cluster = cells.left.astype(np.int64), cells.right.astype(np.int64), cells.cluster.astype(np.int64)
    at = np.zeros(1, np.int64) if scope is None else scope.astype(np.int64)
    code = ((at * size + left) * size + right) * 4 + cells.outcome
    value = residuals.ravel()[code]
    if n is not None:
        value = value * n
    alone = cluster < 0
    lost = at < 0
    if alone.any() or lost.any():
        return _with_loners(cells, residuals, at=at, clusters=clusters, n=n, keep=~lost & ~alone, loners=alone & ~lost)
    key = (at * clusters + cluster) * size
    bins = scopes * clusters * size
    sums = np.bincount(key + left, value, bins) - np.bincount(key + right, value, bins)
    sums = sums.reshape(scopes, clusters, size)
    present = np.bincount(key // size if size else key, minlength=scopes * clusters).reshape(scopes, clusters) > 0
    return Clusters(np.matmul(np.swapaxes(sums, 1, 2), sums), present.sum(1))


def _with_loners(
    cells: Cells, residuals: Array, *, at: Array, clusters: int, n: Array | None, keep: Array, loners: Array
) -> Clusters:
    at = np.broadcast_to(at, len(cells.left))

    def part(mask: Array) -> tuple[Cells, Array, Array | None]:
        columns = (cells.cluster, cells.category, cells.left, cells.right, cells.outcome)
        return Cells(*(column[mask] for column in columns)), at[mask], None if n is None else n[mask]

    kept, kept_at, kept_n = part(keep)
    known = cluster_scores(kept, residuals, scope=kept_at, clusters=clusters, n=kept_n)
    alone, alone_at, alone_n = part(loners)
    scopes, size = residuals.shape[0], residuals.shape[1]
    code = ((alone_at * size + alone.left) * size + alone.right) * 4 + alone.outcome
    counts = np.bincount(code, alone_n, scopes * size * size * 4).reshape(residuals.shape)
    groups = np.bincount(alone_at, alone_n, scopes)
    return Clusters(known.meat + laplacian((counts * residuals**2).sum(-1)), known.groups + groups)


@dataclass(frozen=True)
class Spread:
    """How sure a scope's ratings are: covariances of theta [K, K], and what they rest on."""

    covariance: Array
    judge_covariance: Array
    prompt_covariance: Array
    iid_covariance: Array
    df: float  # degrees of freedom of the t quantile; infinite for i.i.d. intervals
    method: str  # two-way | judge | prompt | iid
    judges: int
    prompts: int

    @property
    def variance(self) -> Array:
        return np.maximum.reduce([np.diag(c) for c in self.floors])

    @property
    def floors(self) -> tuple[Array, ...]:
        """What no variance may be below: either one-way variance and, with few clusters, the i.i.d. one.

        A handful of clusters may agree exactly by chance; their variance is then 0, which nobody should believe.
        """
        clustered = (self.covariance, self.judge_covariance, self.prompt_covariance)
        return (*clustered, self.iid_covariance) if self.df + 1 < FEW_CLUSTERS else clustered

    @property
    def pair_variance(self) -> Array:
        """Variance of theta_i - theta_j, never below its floors."""
        return np.maximum.reduce([_pair_variance(c) for c in self.floors])

    @property
    def design_effect(self) -> float | None:
        """How many times wider the variance is than if votes were independent."""
        iid = float(np.diag(self.iid_covariance).sum())
        return float(self.variance.sum() / iid) if iid > 0 else None

    def quantile(self, level: float = 0.95) -> float:
        tail = 0.5 + level / 2
        return float(stdtrit(self.df, tail)) if np.isfinite(self.df) else float(ndtri(tail))


def _pair_variance(covariance: Array) -> Array:
    variance = np.diag(covariance)
    return np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0)


def sandwich(
    bread: Array, *, iid_meat: Array, judge: tuple[Array, int], prompt: tuple[Array, int], prior: float = 0.0
) -> Spread:
    """C = H⁻¹ V H⁻¹ with V = V_judge + V_prompt - V_iid, each way with its CR1 factor G/(G-1).

    `bread` is the information H [K, K]; `prior` > 0 is the ridge of a MAP fit, whose own uncertainty is then added.
    With a single judge (or prompt) that way is left out, with a single one of each the i.i.d. variance is all there is.
    """
    size = len(bread)
    inverse = np.linalg.inv(bread + (prior * np.eye(size) if prior else np.full((size, size), 1 / max(size, 1))))
    floor = prior * np.eye(size)

    def covariance(meat: Array) -> Array:
        result = inverse @ (meat + floor) @ inverse
        return 0.5 * (result + result.T)

    iid = covariance(iid_meat)
    ways = {name: (meat * (g / (g - 1)), g) for name, (meat, g) in (("judge", judge), ("prompt", prompt)) if g > 1}
    single = {name: covariance(meat) for name, (meat, _) in ways.items()}
    both = len(ways) == 2
    total = covariance(ways["judge"][0] + ways["prompt"][0] - iid_meat) if both else next(iter(single.values()), iid)
    return Spread(
        covariance=total,
        judge_covariance=single.get("judge", total),
        prompt_covariance=single.get("prompt", total),
        iid_covariance=iid,
        df=min((g for _, g in ways.values()), default=np.inf) - 1,
        method="two-way" if both else next(iter(ways), "iid"),
        judges=int(judge[1]),
        prompts=int(prompt[1]),
    )


def clip_eigenvalues(covariance: Array) -> Array:
    """A root R with R R' the nearest positive semi-definite matrix: two-way covariances often are not."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0))


@dataclass(frozen=True)
class Ranks:
    """Where each entrant may stand: simultaneous 95 % range of ranks, and the chance of being best of its island."""

    rank: Array
    low: Array
    high: Array
    p_best: Array


def rank_ranges(
    theta: Array, spread: Spread, *, island: Array, seed: int = 1, draws: int = 2000, level: float = 0.95
) -> Ranks:
    """Rank ranges from max |z| over all pairs of an island, by draws from C (t-scaled for few clusters)."""
    size = len(theta)
    rng = np.random.default_rng(seed)
    root = clip_eigenvalues(spread.covariance)
    noise = rng.standard_normal((draws, size)) @ root.T
    if np.isfinite(spread.df):
        noise *= np.sqrt(spread.df / rng.chisquare(spread.df, draws))[:, None]
    errors = np.sqrt(np.maximum(spread.pair_variance, _pair_variance(root @ root.T)))  # clipping adds variance
    same = island[:, None] == island[None, :]
    critical = _max_z_quantile(noise, errors, same, level) if size > 1 else 0.0
    gaps = theta[:, None] - theta[None, :]
    clear = same & (np.abs(gaps) > critical * errors) & (np.abs(gaps) > 1e-9)
    members = same.sum(1)
    drawn = theta + noise
    p_best = np.zeros(size)
    for label in range(int(island.max(initial=-1)) + 1):
        here = np.flatnonzero(island == label)
        p_best[here] = np.bincount(drawn[:, here].argmax(1), minlength=len(here)) / draws
    return Ranks(
        rank=1 + (same & (gaps < -1e-9)).sum(1),
        low=1 + (clear & (gaps < 0)).sum(1),
        high=members - (clear & (gaps > 0)).sum(1),
        p_best=p_best,
    )


def _max_z_quantile(noise: Array, errors: Array, same: Array, level: float) -> float:
    """The level quantile of max |noise_i - noise_j| / error_ij over pairs of one island."""
    inverse = np.where(same & (errors > 0), 1 / np.where(errors > 0, errors, 1), 0)
    top = np.zeros(len(noise))
    columns = np.ascontiguousarray(noise.T)
    for i in range(len(columns) - 1):
        z = np.abs(columns[i + 1 :] - columns[i])
        z *= inverse[i, i + 1 :, None]
        np.maximum(top, z.max(0), out=top)
    return float(np.quantile(top, level))


def arena_rank(low: Array, high: Array) -> Array:
    """1 + the number of entrants whose lower bound is above my upper bound (the best-known arena's rule)."""
    return 1 + (np.asarray(low)[None, :] > np.asarray(high)[:, None]).sum(1)


def wilson(successes: float, trials: float) -> tuple[float, float] | tuple[None, None]:
    """Wilson's 95 % interval for a share; (None, None) without trials."""
    if trials <= 0:
        return None, None
    z, share = Z95, successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))
