"""Transforms of SVG as matrices: their product, what an attribute says, and where they put a box."""

from __future__ import annotations

import math
import re

from generation.formats.svg.paths import NUMBERS

TRANSFORM = re.compile(r"(\w++)\s*+\(([^()]*+)\)")

Box = tuple[float, float, float, float]  # left, top, right, bottom
Matrix = tuple[float, float, float, float, float, float]  # as in SVG: a b c d e f
EVERYWHERE: Box = (-math.inf, -math.inf, math.inf, math.inf)


def product(matrix: Matrix, *others: Matrix | None) -> Matrix | None:
    for other in others:
        if other is None:
            return None
        a, b, c, d, e, f = matrix
        g, h, i, j, k, m = other
        matrix = (a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f)
    return matrix if all(map(math.isfinite, matrix)) else None


def transforms(text: str) -> Matrix | None:
    """The product of a `transform` attribute; None for what is not understood."""
    matrix: Matrix | None = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    for name, inside in TRANSFORM.findall(text):
        numbers = [float(number) for number in NUMBERS.findall(inside)]
        step: Matrix | None = None
        if not all(map(math.isfinite, numbers)):
            return None
        if name == "translate" and numbers:
            step = (1.0, 0.0, 0.0, 1.0, numbers[0], numbers[1] if len(numbers) > 1 else 0.0)
        elif name == "scale" and numbers:
            step = (numbers[0], 0.0, 0.0, numbers[1] if len(numbers) > 1 else numbers[0], 0.0, 0.0)
        elif name == "rotate" and numbers:
            turn, (x, y) = math.radians(numbers[0]), numbers[1:3] if len(numbers) > 2 else (0.0, 0.0)
            a, b = math.cos(turn), math.sin(turn)
            step = (a, b, -b, a, x - a * x + b * y, y - b * x - a * y)
        elif name == "matrix" and len(numbers) == 6:
            a, b, c, d, e, f = numbers
            step = (a, b, c, d, e, f)
        elif name in ("skewX", "skewY") and numbers:
            slope = math.tan(math.radians(numbers[0]))
            step = (1.0, slope * (name == "skewY"), slope * (name == "skewX"), 1.0, 0.0, 0.0)
        matrix = product(matrix, step) if matrix else None
    return matrix


def mapped(box: Box, matrix: Matrix) -> Box:
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in box[::2] for y in box[1::2]]
    xs, ys = [a * x + c * y + e for x, y in corners], [b * x + d * y + f for x, y in corners]
    around = min(xs), min(ys), max(xs), max(ys)
    return around if all(map(math.isfinite, around)) else EVERYWHERE
