"""ASCII drawings: a small library, and how two of them, or an animal and its action, become one picture."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

Lines = list[str]
POSITIONS = (
    "to the left of", "to the right of", "on top of", "in front of", "far above", "next to", "beside", "under",
    "below", "behind", "inside", "above", "on", "near", "in",
)  # fmt: skip
SPLIT = re.compile(rf"^(?P<a>.+?)\s+(?P<position>{'|'.join(POSITIONS)})\s+(?:an?|the)\s+(?P<b>.+)$")
ARTICLE = re.compile(r"^(?:an?|the|some)\s+")
SUBJECT = re.compile(r"draw\s+(.+?)\s+(?:in|as|using)\s+ascii", re.IGNORECASE)
JUNK = "#%*~-=/\\|oO.^x+"


@cache
def library() -> dict[str, tuple[str, ...]]:
    text = (Path(__file__).parent / "demo.txt").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in text.split("== ")[1:]]
    return {name.strip(): tuple(body.rstrip("\n").split("\n")) for name, _, body in parts}


def draw(prompt: str, skill: float, random: Random) -> str:
    named = SUBJECT.search(prompt)
    subject = ARTICLE.sub("", (named.group(1) if named else prompt).strip().lower())
    picture = compose(subject, skill, random)
    return "\n".join(line.rstrip() for line in damage(picture, skill, random))


def compose(subject: str, skill: float, random: Random) -> Lines:
    """The whole scene. Weaker players forget the action, swap the places, or draw something else altogether."""
    if random.random() > skill + 0.35:
        return list(library()[random.choice(sorted(library()))])
    split = SPLIT.match(subject)
    if split and split["a"] in library():
        a, b = (thing(name) for name in (split["a"], split["b"]))
        if random.random() > skill + 0.15:
            a, b = b, a
        return place(a, split["position"], b)
    animal, _, action = subject.partition(" ")
    if animal in library() and action:
        return act(thing(animal), action) if random.random() < skill + 0.15 else thing(animal)
    return thing(subject)


def thing(name: str) -> Lines:
    """A drawing from the library; a sign with its name on it for everything else."""
    known = library().get(ARTICLE.sub("", name))
    if known:
        return list(known)
    inside = f"  {name[:40].upper()}  "
    edge = "-" * len(inside)
    return [f".{edge}.", f"|{inside}|", f"'{edge}'", *(" " * (len(inside) // 2) + "||" for _ in range(3))]


def width(lines: Lines) -> int:
    return max((len(line) for line in lines), default=0)


def padded(lines: Lines, size: int | None = None) -> Lines:
    size = width(lines) if size is None else size
    return [line.ljust(size) for line in lines]


def indented(lines: Lines, by: int) -> Lines:
    return [" " * max(0, by) + line for line in lines]


def centred(lines: Lines, size: int) -> Lines:
    return indented(lines, (size - width(lines)) // 2)


def above(top: Lines, bottom: Lines, gap: int = 0) -> Lines:
    size = max(width(top), width(bottom))
    return [*centred(top, size), *[""] * gap, *centred(bottom, size)]


def beside(left: Lines, right: Lines, gap: int = 3) -> Lines:
    """Two drawings standing on the same ground."""
    tall = max(len(left), len(right))
    left, right = ([""] * (tall - len(side)) + side for side in (left, right))
    return [a + " " * gap + b for a, b in zip(padded(left), right, strict=True)]


def over(front: Lines, back: Lines, row: int, column: int) -> Lines:
    """`front` laid on `back`: from a line's first mark to its last, the front hides what is behind."""
    rows = max(len(back), row + len(front))
    canvas = padded(back + [""] * (rows - len(back)), max(width(back), column + width(front)))
    for i, line in enumerate(front, row):
        ink = line.strip()
        if ink:
            start = column + len(line) - len(line.lstrip())
            canvas[i] = canvas[i][:start] + ink + canvas[i][start + len(ink) :]
    return canvas


