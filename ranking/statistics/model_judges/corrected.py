"""Human votes that go further: each is corrected by what model judges say about that very pair of drawings.

A model judge's score is used only as far as it departs from that judge's mean for the two entrants, so that whatever the
judge thinks of an entrant cancels out: the rating stays people's, with less noise. How far to trust the judges is estimated from
the votes; a useless judge gets no weight, and one who is always wrong a negative one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.model_judges.pairing import SCORES, UNJUDGED, Paired
from ranking.statistics.ratings.bradley_terry import expected_scores, information, laplacian, map_ratings
from ranking.statistics.ratings.components import pool_component
from ranking.statistics.ratings.groups import Way, gather_kinds, gather_way
from ranking.statistics.ratings.precision import combine_ways
from ranking.statistics.ratings.scopes import ScopeFit, Settings
from ranking.statistics.tables import batches

Array = NDArray[Any]
FEWEST_PAIRS = 5  # of two entrants, judged by a model, for its mean to be used
FARTHEST = 2.0  # log-odds: a rating moved further by a correction has run away
TOO_FEW = "People’s votes alone do not give every rating a limit yet."
NOT_SHARED = "No model judge judged enough of the pairs that people judged."
NO_MORE = "The model judges judged no pairs but people’s own, so they have nothing to add."
NO_USE = "The model judges do not narrow the intervals."


@dataclass(frozen=True)
class Corrected:
    """People's ratings with their votes corrected, or people's own and why (`reason`).

    - `trust` [M]: how far a vote is moved by each model judge's score; `explained`: the share of people's noise that it takes away.
    - `shared`: people's votes on pairs that a model judged; `pairs`: pairs of drawings that some model judged.
    - `saved`: share of human votes that could be spared at the same mean squared width, were there as many votes for each person and prompt.
    """

    fit: ScopeFit
    trust: Array
    explained: float
    votes: int
    shared: int
    pairs: int
    reason: str = ""
    saved: float = 0.0

    @property
    def worth(self) -> float:
        """How many votes people alone would need for the same widths, less those they cast."""
        return self.votes * self.saved / (1 - self.saved)


@dataclass(frozen=True)
class _Rows:
    """People's counted votes [n] with their weights, and the model judges' departures from their means.

    `apart` [U, M]: of each pair of drawings, for the first one; 0 where unknown. `shift` [n, M] is what a vote's score is
    corrected by, for the left one, less what the same pair adds to the mean; `rest` [U, M] what the other pairs add to it.
    """

    left: Array
    right: Array
    judge: Array
    prompt: Array
    score: Array
    weight: Array
    apart: Array
    own: Array  # [n, M]: the departure of each vote's pair, for the left one
    shift: Array
    rest: Array


def correct_votes(paired: Paired, fit: ScopeFit, settings: Settings) -> Corrected:
    """People's fit again with corrected votes; `fit` must be of the votes in `paired`, with these settings."""
    rows = _counted(paired, fit, settings)
    nobody = np.zeros(len(paired.judges))
    votes, shared = len(rows.left), int((rows.own != 0).any(1).sum())
    people_alone = Corrected(fit, nobody, 0.0, votes, shared, len(paired.first))
    if fit.pull is None or fit.ridge or fit.connected.islands > 1 or not np.isfinite(fit.spread.variance).all():
        return replace(people_alone, reason=TOO_FEW)
    if not shared:
        return replace(people_alone, reason=NOT_SHARED)
    if not rows.rest.any():
        return replace(people_alone, reason=NO_MORE)
    trust, explained = _trust(rows, fit.theta)
    moved = _refit(paired, rows, fit, trust) if trust.any() else None
    if moved is None:
        return replace(people_alone, reason=NO_USE)
    saved = 1 - float(
        np.square(moved.spread.reach(settings.level)).sum() / np.square(fit.spread.reach(settings.level)).sum()
    )
    if saved <= 0:
        return replace(people_alone, reason=NO_USE)
    return replace(people_alone, fit=moved, trust=trust, explained=explained, saved=saved)


