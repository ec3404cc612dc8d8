"""Which pairs of drawings a model judge is asked about: those that people judged, then others of the same lottery."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from benchsite.lib.model_families import family_of
from generation.formats.ballot import FORMAT, in_words
from generation.models import Prompt, Run
from judging.model_judges.kinds import Facts, Kind, reference_facts, with_reference
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
    shown = judgeable(run, family)
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


def judgeable(run: Run, family: str) -> dict[int, Shown]:
    """Drawings by their numbers; with a `family`, none by a model of it."""
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


def _choose(run: Run, *, wanted: int, seed: int, family: str, asked: list[Facts]) -> list[Facts]:
    """Both orders of each pair."""
    known = {frozenset((facts["left"], facts["right"])) for facts in asked}
    prompts = {prompt.pk: prompt for prompt in run.prompts.all()}
    return [
        {"left": left.pk, "right": right.pk, "prompt": left.prompt, **reference_facts(prompts[left.prompt])}
        for one, other in choose_pairs(run, wanted=wanted, seed=seed, family=family, known=known)
        for left, right in ((one, other), (other, one))
    ]


def question(run: Run, prompt: Prompt) -> str:
    """What goes with the two pictures: the prompt's words and nothing of the drawings."""
    words = f"The prompt of both drawings was:\n\n{prompt.text}\n\nWhich drawing is better, A or B?"
    return with_reference(words, prompt)


PAIRS = Kind(
    room="judging.pairs",
    format=FORMAT,
    in_words=in_words,
    things="pairs",
    orders=2,
    section="",
    refusal="Model judges compare pairs of drawings, and people do not judge this run in pairs.",
    lede="A model compares pairs of this run’s drawings. Its answers are compared with people’s and never counted as theirs:",
    board="ranking:model_judges",
    page="judging:model_judges",
    import_page="judging:import_model_votes",
    choose=_choose,
    question=question,
)
