"""Counts to ratings: half-win Bradley-Terry by choix, whether it exists, and Davidson's model of ties.

Ratings here are `theta`, natural log-odds with mean 0; `to_elo` puts them on the Elo scale with mean 1000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from ranking.statistics.definite import solve
from ranking.statistics.votes import FAIL, LEFT, RIGHT, TIE

ELO = 400 / np.log(10)
MEAN_RATING = 1000.0
LARGEST = 300.0  # log-odds up to which odds can be multiplied
NEXT_TO_NONE = 1e-9  # of a ridge: where maximum likelihood exists, but Newton's matrix must be definite
NEARLY = 1e-5  # a Newton step after which the next, of the order of its square, would move nothing that is printed
RIDGE = 0.5  # strength of the pull to the mean where votes alone give no answer
Array = NDArray[Any]


def to_elo(theta: Array) -> Array:
    return MEAN_RATING + ELO * theta


def outcome_scores(*, ties: str = "half", fails: str = "half") -> tuple[Array, Array]:
    """What each outcome scores for the left entrant, and whether it counts at all: two arrays [4]."""
    counts = np.array([1.0, 1.0, float(ties == "half"), float(fails == "half")])
    return np.array([1.0, 0.0, 0.5, 0.5]), counts


def half_wins(counts: Array, *, ties: str = "half", fails: str = "half") -> Array:
    """W[..., i, j]: wins of i over j plus half of their ties and fails, from counts [..., K, K, 4]."""
    draws = 0.5 * ((ties == "half") * counts[..., TIE] + (fails == "half") * counts[..., FAIL])
    as_left, as_right = counts[..., LEFT] + draws, counts[..., RIGHT] + draws
    return as_left + np.swapaxes(as_right, -1, -2)


def expected_scores(theta: Array, side_bias: float = 0.0) -> Array:
    """P[..., i, j]: the chance that i, shown left, beats j."""
    if not np.abs(theta).max(initial=0) + abs(side_bias) < LARGEST:
        return np.asarray(expit(theta[..., :, None] - theta[..., None, :] + side_bias))
    odds = np.exp(theta)  # K exponentials instead of K²
    left = odds * np.exp(side_bias) if side_bias else odds
    chances: Array = left[..., :, None] + odds[..., None, :]
    return np.divide(left[..., :, None], chances, out=chances)


def residual_table(theta: Array, *, ties: str = "half", fails: str = "half", side_bias: float = 0.0) -> Array:
    """Score minus expectation of the left entrant [..., K, K, 4]; 0 for outcomes the settings drop."""
    scores, counted = outcome_scores(ties=ties, fails=fails)
    return (scores - expected_scores(theta, side_bias)[..., None]) * counted


def laplacian(pairs: Array) -> Array:
    """sum of pairs[i, j] (e_i - e_j)(e_i - e_j)' over ordered pairs, for pairs [..., K, K]."""
    both = pairs + np.swapaxes(pairs, -1, -2)
    size = both.shape[-1]
    result = -both
    result[..., range(size), range(size)] += both.sum(-1)
    return result


def grounded(pairs: Array) -> Array:
    """The Laplacian of symmetric `pairs` [..., K, K], in their place."""
    each = np.arange(pairs.shape[-1])
    total = pairs.sum(-1)
    np.negative(pairs, out=pairs)
    pairs[..., each, each] += total
    return pairs


def information(wins: Array, theta: Array) -> Array:
    """Fisher information [..., K, K] of theta, from half-win counts W."""
    p = expected_scores(theta)
    met = wins + np.swapaxes(wins, -1, -2)
    met *= p
    met *= np.subtract(1, p, out=p)
    return grounded(met)


