"""Simulated model judges: they see how well finished a picture is, with a known skill and known habits.

They compare two pictures, or grade one on the dimensions that the question lists.

Finish is a number that belongs to a picture's bytes. Simulated people of demo runs go by it too, so that both have something
in common that is no entrant's.
"""

from __future__ import annotations

import hashlib
import json
import re
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
    `lenient`: how much better it grades than a picture deserves, in shares of the scale.
    """

    skill: float
    first: float = 0.0
    alike: float = 0.02
    garbled: float = 0.0
    lenient: float = 0.0


def _judge(name: str) -> Player:
    return Player(f"demo/{name}", 1.0, Decimal("0.5"), Decimal(2), (0.05, 0.15), 0.0, 0.0, 0.0)


_SCALE = re.compile(r"from ([\d.-]+) to ([\d.]+) in steps of ([\d.]+)")
_DIMENSION = re.compile(r'^- "([^"]+)"', re.MULTILINE)
HABITS = {
    "demo/critic": Habits(skill=0.95, garbled=0.02),
    "demo/flatterer": Habits(skill=0.7, first=0.4, garbled=0.05, lenient=0.2),
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


def grade_picture(habits: Habits, picture: str, question: str, random: Random) -> str:
    """A grade for each dimension in the question, around the middle of its scale; the weaker the judge, the more is luck."""
    if random.random() < habits.garbled:
        return "A lovely drawing! Ten out of ten."
    low, high, step = (float(part) for part in _SCALE.findall(question)[-1])
    luck = Random(f"{picture} {habits.skill}")
    trust = 2 * habits.skill - 1
    seen = trust * finish_of(b64decode(picture.partition(",")[2])) + (1 - trust) * luck.gauss(0, 1)
    sheet = {}
    for key in _DIMENSION.findall(question):
        share = min(max(0.55 + 0.12 * seen + 0.04 * luck.gauss(0, 1) + habits.lenient, 0.0), 1.0)
        reason = "It is well finished." if share > 0.6 else "It looks unfinished."
        sheet[key] = {"grade": low + step * round(share * (high - low) / step), "reason": reason}
    return json.dumps(sheet)


def finish_of(picture: bytes) -> float:
    """A standard normal number."""
    return Random(hashlib.sha256(picture).digest()).gauss(0, 1)


def _ballot(answer: str, reason: str) -> str:
    return json.dumps({"answer": answer, "reason": reason})
