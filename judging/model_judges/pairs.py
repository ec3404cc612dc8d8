"""Which pairs of drawings a model judge is asked about: those that people judged, then others of the same lottery."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from benchsite.lib.model_families import family_of
from generation.models import Run
from judging.models import Vote

TRIES = 50  # draws in vain after which there are no more pairs to be found


@dataclass(frozen=True)
class Shown:
    """A drawing that can be judged."""

    pk: int
    prompt: int
    entrant: int


Pair = tuple[Shown, Shown]


def choose_pairs(run: Run, *, wanted: int, seed: int, family: str = "", known: set[frozenset[int]]) -> list[Pair]:
    """Up to `wanted` pairs that are not `known`; with a `family`, none with a drawing by a model of that family.

    People's pairs come first, in random order. The others are drawn as people's schedule is balanced: each prompt, each pair
    of entrants and each of their drawings equally often. So people's pairs are a random part of all.
    """
    shown = _judgeable(run, family)
    luck = random.Random(seed)
    judged = sorted({frozenset(pair) for pair in _judged(run) if pair[0] in shown and pair[1] in shown}, key=sorted)
    luck.shuffle(judged)
    pairs: list[Pair] = []
    met = set(known)
    for key in chain(judged, _lottery(shown, luck, met)):
        if len(pairs) == wanted:
            break
        if key not in met:
            met.add(key)
            first, second = sorted(key)
            pairs.append((shown[first], shown[second]))
    return pairs


def _judgeable(run: Run, family: str) -> dict[int, Shown]:
    rows = run.samples.judgeable().order_by("pk").values_list("pk", "prompt_id", "entrant_id", "model__model_id")
    return {
        pk: Shown(pk, prompt, entrant)
        for pk, prompt, entrant, model in rows
        if not family or family_of(model) != family
    }


def _judged(run: Run) -> list[tuple[int, int]]:
    votes = Vote.objects.counting(run).without_repeats().order_by("id")
    return [pair for pair in votes.values_list("matchup__left_sample_id", "matchup__right_sample_id") if all(pair)]


def _lottery(shown: dict[int, Shown], luck: random.Random, met: set[frozenset[int]]) -> Iterator[frozenset[int]]:
    by_prompt: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for drawing in shown.values():
        by_prompt[drawing.prompt][drawing.entrant].append(drawing.pk)
    prompts = sorted(prompt for prompt, entrants in by_prompt.items() if len(entrants) > 1)
    tries = 0
    while prompts and tries < TRIES * len(prompts):
        luck.shuffle(prompts)
        for prompt in prompts:
            entrants = by_prompt[prompt]
            key = frozenset(luck.choice(entrants[entrant]) for entrant in luck.sample(sorted(entrants), 2))
            tries = tries + 1 if key in met else 0
            yield key
