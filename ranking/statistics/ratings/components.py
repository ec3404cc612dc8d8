"""How much judges (or prompts) differ, pooled over entrants, and each contrast's variance moderated towards it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.groups import Way

Array = NDArray[Any]
START, ROUNDS = 0.05, 12
NEXT_TO_NOTHING = 1e-12


@dataclass(frozen=True)
class Component:
    """The variance of tastes of one way (log-odds²; may be a little below 0), its degrees of freedom and standard error."""

    variance: float
    df: float
    se: float

    @property
    def positive(self) -> float:
        return max(self.variance, 0.0)


NO_COMPONENT = Component(0.0, 0.0, np.inf)


def effective_groups(way: Way, variance: float) -> Array:
    """(Σv)² / Σv² - 1 by contrast: how many groups there are in effect, less one; of several kinds, less one of each."""
    level = max(variance, 0.0)
    if not way.strata:
        total, squares = _moments(way, level)
        return np.where(squares > 0, total**2 / np.where(squares > 0, squares, 1), 1.0) - 1
    seen, spent = np.zeros((2, *way.taste.shape))
    for kind in way.strata:
        total, squares = _moments(kind, level)
        share = np.where(total > 0, squares / np.where(total > 0, total, 1) ** 2, 1.0)  # 1 over the groups in effect
        apart = np.where(share < 1 - 1e-9, 1 - share, 0.0)
        seen, spent = seen + total * apart, spent + squares * apart
    return np.where(spent > 0, seen**2 / np.where(spent > 0, spent, 1), 0.0)


def _moments(way: Way, level: float) -> tuple[Array, Array]:
    """Σv and Σv² over groups, by contrast."""
    tt, te, ee = way.squares
    return level * way.taste + way.noise, level**2 * tt + 2 * level * te + ee


def pool_component(way: Way, size: int) -> Component:
    """Moment estimate over the `size` entrants, weighted by how much each can say, from below 0 on.

    A floor at 0 would make worlds in which judges do not differ come out too wide.
    """
    scores, taste, noise = (column[:size] for column in (way.scores, way.taste_seen, way.noise_seen))
    informed = taste > NEXT_TO_NOTHING * max(float(way.taste[:size].max(initial=0)), NEXT_TO_NOTHING)
    if size < 2 or not informed.any():
        return NO_COMPONENT
    scores, taste, noise = scores[informed], taste[informed], noise[informed]
    variance, floor = START, -0.5 * float((noise / taste).min())
    for _ in range(ROUNDS):
        df = np.maximum(effective_groups(way, variance)[:size][informed], 0.05)
        weight = df / np.maximum(variance * taste + noise, NEXT_TO_NOTHING) ** 2
        new = max(floor, float((weight * taste * (scores - noise)).sum() / (weight * taste**2).sum()))
        if abs(new - variance) < 1e-6:
            break
        variance = new
    shares = taste / np.maximum(variance * taste + noise, NEXT_TO_NOTHING)
    known = float((df * shares**2).sum())
    se = float(np.sqrt(2 * size / (size - 1) / known)) if known > 0 else np.inf
    return Component(variance, float(df.sum()) * (size - 1) / size, se)


def moderated_variance(way: Way, component: Component) -> tuple[Array, Array]:
    """Variance and degrees of freedom of every contrast: its own, drawn to the pooled one as far as that is known.

    Where the votes' noise dominates, contrasts cannot differ in variance and are pooled fully (limma's way).
    """
    level = component.variance
    model = np.maximum(level * way.taste + way.noise, 0.25 * way.noise)
    expected = np.maximum(level * way.taste_seen + way.noise_seen, 0.25 * way.noise_seen)
    clear = expected > NEXT_TO_NOTHING
    ratio = np.where(clear, way.scores / np.where(clear, expected, 1), 1.0)
    share = np.clip(level * way.taste / np.maximum(model, NEXT_TO_NOTHING), 0.001, 1.0)
    own = np.maximum(effective_groups(way, level), 0.0)
    prior = np.minimum(2 / share**2, np.maximum(component.df - own, 0.0))
    whole = prior + own
    moderated = np.where(whole > 0, (prior + own * ratio) / np.where(whole > 0, whole, 1), 1.0)
    return moderated * model, np.maximum(whole, 0.5)
