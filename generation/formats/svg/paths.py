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
    "mlt": [NUMBER] * 2,
    "hv": [NUMBER],
    "sq": [NUMBER] * 4,
    "c": [NUMBER] * 6,
    "a": [NUMBER] * 3 + [FLAG] * 2 + [NUMBER] * 2,
}
SETS = {letter: COMMA.join(parts) for letters, parts in SHAPES.items() for letter in letters}
FIRST = {letter: re.compile(SPACE + one) for letter, one in SETS.items()}
NEXT = {letter: re.compile(COMMA + one) for letter, one in SETS.items()}
COMMAND = re.compile(rf"{SPACE}([MmLlHhVvCcSsQqTtAaZz])")
NUMBERS = re.compile(NUMBER)


def count_path_points(data: str) -> int:
    """On-curve points of a `d` attribute: one for each coordinate set of M L H V C S Q T A, none for Z.

    Implicit repeats count, control points do not. As a browser does, it stops at the first error and keeps what
    came before; data that does not begin with M has no points.
    """
    at = points = 0
    while command := COMMAND.match(data, at):
        letter, at = command[1].lower(), command.end()
        if points == 0 and letter != "m":
            break
        if letter == "z":
            continue
        segment = FIRST[letter].match(data, at)
        if segment is None:
            break
        while segment:
            points, at = points + 1, segment.end()
            segment = NEXT[letter].match(data, at)
    return points


def count_listed_points(points: str) -> int:
    """Points of a polygon or polyline: whole pairs of numbers."""
    return len(NUMBERS.findall(points)) // 2
