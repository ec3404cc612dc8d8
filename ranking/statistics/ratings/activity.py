"""Weights by activity: a judge with many votes is one person still, so each further vote counts for less.

Judges are put in classes by their number of votes (1, 2-3, 4-7, 8-15 …), and all judges of a class weigh alike: kept counts
by prompt and class then suffice to weigh the votes on a prompt, however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.ratings.bradley_terry import expected_scores
from ranking.statistics.tables import Tables

Array = NDArray[Any]
FIRST_GUESS = 0.15  # variance of judges' tastes (log-odds²) before it is known
UNKNOWN = -1  # the class of votes that name no judge


@dataclass(frozen=True)
class ActivityWeights:
    """The weight of a vote by its judge's class (and of a vote by an unknown judge); the largest is 1."""

    by_class: dict[int, float]

    def of(self, activity: Array | None) -> Array:
        """Weights of judges (or cells) from their classes."""
        assert activity is not None  # cells without classes are never weighted
        return np.array([self.by_class.get(c, 1.0) for c in range(-1, 64)])[np.asarray(activity, int) + 1]

    @property
    def even(self) -> bool:
        return all(weight == 1 for weight in self.by_class.values())


EVEN = ActivityWeights({})


def class_information(tables: Tables, theta: Array, activity: Array) -> dict[int, float]:
    """What the average judge of each class tells about a rating: the trace of the information over K - 1."""
    p = expected_scores(theta)
    spread = p * (1 - p)
    size = max(len(theta) - 1, 1)
    informed = sum(2 / size * np.einsum("gij,ij->g", table, spread) for table in (tables.wins, tables.draws))
    classes = np.asarray(activity)[tables.labels]
    means = {int(c): float(informed[classes == c].mean()) for c in np.unique(classes)}
    if tables.loners is not None:
        means[UNKNOWN] = float(2 * ((tables.loners[0] + tables.loners[1]) * spread).sum() / size / tables.loner_votes)
    return means


def weigh_classes(information: dict[int, float], taste: float) -> ActivityWeights:
    """1 / (1 + taste x information) for each class, scaled so that the largest is 1."""
    raw = {c: 1 / (1 + max(taste, 0.0) * each) for c, each in information.items()}
    top = max(raw.values(), default=1.0)
    return ActivityWeights({c: weight / top for c, weight in raw.items()})
