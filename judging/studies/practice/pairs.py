"""Pairs to practise on: a drawing of the run against a damaged one. A participant's own are chosen once and stored."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from random import Random

from django.db import transaction
from django.utils.crypto import salted_hmac

from generation.models import Prompt, Run, Sample
from judging.models import Participation

TRIES = 12  # drawings tried for one pair
SIDES = ("left", "right")


@dataclass(frozen=True)
class Choice:
    """A pair as it is stored: two drawings, the side of the intact one, and what the other is damaged by."""

    intact: int
    spoiled: int
    better: str
    seed: str


@dataclass(frozen=True)
class PracticePair:
    """Two drawings of one prompt, one of them damaged; `better` is the side of the intact one."""

    prompt: Prompt
    left: str
    right: str
    better: str

    def drawing(self, side: str) -> str:
        return self.left if side == "left" else self.right


def practice_pair(run: Run, key: str, number: int) -> PracticePair | None:
    """The pair of that number for whom the key stands for, of the drawings that there are now; None where none can be made."""
    choice = _choose(run, key, number)
    return _pair(run, choice) if choice else None


def own_pair(run: Run, participation: Participation, number: int) -> PracticePair | None:
    """The participant's pair of that number: another one only where its drawings may no longer be shown.

    The better drawing stays on its side, so that an answer to the earlier pair is taken as it was meant.
    """
    if pair := _stored(run, participation, number):
        return pair
    with transaction.atomic():
        mine = Participation.objects.select_for_update(no_key=True).get(pk=participation.pk)
        participation.practice = mine.practice
        if pair := _stored(run, mine, number):  # another tab was first
            return pair
        choice = _choose(run, participation.code, number)
        if choice is None:
            return None
        mine.practice[str(number)] = asdict(choice)
        mine.save(update_fields=["practice"])
    return _pair(run, choice)


def _stored(run: Run, participation: Participation, number: int) -> PracticePair | None:
    stored = participation.practice.get(str(number))
    return _pair(run, Choice(**stored)) if stored else None


def _choose(run: Run, key: str, number: int) -> Choice | None:
    seed = salted_hmac("judging.practice", f"{key} {number}", algorithm="sha256").hexdigest()
    chance = Random(seed)
    better = chance.choice(SIDES)
    drawings: dict[int, dict[int, int]] = defaultdict(dict)  # by prompt and entrant
    samples = Sample.objects.filter(run=run).judgeable().order_by("prompt__position", "pk")
    for pk, prompt, entrant in samples.values_list("pk", "prompt_id", "entrant_id"):
        drawings[prompt].setdefault(entrant, pk)
    prompts = [prompt for prompt, there in drawings.items() if len(there) > 1]
    # One after the other from a place that is the person's own, so that no prompt comes twice in a row.
    start = Random(key).randrange(len(prompts)) if prompts else 0
    for attempt in range(TRIES if prompts else 0):
        prompt = prompts[(start + number + attempt) % len(prompts)]
        intact, spoiled = chance.sample(list(drawings[prompt].values()), 2)
        choice = Choice(intact, spoiled, better, seed)
        if _pair(run, choice):
            return choice
    return None


def _pair(run: Run, choice: Choice) -> PracticePair | None:
    """The drawings of a choice; None where one of them is withheld by now, or cannot be damaged."""
    samples = Sample.objects.filter(run=run).judgeable().select_related("prompt")
    rows = samples.only("drawing", "prompt__text").in_bulk([choice.intact, choice.spoiled])
    if len(rows) < 2:
        return None
    intact, spoiled = rows[choice.intact], rows[choice.spoiled]
    damaged = _damaged(run, spoiled.drawing, choice.seed)
    if not intact.drawing or not damaged:
        return None
    left, right = (intact.drawing, damaged) if choice.better == "left" else (damaged, intact.drawing)
    return PracticePair(intact.prompt, left, right, choice.better)


def _damaged(run: Run, drawing: str | None, seed: str) -> str | None:
    """A stored text that this site's reader did not make may fail in any way; then another drawing is taken."""
    try:
        damaged = run.drawing_format.damage(drawing, random=Random(seed)) if drawing else None
    except Exception:
        return None
    return damaged if damaged != drawing else None


def can_practise(run: Run) -> bool:
    return practice_pair(run, run.code, 1) is not None


def choice_on(pair: PracticePair, outcome: str) -> str:
    """What was chosen, by drawing."""
    if outcome in SIDES:
        return "better" if outcome == pair.better else "worse"
    return outcome