@dataclass(frozen=True)
class Connectivity:
    """Which entrants the votes can compare.

    - `component`: strong component ("beat or tied, both ways round"), largest first.
    - `island`: entrants joined by any vote; nothing is comparable across islands.
    - `no_upper`, `no_lower`: the rating has no bound that way (an undefeated entrant has no upper one).
    """

    component: Array
    island: Array
    no_upper: Array
    no_lower: Array

    @property
    def components(self) -> int:
        return int(self.component.max(initial=-1)) + 1

    @property
    def islands(self) -> int:
        return int(self.island.max(initial=-1)) + 1


def connectivity(wins: Array) -> Connectivity:
    """Strong components and islands of the graph with an edge i -> j where i ever took points from j."""
    size = len(wins)
    edges = wins > 0
    if size == 0:
        nothing = np.zeros(0, int)
        return Connectivity(nothing, nothing, nothing.astype(bool), nothing.astype(bool))
    if _reaches_all(edges) and _reaches_all(edges.T):
        nothing = np.zeros(size, int)
        return Connectivity(nothing, nothing, nothing.astype(bool), nothing.astype(bool))
    graph: Any = csr_matrix(edges)
    strong = _by_size(connected_components(graph, directed=True, connection="strong")[1])
    weak = _by_size(connected_components(graph, directed=False)[1])
    # The scale is anchored in the largest component of each island; what lies outside it floats one way or both.
    crossing = edges & (strong[:, None] != strong[None, :])
    groups = np.eye(strong.max() + 1, dtype=bool)[strong]
    beaten, beating = (groups.T @ crossing.any(0))[strong], (groups.T @ crossing.any(1))[strong]
    anchors = [strong[weak == island].min() for island in range(weak.max() + 1)]
    anchored = np.isin(strong, anchors) & (groups.sum(0)[strong] > 1)
    return Connectivity(strong, weak, ~anchored & (beating | ~beaten), ~anchored & (beaten | ~beating))


def _reaches_all(edges: Array) -> bool:
    """Whether one can go from the first to every other along edges [K, K]."""
    reached = edges[0].copy()
    reached[0] = True
    while not reached.all():
        further = reached | edges[reached].any(0)
        if (further == reached).all():
            return False
        reached = further
    return True


def took_points(wins: Array) -> Array:
    """[i, j] where i took points from j, directly or through others: what keeps the gap from i to j from falling endlessly."""
    paths = (wins > 0) | np.eye(len(wins), dtype=bool)
    while (longer := paths.astype(float) @ paths > 0).sum() > paths.sum():
        paths = longer
    return paths


def _by_size(labels: Array) -> Array:
    """Labels renumbered so that 0 is the largest group (first entrant first among equals)."""
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    renumbered = np.empty(len(order), int)
    renumbered[order] = np.arange(len(order))
    return renumbered[labels]


def fit_ratings(wins: Array, connected: Connectivity | None = None, *, start: Array | None = None) -> Array:
    """theta [K] with mean 0: maximum likelihood by choix (by Newton from a near `start`) where it exists, else MAP with ridge 0.5."""
    size = len(wins)
    if size < 2:
        return np.zeros(size)
    seen = (wins + wins.T).any(1)
    if seen.any() and not seen.all():  # an entrant without votes stays at the mean and pulls nobody
        theta = np.zeros(size)
        theta[seen] = fit_ratings(wins[np.ix_(seen, seen)], start=None if start is None else start[seen])
        return theta
    connected = connected or connectivity(wins)
    if connected.components > 1:
        return map_ratings(wins)
    if start is not None:
        theta = map_ratings(wins, ridge=NEXT_TO_NONE, start=start)
        return theta - theta.mean()
    # Imported here: choix brings all of scipy.stats, which most processes never need and all would wait for.
    import choix

    try:
        return choix.ilsr_pairwise_dense(wins, alpha=0.0)
    except RuntimeError:  # choix stops after 100 rounds; a near-disconnected table can need more than that
        return map_ratings(wins, ridge=NEXT_TO_NONE)


