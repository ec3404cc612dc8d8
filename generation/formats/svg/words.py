"""The words a drawing shows, put together as a reader's eye would: line by line, from left to right."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from generation.formats.svg.names import TEXT
from generation.formats.svg.parsing import local

Matrix = tuple[float, float, float, float, float, float]
NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d+)?")
TRANSFORM = re.compile(r"(matrix|translate|scale|rotate)\s*+\(([^()]*+)\)")
PLAIN: Matrix = (1, 0, 0, 1, 0, 0)
FONT_SIZE = 16.0
ADVANCE = 0.6  # of the font size: how wide a letter is, about
NEAR = 0.5  # of the font size: letters this close are one word, and lines this close are one line


@dataclass(frozen=True)
class Piece:
    """Letters that stand together, where they begin and end on the page, and how large they are."""

    text: str
    x: float
    end: float
    y: float
    size: float


@dataclass
class _Cursor:
    """Where the next letter goes."""

    x: float = 0.0
    y: float = 0.0


def read_lines(root: etree._Element) -> list[str]:
    """All shown letters by place: lines from top to bottom, each from left to right, however they were written down."""
    if root.find(".//{*}text") is None:
        return []
    pieces = sorted(_place(root, PLAIN, FONT_SIZE, None), key=lambda piece: piece.y)
    lines: list[list[Piece]] = []
    for piece in pieces:
        if not lines or piece.y - lines[-1][-1].y > NEAR * piece.size:
            lines.append([])
        lines[-1].append(piece)
    return [_join(sorted(line, key=lambda piece: piece.x)) for line in lines]


def read_in_order(root: etree._Element) -> str:
    """All shown letters as the document has them, run together with spaces between elements."""
    texts = (element for element in root.iter("*") if local(element) in TEXT)
    return " ".join(word for element in texts for word in (element.text or "").split())


def _join(line: list[Piece]) -> str:
    parts: list[str] = []
    end = -math.inf
    for piece in line:
        parts.append(piece.text if piece.x - end <= NEAR * piece.size else f" {piece.text}")
        end = piece.end
    return "".join(parts).strip()


def _place(element: etree._Element, matrix: Matrix, size: float, cursor: _Cursor | None) -> Iterator[Piece]:
    """The pieces of an element and below it; the depth of a drawing is bounded by the gate."""
    matrix = _multiply(matrix, _matrix(element.get("transform", "")))
    size = next(iter(_numbers(element.get("font-size", ""))), 0.0) or size
    if local(element) == "text":
        cursor = _Cursor()
    shows = cursor is not None and local(element) in TEXT
    if cursor is not None and shows:
        yield from _write(element, matrix, size, cursor)
    for child in element:
        yield from _place(child, matrix, size, cursor if shows else None)
        if cursor is not None and shows and child.tail:
            yield _piece(" ".join(child.tail.split()), matrix, size, cursor)


def _write(element: etree._Element, matrix: Matrix, size: float, cursor: _Cursor) -> Iterator[Piece]:
    text = " ".join((element.text or "").split())
    xs, ys, dxs, dys = (_numbers(element.get(key, "")) for key in ("x", "y", "dx", "dy"))
    singly = max(map(len, (xs, ys, dxs, dys))) > 1
    for at, letters in enumerate(text if singly else [text]):
        cursor.x = (xs[at] if at < len(xs) else cursor.x) + (dxs[at] if at < len(dxs) else 0.0)
        cursor.y = (ys[at] if at < len(ys) else cursor.y) + (dys[at] if at < len(dys) else 0.0)
        yield _piece(letters, matrix, size, cursor)


def _piece(text: str, matrix: Matrix, size: float, cursor: _Cursor) -> Piece:
    """The letters at the cursor, which moves on."""
    a, b, c, d, e, f = matrix
    start, cursor.x = cursor.x, cursor.x + len(text) * ADVANCE * size
    scale = math.hypot(a, b)
    x, end = (a * along + c * cursor.y + e for along in (start, cursor.x))
    return Piece(text, x, end, b * start + d * cursor.y + f, size * scale)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)] if text else []


def _matrix(text: str) -> Matrix:
    matrix = PLAIN
    for name, inside in TRANSFORM.findall(text):
        numbers = _numbers(inside)
        if not all(map(math.isfinite, numbers)):
            continue
        if name == "matrix" and len(numbers) == 6:
            a, b, c, d, e, f = numbers
            matrix = _multiply(matrix, (a, b, c, d, e, f))
        elif name == "translate" and numbers:
            matrix = _multiply(matrix, (1, 0, 0, 1, numbers[0], (*numbers, 0.0)[1]))
        elif name == "scale" and numbers:
            matrix = _multiply(matrix, (numbers[0], 0, 0, numbers[-1], 0, 0))
        elif name == "rotate" and numbers:
            angle = math.radians(numbers[0])
            x, y = (*numbers[1:], 0.0, 0.0)[:2]
            turned = (math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle), x, y)
            matrix = _multiply(_multiply(matrix, turned), (1, 0, 0, 1, -x, -y))
    return matrix


def _multiply(m: Matrix, n: Matrix) -> Matrix:
    a, b, c, d, e, f = m
    g, h, i, j, k, l = n  # noqa: E741
    return a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f