def _counted(paired: Paired, fit: ScopeFit, settings: Settings) -> _Rows:
    people, size = paired.people, len(paired.people.entrants)
    weight = np.append(fit.weights, fit.activity.by_class.get(-1, 1.0))[people.judge]
    kept = np.flatnonzero((weight > 0) & (settings.counted[people.outcome] > 0))
    unit, sign, weight = paired.unit[kept], paired.sign[kept], weight[kept]
    # Where categories are not chance, what a judge thinks of an entrant in one of them cancels out, too.
    apart_by = paired.category + 1 if _prompt_strata(paired, fit) is not None else np.zeros(len(paired.first), int)
    pair = (apart_by * size + paired.first) * size + paired.second
    cells = int(pair.max(initial=0)) + 1
    judged = ~np.isnan(paired.score)
    apart, share = np.zeros_like(paired.score), np.zeros_like(paired.score)
    own = np.zeros((len(kept), len(paired.judges)))
    shift, rest = own.copy(), apart.copy()
    inside = unit != UNJUDGED
    of_vote, w = unit[inside], weight[inside]
    weight_of_unit = np.bincount(of_vote, w, len(pair))
    for m in range(len(paired.judges)):
        here = judged[:, m]
        n = np.bincount(pair[here], minlength=cells)[pair]
        mean = np.bincount(pair[here], paired.score[here, m], cells)[pair] / np.maximum(n, 1)
        usable = here & (n >= FEWEST_PAIRS)
        apart[usable, m] = (paired.score[:, m] - mean)[usable]
        # The mean is of these same pairs: each takes back its part of what all votes on the two entrants are corrected by.
        met = np.bincount(pair, weight_of_unit * usable, cells)[pair]
        share[usable, m] = (met / np.maximum(n, 1))[usable]
        own[inside, m] = sign[inside] * apart[of_vote, m]
        shift[inside, m] = own[inside, m] * (1 - share[of_vote, m] / weight_of_unit[of_vote])
        rest[:, m] = np.where(weight_of_unit > 0, 0.0, apart[:, m] * share[:, m])
    columns = (people.left, people.right, people.judge, people.prompt)
    left, right, judge, prompt = (column[kept] for column in columns)
    return _Rows(left, right, judge, prompt, SCORES[people.outcome[kept]], weight, apart, own, shift, rest)


def _trust(rows: _Rows, theta: Array) -> tuple[Array, float]:
    """Least squares of people's residuals on the judges' departures, shrunk as far as it may be chance.

    People's pairs are among the judge's own, and what these add to its mean is taken off their votes (`_Rows.shift`): so the
    slope is best as it is, and not divided by one plus the share of pairs that people saw, as for pairs apart it would be.
    """
    seen = (rows.own != 0).any(1)
    x, w = rows.own[seen] * rows.weight[seen, None], rows.weight[seen]
    e = (rows.score[seen] - expected_scores(theta)[rows.left[seen], rows.right[seen]]) * w
    n, judges = x.shape
    gram = x.T @ x
    gram += 1e-9 * max(float(np.trace(gram)), 1e-12) * np.eye(judges)
    slope = np.linalg.solve(gram, x.T @ e)
    explained = float(slope @ gram @ slope / max(float(e @ e), 1e-12))
    signal = n * explained / max(1 - explained, 1e-9)
    shrink = max(0.0, 1 - (judges + 1) / signal) if signal > 0 else 0.0
    return slope * shrink, explained * shrink


def _refit(paired: Paired, rows: _Rows, fit: ScopeFit, trust: Array) -> ScopeFit | None:
    """Ratings and precision from corrected votes; None where they run away."""
    assert fit.pull is not None  # asked before
    size, seen = len(fit.theta), fit.pull.seen
    at = np.ix_(seen, seen)
    shift, rest = rows.shift @ trust, rows.rest @ trust
    moved = np.bincount(rows.left * size + rows.right, rows.weight * (rows.own @ trust), size * size).reshape(
        size, size
    )
    wins = fit.wins - (moved - moved.T)
    theta = np.zeros(size)
    theta[seen] = map_ratings(wins[at], ridge=1e-9, start=fit.theta[seen])
    theta[seen] -= theta[seen].mean()
    if not np.abs(theta - fit.theta).max() < FARTHEST:
        return None
    inverse = np.linalg.inv(information(fit.wins[at], theta[seen]) + 1 / len(seen))
    by_judge, by_prompt = _ways(paired, rows, fit, theta, inverse, shift, rest)
    # How much people differ is estimated as for people alone: only what a correction takes away makes intervals narrower.
    components = fit.spread.judge_component, pool_component(by_prompt, len(seen))
    spread = combine_ways(by_judge, by_prompt, components=components).spread_out(seen, size)
    return replace(fit, theta=theta, spread=spread)