def map_ratings(
    wins: Array,
    *,
    prior: Array | None = None,
    ridge: float = RIDGE,
    start: Array | None = None,
    met: Array | None = None,
) -> Array:
    """Maximum of log-likelihood - ridge/2 |theta - prior|² by Newton; W [..., K, K], any leading batch axes; `met` is W + W'.

    Steps are halved nowhere: the objective is concave and self-concordant enough that a cap of 2 a step suffices.
    """
    size = wins.shape[-1]
    prior = np.zeros(size) if prior is None else prior
    theta = prior if start is None else start  # one for all, until the first step
    totals, won = wins + np.swapaxes(wins, -1, -2) if met is None else met, wins.sum(-1)
    # Votes say nothing about the mean of all ratings; with next to no ridge it is held still, or rounding would move it.
    anchor = ridge * np.eye(size) + (1.0 / max(size, 1) if ridge < 1e-6 else 0.0)
    for _ in range(50):
        p = expected_scores(theta)
        expected = totals * p
        gradient = won - expected.sum(-1) - ridge * (theta - prior)
        expected *= np.subtract(1, p, out=p)
        step = solve(grounded(expected) + anchor, gradient)
        step /= np.maximum(1, np.abs(step).max(-1, keepdims=True, initial=0) / 2)
        theta = theta + step
        if np.abs(step).max(initial=0) < NEARLY:
            break
    return theta


@dataclass(frozen=True)
class Davidson:
    """Davidson's tie model: chance of i, j and a tie in proportion pi_i, pi_j and nu sqrt(pi_i pi_j)."""

    theta: Array
    nu: float | None  # None where every vote was a tie


def fit_davidson(counts: Array, *, ties: str = "half", fails: str = "half") -> Davidson:
    """Davidson (1970) by Newton from counts [K, K, 4]; fails are ties here unless the settings drop them."""
    size = len(counts)
    wins = counts[..., LEFT] + counts[..., RIGHT].T
    drawn = (ties == "half") * counts[..., TIE] + (fails == "half") * counts[..., FAIL]
    drawn = 0.5 * (drawn + drawn.T)  # half on each side of the diagonal, so that sums count a tie once
    if size < 2 or not wins.any():
        return Davidson(np.zeros(size), None if drawn.any() else 0.0)
    ridge = 1e-9 if connectivity(wins + drawn).components == 1 else RIDGE
    if not drawn.any():
        return Davidson(map_ratings(wins, ridge=ridge), 0.0)
    return _davidson_newton(wins, drawn, ridge)


def _davidson_newton(wins: Array, drawn: Array, ridge: float) -> Davidson:
    size = len(wins)
    totals = 0.5 * (wins + wins.T) + drawn  # votes of a pair, half on each side of the diagonal
    theta, log_nu = np.zeros(size), np.log(2 * drawn.sum() / wins.sum())
    anchor = ridge * np.eye(size) + (1.0 / size if ridge < 1e-6 else 0.0)  # as in `map_ratings`
    for _ in range(100):
        gap = theta[:, None] - theta[None, :]
        up, down, tie = np.exp(gap / 2), np.exp(-gap / 2), np.exp(log_nu)
        whole = up + down + tie
        p_up, p_down, p_tie = up / whole, down / whole, tie / whole
        gradient = np.append(
            (0.5 * (wins - wins.T) - totals * (p_up - p_down)).sum(1) - ridge * theta, (drawn - totals * p_tie).sum()
        )
        spread = 0.25 * totals * (p_up + p_down - (p_up - p_down) ** 2)
        hessian = np.zeros((size + 1, size + 1))
        hessian[:size, :size] = laplacian(spread) + anchor
        hessian[-1, -1] = (totals * p_tie * (1 - p_tie)).sum()
        hessian[-1, :size] = hessian[:size, -1] = -(totals * p_tie * (p_up - p_down)).sum(1)
        step = np.linalg.solve(hessian, gradient)
        step /= max(1.0, np.abs(step).max() / 2)
        theta, log_nu = theta + step[:-1], log_nu + step[-1]
        if np.abs(step).max() < 1e-10:
            break
    return Davidson(theta - theta.mean(), float(np.exp(log_nu)))