def place(a: Lines, position: str, b: Lines) -> Lines:
    if position in ("on top of", "on"):
        return above(a, b)
    if position in ("far above", "above"):
        return above(a, b, gap=6 if position == "far above" else 2)
    if position in ("under", "below"):
        return above(b, a)
    if position == "behind":
        return over(b, indented(a, 4), max(2, len(a) - len(b) + 2), 12)
    if position == "in front of":
        return over(a, indented(b, 8), max(2, len(b) - len(a) + 2), 0)
    if position in ("inside", "in"):
        return boxed(a, b)
    if position == "to the right of":
        return beside(b, a)
    return beside(a, b)


def boxed(a: Lines, b: Lines) -> Lines:
    """`a` within an outline that wears `b` as its roof: small things do not fit into small drawings otherwise."""
    inner = max(width(a) + 4, width(b))
    walls = ["|" + line.ljust(inner) + "|" for line in ["", *centred(a, inner), ""]]
    return [*centred(b, inner + 2), "." + "=" * inner + ".", *walls, "'" + "=" * inner + "'"]


def act(animal: Lines, action: str) -> Lines:
    if action.startswith("sleep"):
        closed = [line.replace("o o", "- -").replace("(o)", "(-)") for line in animal]
        return [*indented(["   Z", "  z", " z"], width(animal) - 4), *closed, "_" * (width(animal) + 4)]
    if action.startswith("jump"):
        return [*animal, *centred(["\\  |  /", "", ""], width(animal)), "_" * (width(animal) + 4)]
    if action.startswith("run"):
        speed = ["== ", "=== ", "--- "]
        moving = [speed[i % 3].rjust(6) + line for i, line in enumerate(animal)]
        return [*moving, "_ . _ . - _ . _ - . _ . -"[: width(moving)]]
    if action.startswith("swim"):
        sea = [("~^~ " * 30)[i : width(animal) + 6 + i] for i in range(3)]
        return [*animal[: max(3, len(animal) * 2 // 3)], *sea]
    if action.startswith("danc"):
        notes = ["  d    ", " d  .  ", "    d' "]
        return [*notes, *beside(animal, ["\\o/", " d "], 2), *centred(["~ ~ ~ ~ ~ ~"], width(animal))]
    return with_thing(animal, action)


def with_thing(animal: Lines, action: str) -> Lines:
    parts = library()
    if "book" in action:
        return beside(animal, list(parts["open_book"]), 1)
    if "drum" in action:
        return beside(animal, list(parts["drums"]), 1)
    if "skateboard" in action or "riding" in action:
        return above(animal, list(parts["skateboard"]))
    if "climbing" in action:
        return beside([*animal, "", ""], list(parts["tree"]), 0)
    if "sandwich" in action or "eating" in action:
        return beside(animal, list(parts["sandwich"]), 1)
    if "kite" in action:
        return [*indented(list(parts["kite"]), width(animal)), *animal]
    if "hat" in action:
        head = animal[0]
        middle = (len(head) - len(head.lstrip()) + len(head.rstrip())) // 2
        return [*indented(list(parts["hat"]), max(0, middle - 5)), *animal]
    return [f'  "{action}"', *animal]


def damage(lines: Lines, skill: float, random: Random) -> Lines:
    """What a shaky hand does: marks change, rows slip sideways, rows go missing."""
    if skill >= 1:
        return lines
    slip, lost, wrong = (1 - skill) * 0.5, (1 - skill) * 0.15, (1 - skill) ** 2 * 0.5
    kept: Lines = []
    for line in lines:
        if len(kept) > 1 and random.random() < lost:
            continue
        marks = "".join(random.choice(JUNK) if c != " " and random.random() < wrong else c for c in line)
        by = random.randint(1, 2 + round(6 * (1 - skill))) if random.random() < slip else 0
        kept.append(" " * by + marks)
    return kept