def _ways(
    paired: Paired, rows: _Rows, fit: ScopeFit, theta: Array, inverse: Array, shift: Array, rest: Array
) -> tuple[Way, Way]:
    """The sums by judge and by prompt at theta; what the models' other pairs add to their means belongs to the prompts."""
    assert fit.pull is not None  # asked before
    seen = fit.pull.seen
    p = expected_scores(theta)[rows.left, rows.right]
    residual = rows.weight * (rows.score - p - shift)
    known = rows.weight * p * (1 - p)
    votes = (rows.left, rows.right, residual, known)
    judges = _way(rows.judge, *votes, inverse=inverse, seen=seen, size=len(theta), strata=_judge_strata(paired, fit))
    added = np.flatnonzero(rest)
    nothing = np.zeros(len(added))
    columns = (paired.prompt[added], paired.first[added], paired.second[added], rest[added], nothing)
    prompts = [np.concatenate(both) for both in zip((rows.prompt, *votes), columns, strict=True)]
    strata = _prompt_strata(paired, fit)
    return judges, _way(*prompts, inverse=inverse, seen=seen, size=len(theta), strata=strata)


def _judge_strata(paired: Paired, fit: ScopeFit) -> Array | None:
    """The kind of each judge, as for people alone; None where all are of one kind."""
    tables = fit.pull and fit.pull.judges
    if not tables or tables.strata is None:
        return None
    strata = np.zeros(len(paired.people.judges), int)
    strata[tables.labels] = tables.strata
    return strata


def _prompt_strata(paired: Paired, fit: ScopeFit) -> Array | None:
    """The category of each prompt, also of those that only models judged; None where people's are of one kind."""
    if not fit.pull or fit.pull.prompts.strata is None:
        return None
    people, homes = paired.people, np.zeros(len(paired.prompts), int)
    homes[paired.prompt] = paired.category + 1
    known = people.prompt >= 0
    homes[people.prompt[known]] = people.category[known] + 1
    return homes


def _way(
    group: Array,
    left: Array,
    right: Array,
    residual: Array,
    known: Array,
    *,
    inverse: Array,
    seen: Array,
    size: int,
    strata: Array | None,
) -> Way:
    """One way from rows: their group (-1 is a group of its own), entrants, weighted residual and information.

    `strata` says of each group of which kind it is (`Tables.strata`).
    """
    alone = group < 0
    labels, number = np.unique(group[~alone], return_inverse=True)
    number, groups = number.ravel(), len(labels)

    def by_pair(values: Array, rows: Array, place: Array, many: int) -> Array:
        code = (place * size + left[rows]) * size + right[rows]
        return np.bincount(code, values[rows], many * size * size).reshape(many, size, size)

    inside, outside = np.flatnonzero(~alone), np.flatnonzero(alone)
    net, squares, spread = (
        by_pair(values, inside, number, groups)[:, seen][:, :, seen] for values in (residual, residual**2, known)
    )

    def sums(numbers: Array) -> Iterator[tuple[Array, Array, Array]]:
        for batch in batches(net[numbers]):
            here = numbers[batch]
            scores = net[here].sum(2) - net[here].sum(1)
            yield scores, laplacian(spread[here]), laplacian(squares[here])

    noise = None
    if len(outside):
        noise = laplacian(by_pair(residual**2, outside, np.zeros(len(outside), int), 1)[0][np.ix_(seen, seen)])
    voted = np.zeros(groups, bool)  # a prompt that only models judged is no further prompt
    voted[number[known[inside] > 0]] = True
    everyone = np.arange(groups)
    if strata is None:
        return gather_way(sums(everyone), inverse, groups=int(voted.sum()), alone=noise, loners=float(len(outside)))
    kinds = (everyone[strata[labels] == kind] for kind in np.unique(strata[labels[voted]]))
    each = ((list(sums(own)), int(voted[own].sum())) for own in kinds)
    return gather_kinds(each, inverse, alone=noise, loners=float(len(outside)))
