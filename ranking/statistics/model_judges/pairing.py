"""What model judges say about pairs of drawings, beside what people say about the same pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.statistics.agreement.shared_items import attempt_range, drawing_pairs, oriented
from ranking.statistics.votes import REPEAT, TIE, Votes

Array = NDArray[Any]
SCORES = np.array([1.0, 0.0, 0.5, 0.5])  # of the left drawing, by outcome
UNJUDGED = -1


@dataclass(frozen=True)
class Paired:
    """Pairs of drawings that M model judges judged, numbered 0 to U - 1, and people's votes on some of them.

    - `prompt`, `first`, `second` [U]: the prompt, and the entrants in the order of their numbers (`_attempt`: the attempts).
      `category` [U] is numbered as people's, others after them, and -1 where there is none.
    - `score` [U, M]: the mean score of the first drawing over the orders in which it was shown; NaN where not judged.
    - `verdict` [U, M]: the outcome with the first drawing as left; a tie where the orders contradict each other, -1 where
      not judged. `contradicts` and `both_orders` [U, M] say where that is, and where both orders were judged.
    - `unit` [n] is the pair of each of people's votes (-1: no model judged it), `sign` [n] is -1 where its sides are swapped.
    """

    people: Votes
    judges: tuple[str, ...]
    prompts: tuple[str, ...]
    prompt: Array
    category: Array
    first: Array
    second: Array
    first_attempt: Array
    second_attempt: Array
    score: Array
    verdict: Array
    contradicts: Array
    both_orders: Array
    unit: Array
    sign: Array


def pair_up(people: Votes, models: Votes) -> Paired:
    """People's votes beside model judges' (`models.judges` are these), repeats left out.

    What models say about entrants that people never judged is left out too: people's ratings do not have them.
    """
    people = people.take(people.kind != REPEAT) if (people.kind == REPEAT).any() else people
    models = renamed(models, people)
    attempts = attempt_range(people, models)
    rows = np.arange(len(models))
    key, swapped = drawing_pairs(models, rows, attempts=attempts)
    units, at, unit = np.unique(key, return_index=True, return_inverse=True)
    unit = unit.ravel()
    sides = (models.left[at], models.right[at]), (models.left_attempt[at], models.right_attempt[at])
    (first, second), attempt = (np.where(swapped[at], (right, left), (left, right)) for left, right in sides)
    known = np.flatnonzero(people.prompt >= 0)
    people_key, people_swapped = drawing_pairs(replace(people, entrants=models.entrants), known, attempts=attempts)
    place = np.searchsorted(units, people_key)
    place[place == len(units)] = 0
    matched = units[place] == people_key if len(units) else np.zeros(len(known), bool)
    unit_of_vote, sign = np.full(len(people), UNJUDGED), np.ones(len(people))
    unit_of_vote[known[matched]] = place[matched]
    sign[known[people_swapped]] = -1.0
    return Paired(
        people=people,
        judges=models.judges,
        prompts=models.prompts,
        prompt=models.prompt[at],
        category=models.category[at],
        first=first,
        second=second,
        first_attempt=attempt[0],
        second_attempt=attempt[1],
        unit=unit_of_vote,
        sign=sign,
        **_verdicts(models, unit, oriented(models.outcome, swapped), swapped, len(units)),
    )


def _verdicts(models: Votes, unit: Array, label: Array, swapped: Array, units: int) -> dict[str, Array]:
    """Both orders of a pair make one verdict: the same answer in both, or a tie."""
    shape = (units, len(models.judges))
    cell = unit * shape[1] + models.judge
    n, scores, orders = (
        np.bincount(cell, weights, units * shape[1]).reshape(shape) for weights in (None, SCORES[label], swapped)
    )
    with np.errstate(invalid="ignore"):
        score = np.where(n > 0, scores / n, np.nan)
    verdict, contradicts = np.full(units * shape[1], UNJUDGED), np.zeros(units * shape[1], bool)
    verdict[cell] = label
    contradicts[cell[label != verdict[cell]]] = True
    verdict[contradicts] = TIE
    both = (orders > 0) & (orders < n)
    return {
        "score": score,
        "verdict": verdict.reshape(shape),
        "contradicts": contradicts.reshape(shape),
        "both_orders": both,
    }


def renamed(models: Votes, people: Votes) -> Votes:
    """Model judges' votes with people's numbers; prompts and categories that people never saw are numbered on."""
    known = {name: number for number, name in enumerate(people.entrants)}
    entrant = np.array([known.get(name, -1) for name in models.entrants] or [-1])
    prompts, prompt = _numbered_on(people.prompts, models.prompts)
    categories, category = _numbered_on(people.categories, models.categories)
    left, right = entrant[models.left], entrant[models.right]
    kept = (left >= 0) & (right >= 0) & (models.prompt >= 0) & (models.judge >= 0)
    moved = replace(
        models,
        entrants=people.entrants,
        prompts=prompts,
        categories=categories,
        left=left,
        right=right,
        prompt=prompt[models.prompt],
        category=category[models.category],
    )
    return moved.take(kept)


def _numbered_on(known: tuple[str, ...], more: tuple[str, ...]) -> tuple[tuple[str, ...], Array]:
    """All names, the known ones first, and the number of each of `more`; -1, which means none, stays."""
    names = tuple(dict.fromkeys((*known, *more)))
    number = {name: place for place, name in enumerate(names)}
    return names, np.array([*(number[name] for name in more), -1])
