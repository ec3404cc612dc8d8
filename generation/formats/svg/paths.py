"""Counting on-curve points in path data, in linear time, by the grammar of SVG paths."""

from __future__ import annotations

import re

SPACE = r"[ \t\r\n\f]*+"
# Atomic, so that no number is ever split in two to complete a coordinate set.
NUMBER = r"(?>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
FLAG = "[01]"
COMMA = rf"(?>{SPACE},?{SPACE})"

# What one coordinate set of each command is made of; each set ends in one on-curve point.
SHAPES = {
    "ml t": [NUMBER] * 2,
    "hv": [NUMBER],
    "sq": [NUMBER] * 4,
    "c": [NUMBER] * 6,
    "a": [NUMBER] * 3 + [FLAG] * 2 + [NUMBER] * 2,
}
SETS = {
    letter: re.compile(COMMA.join(parts)) for letters, parts in SHAPES.items() for letter in letters if letter != " "
}
BLANK = re.compile(SPACE)
SEPARATOR = re.compile(COMMA)
NUMBERS = re.compile(NUMBER)


def count_path_points(data: str) -> int:
    """On-curve points of a `d` attribute: one for each coordinate set of M L H V C S Q T A, none for Z.

    Implicit repeats count, control points do not. As a browser does, it stops at the first error and keeps what
    came before; data that does not begin with M has no points.
    """
    at, points = BLANK.match(data).end(), 0
    if data[at : at + 1] not in ("M", "m"):
        return 0
    while at < len(data):
        command = data[at].lower()
        at += 1
        if command in SETS:
            sets, at = _count_sets(data, at, SETS[command])
            points += sets
            if sets == 0:
                break
        elif command != "z":
            break
        at = BLANK.match(data, at).end()
    return points


def count_listed_points(points: str) -> int:
    """Points of a polygon or polyline: whole pairs of numbers."""
    return len(NUMBERS.findall(points)) // 2


def _count_sets(data: str, at: int, one: re.Pattern[str]) -> tuple[int, int]:
    sets, start = 0, BLANK.match(data, at).end()
    while found := one.match(data, start):
        sets, at = sets + 1, found.end()
        start = SEPARATOR.match(data, at).end()
    return sets, at
