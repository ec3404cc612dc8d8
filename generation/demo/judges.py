"""Simulated model judges: they see how well finished a picture is, with a known skill and known habits.

Finish is a number that belongs to a picture's bytes. Simulated people of demo runs go by it too, so that both have something
in common that is no entrant's.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from generation.demo.players import Player


@dataclass(frozen=True)
class Habits:
    """`skill`: how often it prefers the better finished picture, else the other; `first`: how often it takes the first unseen.

    `alike`: pictures whose finish differs by less than this are both good to it; `garbled`: how often it chats instead.
    """

    skill: float
    first: float = 0.0
    alike: float = 0.02
    garbled: float = 0.0


def _judge(name: str) -> Player:
    return Player(f"demo/{name}", 1.0, Decimal("0.5"), Decimal(2), (0.05, 0.15), 0.0, 0.0, 0.0)


HABITS = {
    "demo/critic": Habits(skill=0.95, garbled=0.02),
    "demo/flatterer": Habits(skill=0.7, first=0.4, garbled=0.05),
}
JUDGES = {name: _judge(name.partition("/")[2]) for name in HABITS}


def judge_pictures(habits: Habits, pictures: Sequence[str], random: Random) -> str:
    """What the judge says about two pictures (data addresses). Its opinion of them does not hang on their order."""
    if random.random() < habits.garbled:
        return "What lovely drawings! It is hard to choose."
    if random.random() < habits.first:
        return _ballot("A", "It caught the eye first.")
    first, second = (finish_of(b64decode(picture.partition(",")[2])) for picture in pictures)
    if abs(first - second) < habits.alike:
        return _ballot("both good", "The two are equally well finished.")
    opinion = Random(hashlib.sha256("|".join(sorted(pictures)).encode()).hexdigest() + str(habits.skill))
    better = "A" if first > second else "B"
    if opinion.random() < habits.skill:
        return _ballot(better, "It is better finished.")
    return _ballot("B" if better == "A" else "A", "It is the plainer one.")


def finish_of(picture: bytes) -> float:
    """A standard normal number."""
    return Random(hashlib.sha256(picture).digest()).gauss(0, 1)


def _ballot(answer: str, reason: str) -> str:
    return json.dumps({"answer": answer, "reason": reason})
