"""How far categories lie apart: what all have in common, and which are unlike all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from ranking.statistics.ratings.bradley_terry import map_ratings

Array = NDArray[Any]
# The least variance (log-odds²) of a category's ratings around the overall ones: in standard errors of its estimate, and at most.
LEAST_ERRORS, LEAST_SPREAD = 0.1, 1 / 64
# So much of the estimate's standard error is taken off it, or chance would pass for differences: of all categories, of one.
SPARED, OWN_SPARED = 1.0, 0.5
HELD = 0.01  # how hard ratings without unlike categories are held to the overall ones, where no votes say otherwise
UNLIKE = 0.01  # the chance at which some category of all that are alike is taken for one that is not


@dataclass(frozen=True)
class Apart:
    """By category: the ratings it is drawn to, how far it lies from them (variance, log-odds²), how well that is known, and
    how many times fewer votes these ratings rest on than the overall ones, where unlike categories are left out of them."""

    variance: Any
    df: Any
    centre: Any
    thinner: Any


def how_far_apart(information: Array, scores: Array, spread: Array, share: Array, wins: Array, theta: Array) -> Apart:
    """For each category [C]: what all have in common, or its own where that is larger, from scores at the overall ratings.

    No category is drawn harder than its own votes allow, and one unlike all others neither loosens nor moves theirs: they are
    drawn to ratings without it. The least variance is what the votes could have missed, and is taken for known where it is assumed.
    """
    size, trace = information.shape[-1], np.trace(information, axis1=1, axis2=2)
    centre, thinner = np.tile(theta, (len(trace), 1)), np.ones(len(trace))
    if trace.sum() <= 0:
        return Apart(np.full(len(trace), LEAST_SPREAD), np.full(len(trace), np.inf), centre, thinner)
    loose = np.linalg.pinv(information, hermitian=True)
    noise = loose @ spread

    def squares(scores: Array, share: Array) -> Array:
        return np.einsum("ci,cij,cj->c", scores, loose, scores) / np.maximum(1 - share, 1e-6)

    shown = squares(scores, share)
    alike = _alike(shown, noise, information)
    if not alike[trace > 0].all():
        centre[alike] = map_ratings(wins[alike].sum(0), prior=theta, ridge=HELD)
        thinner[alike] = trace.sum() / trace[alike].sum()
        moved = scores - np.einsum("cij,cj->ci", information, centre - theta)
        shown = np.where(alike, squares(moved, share * thinner), shown)
    excess = shown - np.trace(noise, axis1=1, axis2=2)
    common, least = _in_common(excess, noise, trace, alike)
    errors = np.sqrt(2 * np.einsum("cij,cji->c", noise, noise))  # of each excess
    excess = excess - OWN_SPARED * errors
    safe = np.maximum(trace, 1e-12)
    own = np.where(trace > 0, (common + (size - 1) * excess / safe) / size, common)
    variance = np.maximum(common, own)
    matrix = noise + variance[:, None, None] * information
    error = 2 * np.einsum("cij,cji->c", matrix, matrix)
    together = error[alike].sum() / trace[alike].sum() ** 2
    error = np.where(own > common, ((size - 1) / size / safe) ** 2 * error, together)
    df = np.where(variance <= least, np.inf, 2 * variance**2 / np.where(error > 0, error, 1))
    return Apart(variance, df, centre, thinner)


def _in_common(excess: Array, noise: Array, trace: Array, alike: Array) -> tuple[float, float]:
    """The variance of these categories' ratings around the overall ones, and the least it is taken to be."""
    total = max(float(trace[alike].sum()), 1e-12)
    missed = float(np.sqrt(2 * np.einsum("cij,cji->", noise[alike], noise[alike]))) / total
    least = min(LEAST_ERRORS * missed, LEAST_SPREAD) or LEAST_SPREAD  # ties alone show no noise
    return max(float(excess[alike].sum()) / total - SPARED * missed, least), least


def _alike(squares: Array, noise: Array, information: Array) -> Array:
    """Which categories [C] differ by no more than the others do: those that do are left out one by one, the clearest first,
    and never more than half. Each is compared with all that remain, as F."""
    expected, trace = (np.trace(each, axis1=1, axis2=2) for each in (noise, information))
    pairs = ((noise, noise), (noise, information), (information, information))
    products = np.array([np.einsum("cij,cji->c", one, other) for one, other in pairs])
    alike = trace > 0
    fewest = (int(alike.sum()) + 1) // 2
    while alike.sum() > max(fewest, 2):
        here = np.flatnonzero(alike)
        rest = ~np.eye(len(here), dtype=bool)
        excess = rest @ (squares - expected)[here]
        common = np.maximum(excess / (rest @ trace[here]), 0.0)[:, None]
        mean = expected[here] + common * trace[here]  # [each left out, category]
        spread = 2 * common * products[1, here] + common**2 * products[2, here] + products[0, here]
        own, others = np.diag(mean), (mean * rest).sum(1)
        ratio = squares[here] / own / ((rest @ squares[here]) / others)
        chance = fdtrc(own**2 / np.diag(spread), others**2 / (spread * rest).sum(1), ratio)
        if not chance.min() * len(here) < UNLIKE:
            break
        alike[here[chance.argmin()]] = False
    return alike
