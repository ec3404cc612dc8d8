"""A drawing with its shapes scattered, turned and partly lost, made of the judged copy and as safe as that."""

from __future__ import annotations

import re
from random import Random

from lxml import etree

from generation.formats.svg import gate, parsing
from generation.formats.svg.names import SHAPES
from generation.formats.svg.parsing import local
from generation.formats.svg.sanitising import sanitise

LEAST_SHAPES = 5  # of a drawing that can be damaged beyond doubt
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def scatter(drawing: str, random: Random) -> str | None:
    """None where there are too few shapes for anybody to miss them; `gate.TooMuch` where the result would cost too much."""
    root, _ = parsing.parse(drawing)
    shapes = [element for element in root.iter("*") if local(element) in SHAPES and not _is_apart(element)]
    if len(shapes) < LEAST_SHAPES:
        return None
    width, height = _size(root)
    random.shuffle(shapes)
    lost = max(1, round(len(shapes) * random.uniform(0.2, 0.4)))
    for element in shapes[:lost]:
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)
    for element in shapes[lost:]:
        x, y = (random.choice((-1, 1)) * random.uniform(0.15, 0.55) * side for side in (width, height))
        turn, size = random.uniform(20, 340), random.uniform(0.35, 1.1)
        middle = f"{width / 2:.1f} {height / 2:.1f}"
        moved = f"translate({x:.1f} {y:.1f}) rotate({turn:.0f} {middle}) scale({size:.2f})"
        element.set("transform", f"{moved} {element.get('transform', '')}".strip())
    copy = sanitise(root)
    gate.check_cost(copy.root)
    return copy.text


def _is_apart(element: etree._Element) -> bool:
    """Inside a definition, which is drawn elsewhere or not at all."""
    return any(
        local(parent) in ("defs", "clipPath", "mask", "pattern", "symbol", "marker")
        for parent in element.iterancestors()
    )


def _size(root: etree._Element) -> tuple[float, float]:
    box = [float(number) for number in NUMBER.findall(root.get("viewBox") or "")]
    if len(box) == 4 and box[2] > 0 and box[3] > 0:
        return box[2], box[3]
    sides = [NUMBER.match(root.get(name) or "") for name in ("width", "height")]
    width, height = (float(side[0]) if side and float(side[0]) > 0 else 100.0 for side in sides)
    return width, height
