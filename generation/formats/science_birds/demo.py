"""Letters as block programs: pictures of stacked blocks become `drop_block` calls from the ground up.

In a picture `#` is a b11, `===` (or `+++`, where two touch) a b31, and three `|` above each other a b13.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

Picture = tuple[str, ...]  # rows from the top
Drop = tuple[str, int]
COLUMNS = 20
# Advice in a prompt helps a weaker player: that is what a contest of prompts is about.
ADVICE = ("step by step", "stable", "stability", "example", "support", "column", "grid", "layer", "bottom")
NAMED = (
    re.compile(r"""(?:letter|character|alphabet|object)s?\W{0,8}([A-Z])(?![A-Za-z])"""),
    re.compile(
        r"""(?:shape of|look like|looks like|resembl\w+|represent\w*|target|draw|build)\W+(?:(?:an?|the)\W+)?(?:letter\W+|character\W+)?([A-Z])(?![A-Za-z])"""
    ),
    re.compile(r"""["'“‘`<]([A-Z])["'”’`>]"""),
)


@cache
def pictures() -> dict[str, Picture]:
    text = (Path(__file__).parent / "demo.txt").read_text(encoding="utf-8")
    return {part[0]: tuple(part[1:]) for part in (block.split() for block in text.strip().split("\n\n"))}


def wants_plan(turns: Sequence[str]) -> bool:
    """The first turn of a program may ask to think before any code."""
    asked = "\n".join(turns).lower()
    return "blocks" in asked and "letter" in asked and "drop_block" not in asked


def draw(turns: Sequence[str], skill: float, random: Random) -> str:
    asked = "\n".join(turns).lower()
    target = letter_in(turns)
    skill = min(1.0, skill + 0.03 * sum(word in asked for word in ADVICE) + 0.05 * (len(turns) - 1))
    if random.random() > skill + 0.4:
        target = random.choice(string.ascii_uppercase)
    drops = drops_of(stretched(pictures()[target], random))
    room = COLUMNS - 1 - max(x for _, x in drops) - 1
    by = random.randint(0, max(0, room))
    spoiled = _spoil([(kind, x + by) for kind, x in drops], skill, random)
    return "\n".join(f"drop_block('{kind}', {x})" for kind, x in spoiled)


def plan(turns: Sequence[str]) -> str:
    """For a turn that wants no code yet: the letter's rows, from the floor up, in words."""
    rows = reversed(pictures()[letter_in(turns)])
    filled = ([str(x) for x, mark in enumerate(row) if mark != "."] for row in rows)
    return "\n".join(f"Row {number}: columns {', '.join(columns)}" for number, columns in enumerate(filled))


def letter_in(turns: Sequence[str]) -> str:
    """The capital that is asked for: the newest turn that names one wins."""
    for turn in reversed(turns):
        for pattern in NAMED:
            letters: list[str] = pattern.findall(turn)
            if letters:
                return letters[-1]
    alone = re.findall(r"(?<![A-Za-z0-9])([B-HJ-Z])(?![A-Za-z0-9])", "\n".join(turns))
    return alone[-1] if alone else "I"


def drops_of(picture: Picture) -> list[Drop]:
    """The calls that build a picture, bottom row first; x is a block's middle column."""
    drops: list[Drop] = []
    for row in range(len(picture) - 1, -1, -1):
        line = picture[row]
        for block in re.finditer(r"===|\+\+\+|#|\|", line):
            mark, x = block.group(), block.start()
            if mark == "#":
                drops.append(("b11", x))
            elif mark != "|":
                drops.append(("b31", x + 1))
            elif row + 1 == len(picture) or picture[row + 1][x] != "|":
                drops.append(("b13", x))
    return drops


def stretched(picture: Picture, random: Random) -> Picture:
    """Now and then one plain row twice, so that two trials of a letter are not the same level."""
    plain = [i for i, row in enumerate(picture) if "#" in row and not set(row) - set("#.") and i > 0]
    if not plain or random.random() < 0.4:
        return picture
    row = random.choice(plain)
    return (*picture[: row + 1], *picture[row:])


def _spoil(drops: list[Drop], skill: float, random: Random) -> list[Drop]:
    slip = (1 - skill) ** 1.5 * 0.6
    spoiled: list[Drop] = []
    for kind, x in drops:
        luck = random.random()
        if luck < slip * 0.4 and len(drops) > 3:
            continue
        if luck < slip * 0.8:
            x = max(1, x + random.choice((-1, 1)))
        elif luck < slip:
            kind = random.choice(("b11", "b31", "b13"))
        spoiled.append((kind, max(x, 1) if kind == "b31" else x))
    if random.random() < slip * 0.3:
        spoiled.append((random.choice(("b31", "b22")), random.choice((0, 20, 25))))
    return spoiled or drops
