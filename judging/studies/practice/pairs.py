"""Pairs to practise on: a drawing of the run against a damaged one. The same person gets the same pairs again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from django.utils.crypto import salted_hmac

from generation.formats import get_format
from generation.models import Run, Sample

TRIES = 12  # drawings tried for one pair
SIDES = ("left", "right")


@dataclass(frozen=True)
class PracticePair:
    """Two drawings of one prompt, one of them damaged; `better` is the side of the intact one."""

    prompt: str
    left: str
    right: str
    better: str

    def drawing(self, side: str) -> str:
        return self.left if side == "left" else self.right


def practice_pair(run: Run, key: str, number: int) -> PracticePair | None:
    """The pair of that number for whom the key stands for; None where none can be made."""
    return _pair(run.code, run.format, key, number)


@lru_cache(maxsize=256)
def _pair(run: str, format: str, key: str, number: int) -> PracticePair | None:
    chance = Random(salted_hmac("judging.practice", f"{key} {number}", algorithm="sha256").hexdigest())
    reader = get_format(format)
    drawings: dict[int, dict[int, int]] = defaultdict(dict)  # by prompt and entrant
    samples = Sample.objects.filter(run__code=run).judgeable().order_by("prompt__position", "pk")
    for pk, prompt, entrant in samples.values_list("pk", "prompt_id", "entrant_id"):
        drawings[prompt].setdefault(entrant, pk)
    prompts = [prompt for prompt, there in drawings.items() if len(there) > 1]
    # One after the other from a place that is the person's own, so that no prompt comes twice in a row.
    start = Random(key).randrange(len(prompts)) if prompts else 0
    for attempt in range(TRIES if prompts else 0):
        prompt = prompts[(start + number + attempt) % len(prompts)]
        pks = chance.sample(list(drawings[prompt].values()), 2)
        rows = Sample.objects.only("drawing", "prompt__text").select_related("prompt").in_bulk(pks)
        intact, spoiled = rows[pks[0]], rows[pks[1]]
        damaged = reader.damage(spoiled.drawing or "", random=chance)
        if intact.drawing and damaged:
            better = chance.choice(SIDES)
            left, right = (intact.drawing, damaged) if better == "left" else (damaged, intact.drawing)
            return PracticePair(intact.prompt.text, left, right, better)
    return None


def can_practise(run: Run) -> bool:
    return practice_pair(run, run.code, 1) is not None


def choice_on(pair: PracticePair, outcome: str) -> str:
    """What was chosen, by drawing."""
    if outcome in SIDES:
        return "better" if outcome == pair.better else "worse"
    return outcome
