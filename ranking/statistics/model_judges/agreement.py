"""How far a model judge agrees with people, beside how far people agree with each other on the same pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.agreement.clustered import clustered_estimate, clustered_share
from ranking.statistics.agreement.coefficients import Estimate
from ranking.statistics.agreement.shared_items import measure_agreement, oriented
from ranking.statistics.model_judges.pairing import UNJUDGED, Paired
from ranking.statistics.votes import TIE, Votes

Array = NDArray[Any]
CLASSES = 4


@dataclass(frozen=True)
class PeopleAgreement:
    """Agreement of people with each other on pairs that two or more of them and the model judged."""

    pairs: int
    raw: Estimate
    kappa: Estimate
    alpha: Estimate
    ac1: Estimate


@dataclass(frozen=True)
class WithPeople:
    """A model judge's verdicts against people's votes on the same pairs, each vote once.

    `decided` is the agreement where both preferred one drawing; `by_category` lists (category, votes, raw agreement).
    """

    votes: int
    pairs: int
    people: int
    raw: Estimate
    kappa: Estimate
    alpha: Estimate
    ac1: Estimate
    decided: Estimate
    decided_votes: int
    among_people: PeopleAgreement
    by_category: tuple[tuple[str, int, Estimate], ...]


def agreement_with_people(paired: Paired, judge: int) -> WithPeople:
    """Intervals are clustered by person and prompt: other people and other prompts would have given other figures."""
    rows, person, model = shared_rows(paired, judge)
    people = paired.people
    ways = (persons(people, rows), people.prompt[rows])
    ones = np.eye(CLASSES)
    columns = np.column_stack([ones[person], ones[model], person == model, np.ones(len(rows))])
    decided = np.flatnonzero((person < TIE) & (model < TIE))
    category = people.category[rows]
    return WithPeople(
        votes=len(rows),
        pairs=len(np.unique(paired.unit[rows])),
        people=len(np.unique(ways[0])),
        raw=clustered_share(person == model, *ways),
        kappa=clustered_estimate(columns, cohen_kappa, *ways),
        alpha=clustered_estimate(columns, nominal_alpha, *ways),
        ac1=clustered_estimate(columns, two_rater_ac1, *ways),
        decided=clustered_share((person == model)[decided], *(way[decided] for way in ways)),
        decided_votes=len(decided),
        among_people=_among_people(paired, rows),
        by_category=tuple(
            (name, int((category == c).sum()), _share_in(person == model, category == c, ways))
            for c, name in enumerate(people.categories)
            if (category == c).any()
        ),
    )


def shared_rows(paired: Paired, judge: int) -> tuple[Array, Array, Array]:
    """People's votes on pairs with a verdict of this judge: their rows, and both answers with the first drawing as left.

    Of one person's votes on a pair the first by time counts, as everywhere in agreement.
    """
    known = paired.unit != UNJUDGED
    rows = np.flatnonzero(known)[paired.verdict[paired.unit[known], judge] != UNJUDGED]
    rows = rows[np.argsort(paired.people.time[rows], kind="stable")]
    key = paired.unit[rows] * (len(paired.people.judges) + len(rows)) + persons(paired.people, rows)
    rows = np.sort(rows[np.unique(key, return_index=True)[1]])
    person = oriented(paired.people.outcome[rows], paired.sign[rows] < 0)
    return rows, person.astype(int), paired.verdict[paired.unit[rows], judge]


def persons(people: Votes, rows: Array) -> Array:
    """Who cast each of these votes; unknown judges are not one person."""
    number = people.judge[rows].astype(np.int64)
    return np.where(number < 0, len(people.judges) + np.arange(len(rows)), number)


def _share_in(hits: Array, here: Array, ways: tuple[Array, Array]) -> Estimate:
    return clustered_share(hits[here], *(way[here] for way in ways))


def _among_people(paired: Paired, rows: Array) -> PeopleAgreement:
    agreement = measure_agreement(paired.people.take(rows))
    return PeopleAgreement(agreement.units, agreement.raw, agreement.fleiss, agreement.alpha_nominal, agreement.ac1)


def _marginals(sums: Array) -> tuple[Array, Array, Array, Array]:
    """Shares of answers of people and of the model [..., 4], agreement and n; the two sides of a pair are only names."""
    n = np.maximum(sums[..., -1], 1)
    person, model = sums[..., :CLASSES], sums[..., CLASSES : 2 * CLASSES]
    person, model = (np.concatenate([_even(m[..., :2]), m[..., 2:]], -1) / n[..., None] for m in (person, model))
    return person, model, sums[..., -2] / n, n


def _even(sides: Array) -> Array:
    return np.repeat(sides.mean(-1, keepdims=True), 2, -1)


def _beyond(agreed: Array, chance: Array) -> Array:
    return np.where(chance < 1, (agreed - chance) / np.where(chance < 1, 1 - chance, 1), 1.0)


def cohen_kappa(sums: Array) -> Array:
    person, model, agreed, _ = _marginals(sums)
    return _beyond(agreed, (person * model).sum(-1))


def nominal_alpha(sums: Array) -> Array:
    """Krippendorff's alpha of two raters: chance agreement without replacement from both raters' answers."""
    person, model, agreed, n = _marginals(sums)
    both = (person + model) * n[..., None]
    chance = (both * (both - 1)).sum(-1) / (2 * n * (2 * n - 1))
    return _beyond(agreed, chance)


def two_rater_ac1(sums: Array) -> Array:
    person, model, agreed, _ = _marginals(sums)
    share = (person + model) / 2
    return _beyond(agreed, (share * (1 - share)).sum(-1) / (CLASSES - 1))
