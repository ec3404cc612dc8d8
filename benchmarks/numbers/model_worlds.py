"""Model judges of known skill and bias, beside people's votes of the worlds of the field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.numbers.worlds import Drawn, FieldWorld, simulate_field
from ranking.statistics.votes import Votes, make_votes

Array = NDArray[Any]


@dataclass(frozen=True)
class SimulatedModel:
    """A model that agrees with people's decided votes at a rate of `agreement`, with no part in any judge's own taste.

    `favours`: how often it takes the first entrant's side whatever was drawn; `first`: how often it takes the drawing shown first.
    """

    agreement: float = 0.75
    favours: float = 0.0
    first: float = 0.0


@dataclass(frozen=True)
class Judged:
    """People's votes, model judges' votes on these pairs and on others of the same lottery, and the world's effects."""

    people: Votes
    models: Votes
    drawn: Drawn


def simulate_judged(
    world: FieldWorld, models: tuple[SimulatedModel, ...], *, seed: int, times: int = 10, more_prompts: bool = True
) -> Judged:
    """Models judge `times` as many pairs as people: of as many more prompts, or of the same.

    All pairs come from one lottery, and each has its own two drawings. People's part of it is drawn at random: whole prompts,
    or pairs. What a person says about the rest is known to the models only.
    """
    prompts = world.prompts * times if more_prompts else world.prompts
    whole = replace(world, votes=world.votes * times, prompts=prompts)
    drawn = simulate_field(whole, seed=seed)
    votes = drawn.votes
    rng = np.random.default_rng([seed, 20])
    number = np.arange(len(votes))
    votes = replace(votes, left_attempt=number, right_attempt=number)
    chosen = _asked_people(world, votes, more_prompts=more_prompts, rng=rng)
    rows = [_model_votes(votes, drawn.untasted, model, m, rng) for m, model in enumerate(models)]
    columns = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    judged = make_votes(
        entrants=votes.entrants,
        judges=tuple(f"model-judge-{m}" for m in range(len(models))),
        prompts=votes.prompts,
        categories=votes.categories,
        **columns,
    )
    return Judged(votes.take(chosen), judged, drawn)


def _asked_people(world: FieldWorld, votes: Votes, *, more_prompts: bool, rng: np.random.Generator) -> Array:
    if not more_prompts:
        return np.sort(rng.permutation(len(votes))[: world.votes])
    if world.categories > 1:  # prompt p is of category p modulo their number
        prompts = np.arange(world.prompts)
    else:
        prompts = rng.permutation(len(votes.prompts))[: world.prompts]
    return np.flatnonzero(np.isin(votes.prompt, prompts))


def _model_votes(
    votes: Votes, untasted: Array, model: SimulatedModel, number: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Both orders of every pair; the opinion is one, and only a habit of position differs between them."""
    n = len(votes)
    decided = votes.outcome < 2
    alike = float((votes.outcome == untasted)[decided].mean())  # of judges and a person without their tastes
    skill = (model.agreement - (1 - alike)) / (2 * alike - 1)
    opinion = np.where(rng.random(n) < skill, untasted, 1 - untasted)
    favoured = rng.random(n) < model.favours
    opinion = np.where(favoured & (votes.left == 0), 0, np.where(favoured & (votes.right == 0), 1, opinion))
    outcomes = []
    for shown in (opinion, 1 - opinion):
        outcomes.append(np.where(rng.random(n) < model.first, 0, shown))
    twice = {name: np.concatenate([getattr(votes, name)] * 2) for name in ("prompt", "category")}
    sides = [np.concatenate([getattr(votes, a), getattr(votes, b)]) for a, b in (("left", "right"), ("right", "left"))]
    numbers = np.concatenate([votes.left_attempt] * 2)
    return {
        "left": sides[0],
        "right": sides[1],
        "outcome": np.concatenate(outcomes),
        "judge": np.full(2 * n, number),
        "left_attempt": numbers,
        "right_attempt": numbers,
        **twice,
    }
