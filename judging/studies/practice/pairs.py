"""Pairs to practise on: a demo player's drawing against a damaged one. The same person gets the same pairs again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from django.utils.crypto import salted_hmac

from generation.formats.base import Answer, Format
from generation.models import Prompt, Run

TRIES = 12  # prompts and drawings tried for one pair
SIDES = ("left", "right")


@dataclass(frozen=True)
class PracticePair:
    """Two drawings of one prompt, neither of them of the run; `better` is the side of the intact one."""

    prompt: str
    left: str
    right: str
    better: str

    def drawing(self, side: str) -> str:
        return self.left if side == "left" else self.right


def practice_pair(run: Run, key: str, number: int) -> PracticePair | None:
    """The pair of that number for whom the key stands for; None where this format has no way to make one."""
    return _pair(run.code, run.format, key, number)


@lru_cache(maxsize=256)
def _pair(run: str, format: str, key: str, number: int) -> PracticePair | None:
    chance = Random(salted_hmac("judging.practice", f"{key} {number}", algorithm="sha256").hexdigest())
    prompts = list(Prompt.objects.filter(run__code=run).order_by("position").values_list("text", "facts"))
    reader = Run.objects.only("format").get(code=run).drawing_format
    for attempt in range(TRIES if prompts else 0):
        # One after the other from a place that is the person's own, so that no prompt comes twice in a row.
        start = Random(key).randrange(len(prompts))
        text, facts = prompts[(start + number + attempt) % len(prompts)]
        intact, spoiled = (_drawn(reader, text, facts, chance) for _ in range(2))
        damaged = reader.damage(spoiled, random=chance) if spoiled else None
        if intact and damaged:
            better = chance.choice(SIDES)
            left, right = (intact, damaged) if better == "left" else (damaged, intact)
            return PracticePair(text, left, right, better)
    return None


def _drawn(reader: Format, prompt: str, facts: dict[str, object], chance: Random) -> str | None:
    answer = reader.demo_answer([prompt], skill=1.0, random=chance)
    text = answer.text if answer.fence is None else f"```{answer.fence}\n{answer.text}\n```"
    return reader.extract(Answer(text, prompt_facts=facts)).drawing


def can_practise(run: Run) -> bool:
    return practice_pair(run, run.code, 1) is not None


def choice_on(pair: PracticePair, outcome: str) -> str:
    """What was chosen, by drawing."""
    if outcome in SIDES:
        return "better" if outcome == pair.better else "worse"
    return outcome
