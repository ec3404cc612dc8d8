"""Small levels and letters of our own for the Science Birds tests."""

from __future__ import annotations

import json
import re
from pathlib import Path

from generation.formats.base import Answer
from generation.formats.science_birds.extraction import Drop
from generation.formats.science_birds.level import build_level


def drops(plan: str) -> list[Drop]:
    """`"b13 5, 3*b11 7"` as drops: names and columns, with an optional count."""
    matches = re.findall(r"(?:(\d+)\*)?(b\w\w) (\d+)", plan)
    return [Drop(kind, int(x)) for count, kind, x in matches for _ in range(int(count or 1))]


def level(plan: str):
    return build_level(drops(plan))


def answer(code: str, target: str = "I", **more) -> Answer:
    return Answer(f"Here it is.\n```python\n{code}\n```\nDone.", prompt_facts={"target": target}, **more)


def code(plan: str) -> str:
    return "\n".join(f"drop_block('{drop.kind}', {drop.x})" for drop in drops(plan))


# Letters that stand by themselves: every block's middle lies over something, or a beam lies on two posts.
STANDING = {
    "I": "b31 5, b13 5, b13 5, b31 5",
    "L": "b31 3, b11 2, b13 2, b13 2, 2*b11 5",
    "T": "b13 9, b13 9, b11 9, b31 9",
    "H": "b13 4, b13 6, b31 5, b13 4, b13 6",
    "U": "b31 3, b31 6, b13 2, b13 7, b13 2, b13 7",
    "O": "b31 5, b13 4, b13 6, b31 5",
}

# The competition's letters: the plan of each, and "x,y" of its blocks in the converted level.
REFERENCE = json.loads(Path(__file__).with_name("reference_levels.json").read_text())
