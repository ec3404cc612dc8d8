"""Characters as cells of a fixed-width grid: how wide they are, and which of the three fonts can show them."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

TAB = 8
ZWJ = "\u200d"
EMOJI_STYLE = "\ufe0f"
MAX_JOINED = 4  # emoji that any font draws as one; those of a longer chain stand side by side
# Look blank though Unicode does not call them white space.
_BLANK = frozenset("\u2800\u3164\uffa0\u115f\u1160\u00ad")


def is_blank(character: str) -> bool:
    return character.isspace() or character in _BLANK or unicodedata.category(character) in ("Cf", "Cc", "Zs")


def is_combining(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me", "Mc")


def is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in ("W", "F")


def width_of(line: str) -> int:
    """Columns a line takes: wide characters two, combining and joined ones none, tabs to the next multiple of 8."""
    if line.isascii():
        return len(line.expandtabs(TAB))
    width = chain = 0
    joined = False
    for character in line:
        if character == "\t":
            width += TAB - width % TAB
        elif (
            not (joined and chain < MAX_JOINED)
            and not is_combining(character)
            and unicodedata.category(character) != "Cf"
        ):
            width += 2 if is_wide(character) else 1
        # What follows a zero-width joiner is drawn into the character before it.
        if character == ZWJ:
            chain += 1
        elif not joined and not is_combining(character) and character != EMOJI_STYLE:
            chain = 0
        joined = character == ZWJ or (joined and character == EMOJI_STYLE)
    return width


@cache
def covered(font: str) -> frozenset[str]:
    """Characters a vendored face has at its uniform advance (font_coverage.json, made by script/vendor_fonts)."""
    return frozenset(chr(code) for low, high in _coverage()[font] for code in range(low, high + 1))


@cache
def _coverage() -> dict[str, list[list[int]]]:
    path = Path(__file__).parent / "font_coverage.json"
    ranges: dict[str, list[list[int]]] = json.loads(path.read_text(encoding="ascii"))
    return ranges


def fonts() -> tuple[str, ...]:
    """The three faces in the order they are stacked."""
    return tuple(_coverage())


def cells_of(drawing: str) -> list[str]:
    """Every non-blank cell: a character with the marks and joined characters that ride on it."""
    if drawing.isascii():
        return [character for character in drawing if character.isprintable() and character != " "]
    cells: list[str] = []
    start, joined = -1, False  # where the open cell began; -1 when none is open
    for at, character in enumerate(drawing):
        rides = joined or character == ZWJ or is_combining(character)
        if not (rides and start >= 0):
            if start >= 0:
                cells.append(drawing[start:at])
            start = -1 if is_blank(character) else at
        joined = start >= 0 and character == ZWJ
    return [*cells, drawing[start:]] if start >= 0 else cells


def coverage(cells: list[str]) -> dict[str, float]:
    """Per font, the share of cells that are one character the font has at its uniform advance; 1 without cells."""
    total, counts = len(cells), Counter(cells)
    shown = {font: sum(n for cell, n in counts.items() if cell in covered(font)) for font in fonts()}
    return {font: round(number / total, 6) if total else 1.0 for font, number in shown.items()}
