"""Pixel art: seven subjects on a 24 × 24 grid, as JSON; weaker hands lose colours, rows and sometimes the JSON itself."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from random import Random

SIZE = 24
Grid = list[list[int]]
Painting = tuple[Grid, list[str]]


def draw(prompt: str, skill: float, random: Random) -> str:
    subject = prompt.lower().partition("subject:")[2].strip() or prompt.lower()
    painter = next((paint for word, paint in PAINTERS.items() if word in subject), _sprite)
    grid, palette = painter(random)
    grid = _spoil(grid, skill, random)
    return _written(grid, palette, skill, random)


def _canvas(colour: int = 0) -> Grid:
    return [[colour] * SIZE for _ in range(SIZE)]


def _fill(grid: Grid, colour: int, inside: Callable[[int, int], bool]) -> None:
    for y in range(SIZE):
        for x in range(SIZE):
            if inside(x, y):
                grid[y][x] = colour


def _disc(grid: Grid, colour: int, cx: float, cy: float, r: float) -> None:
    _fill(grid, colour, lambda x, y: math.hypot(x - cx, y - cy) <= r)


def _box(grid: Grid, colour: int, x0: int, y0: int, x1: int, y1: int) -> None:
    _fill(grid, colour, lambda x, y: x0 <= x <= x1 and y0 <= y <= y1)


def _plumber(random: Random) -> Painting:
    g = _canvas(0)
    for colour, *box in (
        (1, 8, 2, 15, 3), (1, 7, 4, 18, 5), (2, 7, 6, 16, 10), (3, 7, 6, 9, 7), (3, 6, 7, 7, 9), (4, 13, 6, 14, 7),
        (2, 17, 8, 18, 9), (3, 13, 9, 17, 9), (1, 5, 11, 18, 15), (5, 8, 11, 9, 19), (5, 14, 11, 15, 19),
        (5, 8, 14, 15, 19), (6, 8, 14, 8, 14), (6, 15, 14, 15, 14), (7, 4, 15, 5, 17), (7, 18, 15, 19, 17),
        (3, 6, 20, 10, 22), (3, 13, 20, 17, 22), (8, 0, 23, 23, 23),
    ):  # fmt: skip
        _box(g, colour, *box)
    return g, ["#9bd3ff", "#d8231f", "#f6c49a", "#6b3f1d", "#1b1b1b", "#2f54c9", "#f7d84a", "#ffffff", "#5aa046"]


def _band(outer: float) -> Callable[[int, int], bool]:
    return lambda x, y: outer - 1 < math.hypot(x - 11.5, y - 17) <= outer and y <= 17


def _rainbow(random: Random) -> Painting:
    g = _canvas(0)
    for band in range(7):
        outer = 11.5 - band
        _fill(g, band + 1, _band(outer))
    for x, y in ((2, 18), (5, 17), (18, 17), (21, 18)):
        _disc(g, 8, x, y, 2.4)
    _box(g, 9, 0, 21, 23, 23)
    colours = ["#bfe6ff", "#e53935", "#fb8c00", "#fdd835", "#43a047", "#1e88e5", "#3949ab", "#8e24aa", "#ffffff"]
    return g, [*colours, "#7cb342"]


def _sun(random: Random) -> Painting:
    g = _canvas(0)
    turn = random.random()

    def ray(x: int, y: int) -> bool:
        far, angle = math.hypot(x - 11.5, y - 11.5), math.atan2(y - 11.5, x - 11.5)
        return 7.5 < far < 11.8 and math.cos(8 * (angle + turn)) > 0.35

    _fill(g, 1, ray)
    for colour, radius in ((2, 7.0), (3, 5.8), (4, 4.2)):
        _disc(g, colour, 11.5, 11.5, radius)
    for colour, *box in (
        (5, 8, 9, 9, 11),
        (5, 14, 9, 15, 11),
        (5, 9, 14, 14, 14),
        (6, 7, 13, 7, 13),
        (6, 16, 13, 16, 13),
    ):
        _box(g, colour, *box)
    _fill(g, 7, lambda x, y: (x * 7 + y * 3) % 41 == 0 and math.hypot(x - 11.5, y - 11.5) > 12)
    return g, ["#6ec3f4", "#ff9800", "#ffb300", "#ffca28", "#ffe082", "#5d4037", "#ff7043", "#ffffff"]


def _stripe(rows: tuple[int, int]) -> Callable[[int, int], bool]:
    return lambda x, y: y in rows and math.hypot(x - 11.5, y - 11.5) <= 6.5


def _saturn(random: Random) -> Painting:
    g = _canvas(0)
    _fill(g, 7, lambda x, y: (x * 13 + y * 29) % 53 == 7)

    def ring(x: int, y: int, low: float, high: float) -> bool:
        return low <= math.hypot((x - 11.5) / 1.0, (y - 11.5 + (x - 11.5) * 0.35) * 3.2) <= high

    _fill(g, 5, lambda x, y: ring(x, y, 8.8, 11.8) and y < 12 - (x - 11.5) * 0.35)
    _disc(g, 1, 11.5, 11.5, 6.5)
    for colour, rows in ((2, (8, 9)), (3, (12, 13)), (4, (15, 16))):
        _fill(g, colour, _stripe(rows))
    _fill(g, 6, lambda x, y: ring(x, y, 8.8, 11.8) and y >= 12 - (x - 11.5) * 0.35)
    _fill(g, 5, lambda x, y: ring(x, y, 10.4, 11.2) and y >= 12 - (x - 11.5) * 0.35)
    return g, ["#0b1030", "#e3c27a", "#d3a95c", "#f1dca3", "#b98b48", "#a58a63", "#d9c69a", "#ffffff"]


def _maze(random: Random) -> Painting:
    """A true maze: one path between any two places (depth-first carving), its solution dotted in by colour."""
    g = _canvas(1)
    stack, seen = [(1, 1)], {(1, 1)}
    g[1][1] = 0
    while stack:
        x, y = stack[-1]
        steps = [(dx, dy) for dx, dy in ((2, 0), (-2, 0), (0, 2), (0, -2))]
        steps = [(dx, dy) for dx, dy in steps if 0 < x + dx < 23 and 0 < y + dy < 23 and (x + dx, y + dy) not in seen]
        if not steps:
            stack.pop()
            continue
        dx, dy = random.choice(steps)
        for way in (1, 2):
            g[y + dy * way // 2][x + dx * way // 2] = (
                len(stack) // 14 % 6 + 2 if way == 1 and len(stack) % 9 == 0 else 0
            )
        stack.append((x + dx, y + dy))
        seen.add((x + dx, y + dy))
    g[0][1], g[1][1], g[22][21] = 8, 8, 9
    return g, [
        "#f5f0e1",
        "#28324e",
        "#e9dcc0",
        "#e4d3b0",
        "#dfcaa0",
        "#dac190",
        "#d5b880",
        "#d0af70",
        "#2e9e4f",
        "#d23b3b",
    ]


def _portrait(random: Random) -> Painting:
    g = _canvas(1)
    _fill(g, 2, lambda x, y: y > 9 + math.sin(x / 3.0) * 1.5)
    _fill(g, 3, lambda x, y: y > 13 and abs(x - 19 - math.sin(y)) < 1.2)
    _fill(g, 4, lambda x, y: math.hypot((x - 11.5) / 5.6, (y - 9) / 7.5) <= 1)
    _box(g, 4, 6, 9, 17, 16)
    _fill(g, 5, lambda x, y: math.hypot((x - 11.5) / 3.6, (y - 9) / 4.8) <= 1)
    _box(g, 5, 10, 13, 13, 16)
    _fill(g, 6, lambda x, y: y >= 16 and abs(x - 11.5) < 4 + (y - 16) * 1.3)
    _fill(g, 5, lambda x, y: y in (15, 16, 17) and abs(x - 11.5) < 3.5)
    _box(g, 5, 7, 21, 15, 22)
    for colour, *box in (
        (7, 9, 8, 10, 8),
        (7, 13, 8, 14, 8),
        (8, 11, 10, 12, 10),
        (9, 10, 12, 13, 12),
        (8, 10, 22, 13, 22),
    ):
        _box(g, colour, *box)
    _fill(g, 0, lambda x, y: x in (0, 23) or y in (0, 23))
    return g, [
        "#7a5a1e",
        "#8fa58a",
        "#6f7d4f",
        "#b89b62",
        "#2e1f14",
        "#e2bd84",
        "#3d3a22",
        "#20150d",
        "#c49a63",
        "#a4553c",
    ]


def _hope(random: Random) -> Painting:
    """A seedling in dark soil, and the first light."""
    g = _canvas(0)
    for colour, radius in ((1, 15.0), (2, 11.0), (3, 7.0), (4, 4.0)):
        _disc(g, colour, 18, 5, radius)
    _box(g, 5, 0, 18, 23, 23)
    _fill(g, 6, lambda x, y: y >= 18 and (x * 5 + y * 3) % 7 == 0)
    _box(g, 7, 11, 10, 11, 18)
    _fill(g, 7, lambda x, y: math.hypot((x - 8) / 3.4, (y - 10 - (x - 8) * 0.4) / 1.6) <= 1)
    _fill(g, 8, lambda x, y: math.hypot((x - 14.5) / 3.4, (y - 9 + (x - 14.5) * 0.4) / 1.6) <= 1)
    _box(g, 9, 11, 7, 11, 9)
    return g, [
        "#22305c",
        "#4b5c8f",
        "#8d86a8",
        "#f2c078",
        "#fff1b8",
        "#3b2a20",
        "#54402f",
        "#2f8f46",
        "#4fbf63",
        "#9be28a",
    ]


def _sprite(random: Random) -> Painting:
    """For a subject nobody taught us: a symmetric little something."""
    g = _canvas(0)
    for y in range(4, 20):
        for x in range(5, 12):
            g[y][x] = g[y][23 - x] = random.choice((0, 1, 1, 2, 3, 4, 5, 6, 7))
    return g, ["#ffffff", "#333333", "#c0392b", "#2980b9", "#27ae60", "#f1c40f", "#8e44ad", "#e67e22"]


PAINTERS = {
    "mario": _plumber,
    "rainbow": _rainbow,
    "saturn": _saturn,
    "sun": _sun,
    "maze": _maze,
    "mona lisa": _portrait,
    "hope": _hope,
}


def _spoil(grid: Grid, skill: float, random: Random) -> Grid:
    wrong = (1 - skill) ** 2 * 0.3
    colours = max(2, round(10 * (0.15 + skill)))
    grid = [[random.randrange(10) if random.random() < wrong else cell for cell in row] for row in grid]
    grid = [[min(cell, colours - 1) for cell in row] for row in grid]
    if random.random() > skill + 0.25:
        height = random.randint(16, 27)
        grid = [list(grid[min(y, SIZE - 1)]) for y in range(height)]
    if random.random() > skill + 0.3:
        grid = [row[: random.randint(18, SIZE)] + [0] * random.randint(0, 2) for row in grid]
    return grid


def _written(grid: Grid, palette: list[str], skill: float, random: Random) -> str:
    rows = ",\n    ".join(json.dumps(row, separators=(",", ":")) for row in grid)
    text = f'{{\n  "grid": [\n    {rows}\n  ],\n  "palette": {json.dumps(palette)}\n}}'
    if random.random() > skill + 0.6:
        # The classic slips: a comma too many, or out of breath before the end.
        return text.replace("]\n  ],", "],\n  ],") if random.random() < 0.5 else text[: len(text) * 2 // 3]
    return text
