"""How alike a text looks in the three faces: its cells drawn in each, slightly blurred, and compared.

All faces are laid on one grid of cells, so only the shapes of characters and their places within a cell differ. A cell that a face
cannot show is empty in it. The similarity of two faces is the cosine of their pictures; a face's is the mean of its two, on a scale on
which drawings as models make them stand around the middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from generation.formats.raster.cells import TAB, ZWJ, covered, fonts, is_blank, is_combining, width_of
from generation.formats.raster.text import font_of

WIDTH, HEIGHT = 8, 16  # pixels of a cell
MARGIN = 5  # pixels around it, for what a glyph or the blur puts outside
FINE = 4  # glyphs are drawn so many times larger, then shrunk: no hinting, no luck of a pixel's edge
BASELINE = 12.5  # pixels from the top of the cell, in every face: a picture that is shifted as a whole looks the same
BLUR = 1.0  # pixels
MOST_CELLS = 20_000  # in reading order: enough for any drawing that fits a screen
# Drawings of demo players and classic pieces have cosines around 0.89; below LOW are those made of ^ ` * and the like.
LOW, HIGH = 0.78, 1.0

Pixels = NDArray[np.float32]


def similarity(drawing: str) -> dict[str, float]:
    """For each face, how much the drawing looks in it as in the other two, from 0 to 1; 1 without cells."""
    names = fonts()
    places = list(_places(drawing))
    if not places:
        return dict.fromkeys(names, 1.0)
    pictures = _pictures(places)
    products = np.array([[float(np.vdot(one, other)) for other in pictures] for one in pictures])
    norms = np.sqrt(np.maximum(np.diag(products), 1e-12))
    cosines = products / np.outer(norms, norms)
    means = (cosines.sum(axis=1) - np.diag(cosines)) / (len(names) - 1)
    shares = np.clip((means - LOW) / (HIGH - LOW), 0, 1)
    return {face: round(float(share), 4) for face, share in zip(names, shares, strict=True)}


def _places(drawing: str) -> Iterator[tuple[int, int, str]]:
    """Line, column and character of each cell with ink; one with marks or joined characters no face can show."""
    count = 0
    for row, line in enumerate(drawing.split("\n")):
        line = line.expandtabs(TAB)
        for at, character in enumerate(line):
            if is_blank(character) or is_combining(character) or (at and line[at - 1] == ZWJ):
                continue
            rides = at + 1 < len(line) and (is_combining(line[at + 1]) or line[at + 1] == ZWJ)
            yield row, at if line.isascii() else width_of(line[:at]), "" if rides else character
            count += 1
            if count == MOST_CELLS:
                return


def _pictures(places: list[tuple[int, int, str]]) -> Pixels:
    """The drawing in each face."""
    rows, columns = 1 + max(row for row, _, _ in places), 1 + max(column for _, column, _ in places)
    shape = (len(fonts()), rows * HEIGHT + 2 * MARGIN, columns * WIDTH + 2 * MARGIN)
    pictures = np.zeros(shape, np.float32)
    for row, column, character in places:
        y, x = row * HEIGHT, column * WIDTH
        pictures[:, y : y + HEIGHT + 2 * MARGIN, x : x + WIDTH + 2 * MARGIN] += _glyphs(character)
    return pictures


@lru_cache(maxsize=1400)
def _glyphs(character: str) -> Pixels:
    """A character in each face, as blurred ink in the middle of its cell and the margin."""
    return np.stack([_glyph(face, character) for face in fonts()])


def _glyph(face: str, character: str) -> Pixels:
    """Nothing where the face lacks it."""
    shape = (HEIGHT + 2 * MARGIN, WIDTH + 2 * MARGIN)
    if character not in covered(face):
        return np.zeros(shape, np.float32)
    fine = Image.new("L", (shape[1] * FINE, shape[0] * FINE), 0)
    font = font_of(face, _size(face))
    ImageDraw.Draw(fine).text((MARGIN * FINE, (MARGIN + BASELINE) * FINE), character, fill=255, font=font, anchor="ls")
    ink = np.asarray(fine, np.float32).reshape(shape[0], FINE, shape[1], FINE).mean(axis=(1, 3)) / 255
    blurred: Pixels = (_blurring(shape[0]) @ ink @ _blurring(shape[1])).astype(np.float32)
    return blurred


@cache
def _blurring(size: int) -> Pixels:
    """A Gaussian blur along one axis, as a matrix."""
    steps = np.subtract.outer(np.arange(size), np.arange(size))
    weights: NDArray[np.float64] = np.exp(-(steps**2) / (2 * BLUR**2)) / (BLUR * np.sqrt(2 * np.pi))
    return weights.astype(np.float32)


@cache
def _size(face: str) -> float:
    """At which a face fills the width of a cell."""
    return 1000 * WIDTH * FINE / font_of(face, 1000).getlength("M")
