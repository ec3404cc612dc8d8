"""SVG answers: a creature, or a scene of the figures that a sentence names, drawn with as much care as a player has."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from generation.formats.svg.demo_creatures import looks_of, shapes_of

SCENE = re.compile(r"draw\s+(?:an?\s+|the\s+)?([^\n.]+)", re.IGNORECASE)
CREATURE = re.compile(r"(?:pok[eé]mon|for|of)\s+(?:an?\s+|the\s+)?([^\n.]+)", re.IGNORECASE)
WITHIN = re.compile(r"\b(?:inside|also|made of)\b")  # the second figure lies on the first
GROUND = '<rect y="160" width="200" height="40" fill="{}"/>'
HILLS = '<path d="M0 150 Q50 118 104 150 T200 138 V200 H0 Z" fill="{}"/>'
STARS = "".join(
    f'<circle cx="{x}" cy="{y}" r="1.2" fill="#fdf6d8"/>'
    for x, y in ((18, 24), (64, 12), (92, 40), (176, 18), (188, 74), (14, 96))
)
# What stands behind a scene: its paper, and what is on it.
BACKDROPS = (
    ("#dff1fb", GROUND.format("#b9cf8f")),
    (
        "#fde8cd",
        '<circle cx="152" cy="52" r="22" fill="#f6b44f"/>' + HILLS.format("#9dbd84") + GROUND.format("#86aa70"),
    ),
    (
        "#f3efe6",
        '<circle cx="100" cy="96" r="84" fill="#d9e8e0"/><rect x="14" y="176" width="172" height="3" fill="#b7aa86"/>',
    ),
    ("#e8e2f2", GROUND.format("#c6b8db")),
    ("#e7f2da", GROUND.format("#d8b98a")),
    (
        "#d8ebf7",
        '<ellipse cx="48" cy="34" rx="22" ry="10" fill="#ffffff"/><ellipse cx="64" cy="28" rx="16" ry="11" fill="#ffffff"/>'
        + HILLS.format("#bcd3a2"),
    ),
)
NIGHT = ("#1d2440", STARS + GROUND.format("#8d8d86"))


@cache
def figures() -> dict[str, tuple[str, ...]]:
    """Small drawings on a 100 × 100 canvas, by the word that calls for them."""
    lines = (Path(__file__).parent / "demo_figures.txt").read_text(encoding="utf-8").splitlines()
    parts = (line.partition(": ") for line in lines if line)
    return {name: tuple(re.findall(r"<[^>]+>", markup)) for name, _, markup in parts}


def draw(prompt: str, skill: float, random: Random) -> str:
    scene = SCENE.search(prompt)
    named_subject = scene or CREATURE.search(prompt)
    subject = (named_subject.group(1) if named_subject else prompt).strip().strip("\"'").lower()[:80]
    named = [name for name in sorted(figures(), key=subject.find) if name in subject]
    shapes = _scene(named, subject, skill, random) if scene and named else _portrait(subject, skill, random)
    return _document(shapes, skill, random)


def _portrait(subject: str, skill: float, random: Random) -> list[str]:
    shapes = _careless(shapes_of(looks_of(subject)), skill, random)
    if skill <= 0.7:
        return shapes
    shade = '<ellipse cx="100" cy="182" rx="56" ry="8" fill="#000000" opacity="0.12"/>'
    light = '<ellipse cx="86" cy="58" rx="12" ry="7" fill="#ffffff" opacity="0.35"/>'
    return [shade, *shapes, *([light] if skill >= 1 else [])]


def _scene(named: list[str], subject: str, skill: float, random: Random) -> list[str]:
    """The named figures in the order of the sentence; "on" puts the first above the second."""
    if random.random() > skill + 0.3:
        named = named[:1]
    paper, things = NIGHT if "moon" in named else random.choice(BACKDROPS)
    backdrop = [f'<rect width="200" height="200" fill="{paper}"/>', things]
    places = _places(len(named), subject)
    groups = [
        f'<g transform="translate({x} {y}) scale({size})">{"".join(_careless(list(figures()[name]), skill, random))}</g>'
        for name, (x, y, size) in zip(named, places, strict=False)
    ]
    front_last = groups if WITHIN.search(subject) else groups[::-1]
    return [*(backdrop if skill > 0.4 else []), *front_last]


def _places(count: int, subject: str) -> list[tuple[int, int, float]]:
    if count == 1:
        return [(20, 20, 1.6)]
    if WITHIN.search(subject):
        return [(14, 30, 1.6), (64, 86, 0.8), (10, 10, 0.6)]
    if " on " in subject:
        return [(50, 4, 1.0), (40, 92, 1.0), (6, 40, 0.7)]
    return [(4, 76, 1.0), (100, 82, 0.9), (60, 4, 0.8)]


def _careless(shapes: list[str], skill: float, random: Random) -> list[str]:
    """A weaker hand forgets shapes, misplaces others, and takes the wrong colours."""
    if skill >= 1:
        return shapes
    kept = [shape for shape in shapes if random.random() < 0.55 + skill * 0.45]
    return [_nudge(shape, skill, random) for shape in kept]


def _nudge(shape: str, skill: float, random: Random) -> str:
    reach = round((1 - skill) * 26)
    if random.random() > 1.15 - skill:
        return shape
    if random.random() > skill + 0.35:
        shape = re.sub(r'fill="#\w+"', f'fill="#{random.randrange(0x1000000):06x}"', shape, count=1)
    if "transform" in shape:
        return shape
    move = f'transform="translate({random.randint(-reach, reach)} {random.randint(-reach, reach)})"'
    return shape.replace("/>", f" {move}/>")


def _document(shapes: list[str], skill: float, random: Random) -> str:
    inner = "\n  ".join(shapes)
    text = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200" width="400" height="400">\n  {inner}\n</svg>'
    if random.random() > skill + 0.65:
        # Not well-formed, as about one in twenty real answers is: out of breath, or a tag left open.
        return text[: len(text) * 3 // 4] if random.random() < 0.5 else text.replace("/>", ">", 1)
    return text
