"""How much of the canvas each part of a drawing covers, at most.

Sizes count, not places, because animations and `use` move things. What cannot be told (sizes from stylesheets, units,
perspective) counts as the whole canvas.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from lxml import etree

from generation.formats.svg.names import ANIMATION
from generation.formats.svg.paint.dashes import outline_points
from generation.formats.svg.paint.matrices import EVERYWHERE, Box, Matrix, mapped, product, transforms
from generation.formats.svg.parsing import local
from generation.formats.svg.paths import NUMBERS

SIDE = 800.0  # pixels of the canvas that costs are measured on
FONT_SIZE = 16.0
MITRE = 4.0
PLAIN = re.compile(r"\s*+[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?(?:px)?\s*+")
SIZED = re.compile(r"(?:^|[;{])(?:r|rx|ry|width|height|d|font-size|font|x|y|zoom):", re.IGNORECASE)
MOVED = re.compile(r"(?:transform|scale|rotate|translate|perspective|offset-path)[\w-]*+:", re.IGNORECASE)
DEEP = re.compile(r"matrix|perspective|3d|skew|translatez|rotate[xy]|scalez|var\(|calc\(", re.IGNORECASE)
SCALED = re.compile(r"scale[xy]?(?:\(|:)([^();}]*+)", re.IGNORECASE)
STROKE = re.compile(r"(?:^|[;{])stroke-width:([^;}]*+)")
SIZES = frozenset(
    [
        "r",
        "rx",
        "ry",
        "width",
        "height",
        "d",
        "points",
        "x1",
        "y1",
        "x2",
        "y2",
        "font-size",
        "stroke-width",
        "viewBox",
        "textLength",
        "letter-spacing",
        "word-spacing",
        "dx",
        "dy",
    ]
)
# Inside these, a unit may be anything: the box of what they are used on, a view box, the width of a stroke.
RESCALED = frozenset(["marker", "symbol", "textPath"])

SCALING = re.compile(r"scale|matrix|zoom|perspective|3d|skew", re.IGNORECASE)

Size = tuple[float, float]


@dataclass(frozen=True)
class Frame:
    """What an element stands in: how its units become pixels, if that is known; and what it inherits."""

    matrix: Matrix | None
    stroke: float
    font: float

    @property
    def scale(self) -> float:
        """Pixels of one unit, at most."""
        if self.matrix is None:
            return SIDE
        a, b, c, d, *_ = self.matrix
        return max(math.hypot(a, b), math.hypot(c, d))


def unit_of(root: etree._Element) -> float:
    """Pixels of a unit of the view box."""
    box = [float(number) for number in NUMBERS.findall(root.get("viewBox", "")[-200:])][-2:]
    return SIDE / max(*box, 1e-9) if len(box) == 2 else SIDE / 150


class Guess:
    """As if everything covered the canvas: enough for most drawings, and quick."""

    def __init__(self, root: etree._Element) -> None:
        plain = not any(SCALING.search(text) for element in root.iter("*") for text in _scaling(element))
        self.unit = unit_of(root) if plain else SIDE

    def scale(self, element: etree._Element) -> float:
        return self.unit

    @property
    def largest_scale(self) -> float:
        return self.unit

    def stroke(self, element: etree._Element) -> float:
        return SIDE

    def share(self, element: etree._Element, *, times: Size = (1.0, 1.0)) -> float:
        return 1.0

    def enlarges(self, use: etree._Element, target: etree._Element) -> bool:
        return True


class Areas:
    """The parts of a drawing and what they cover, each looked up once."""

    def __init__(self, root: etree._Element) -> None:
        css = "\n".join(style.text or "" for style in root.iter("{*}style"))
        self.stretch, self.moving = _motion(css)
        unit = unit_of(root) * self.stretch
        known = not SIZED.search(css) and math.isfinite(unit)
        thickest = max((_number(value, 1.0) for value in STROKE.findall(css)), default=0.0)
        box = [float(number) for number in NUMBERS.findall(root.get("viewBox", "")[-200:])]
        left, top, *sides = box if len(box) == 4 else (0.0, 0.0, 300.0, 150.0)
        self.canvas = tuple(side * unit for side in sides)
        # Whatever may be elsewhere than it stands is not cut off at the canvas.
        self.placed = not self.moving and root.find(".//{*}use") is None
        matrix = (unit, 0.0, 0.0, unit, -left * unit, -top * unit)
        self.outer = Frame(matrix if known else None, max(1.0, thickest), FONT_SIZE)
        self.frames: dict[etree._Element, Frame] = {}
        self.boxes: dict[etree._Element, Box | None] = {}
        elements = list(root.iter("*"))
        for element in elements:  # parents first
            self.frames[element] = self._frame(element)
        for element in reversed(elements):
            self.boxes[element] = self._box(element)
        # A filter's lengths are in the units of what asks for it, which may stand in a `use`.
        largest, unit = max(frame.scale for frame in self.frames.values()), unit_of(root)
        self.largest_scale = largest if root.find(".//{*}use") is None else largest * max(1.0, largest / unit)

    def scale(self, element: etree._Element) -> float:
        """Pixels of one of the element's units, at most."""
        return self.frames[element].scale

    def stroke(self, element: etree._Element) -> float:
        """Pixels of the element's stroke, at most the canvas."""
        return min(SIDE, self.frames[element].stroke * self.frames[element].scale)

    def enlarges(self, use: etree._Element, target: etree._Element) -> bool:
        """Whether a `use` may show its target larger than it stands there."""
        place = target.getparent()
        if place is None or None in (self.frames[use].matrix, self.frames[place].matrix) or use.get("width"):
            return True
        return self.frames[use].scale > self.frames[place].scale * 1.01

    def share(self, element: etree._Element, *, times: Size = (1.0, 1.0)) -> float:
        """How much of the canvas the element covers at most, its width and height taken so many times."""
        left, top, right, bottom = self.boxes[element] or (0.0, 0.0, 0.0, 0.0)
        width, height = (right - left) * times[0], (bottom - top) * times[1]
        if self.moving:
            width = height = math.hypot(width, height)
        elif self.placed and math.isfinite(width) and math.isfinite(height):
            middle, waist = (left + right) / 2, (top + bottom) / 2
            width = max(0.0, min(self.canvas[0], middle + width / 2) - max(0.0, middle - width / 2))
            height = max(0.0, min(self.canvas[1], waist + height / 2) - max(0.0, waist - height / 2))
        return min(1.0, width / SIDE) * min(1.0, height / SIDE)

    def _frame(self, element: etree._Element) -> Frame:
        parent = element.getparent()
        above = self.frames[parent] if parent is not None else self.outer
        style = element.get("style", "")
        declared = [value for value in (*STROKE.findall(style), element.get("stroke-width", "")) if value.strip()]
        stroke = max([self.outer.stroke, *(_number(value, 0.0) for value in declared)]) if declared else above.stroke
        matrix = self._matrix(element, above.matrix, style)
        return Frame(matrix, stroke, _number(element.get("font-size", ""), above.font))

    def _matrix(self, element: etree._Element, above: Matrix | None, style: str) -> Matrix | None:
        rescaled = local(element) in RESCALED or (element.get("viewBox") and element.getparent() is not None)
        units = [element.get(name) for name in ("patternContentUnits", "maskContentUnits", "clipPathUnits")]
        if above is None or rescaled or "objectBoundingBox" in units or SIZED.search(style) or "vector-effect" in style:
            return None
        stretch, moving = _motion(style)
        for child in element:
            if local(child) in ANIMATION:
                moving = True
                stretch *= _animated(child)
        self.moving = self.moving or moving
        texts = [element.get(name, "") for name in ("transform", "patternTransform")]
        if not math.isfinite(stretch) or element.get("vector-effect"):
            return None
        return product(above, *(transforms(text) for text in texts), (stretch, 0.0, 0.0, stretch, 0.0, 0.0))

    def _box(self, element: etree._Element) -> Box | None:
        """In pixels; None for what shows nothing."""
        frame, inside = self.frames[element], [self.boxes[child] for child in element]
        own = _own_box(element, frame)
        if own is not None:
            return EVERYWHERE if frame.matrix is None else mapped(own, frame.matrix)
        boxes = [box for box in inside if box is not None]
        if not boxes or len(boxes) == 1:
            return boxes[0] if boxes else None
        if self.moving:
            return EVERYWHERE  # its parts may come to be anywhere
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)


def _scaling(element: etree._Element) -> list[str]:
    """Where an element may say that something is shown in another size."""
    if local(element) == "style":
        return [element.text or ""]
    inner = "scale" if element.get("viewBox") and element.getparent() is not None else None
    return [text for text in (element.get("transform"), element.get("style"), element.get("type"), inner) if text]


def _motion(css: str) -> tuple[float, bool]:
    """By how much declarations enlarge what they match at most, and whether they move it."""
    if not MOVED.search(css):
        return 1.0, False
    if DEEP.search(css):
        return math.inf, True
    factors = [abs(float(number)) for text in SCALED.findall(css) for number in NUMBERS.findall(text)]
    return max([1.0, *factors]), True


def _animated(animation: etree._Element) -> float:
    """By how much an animation enlarges its parent; infinite where that cannot be told."""
    kind = animation.get("type", "")
    if animation.get("attributeName", "").strip() in SIZES or "skew" in kind:
        return math.inf
    if kind != "scale":
        return 1.0
    values = " ".join(animation.get(key, "") for key in ("values", "from", "to", "by"))
    return max([1.0, *(abs(float(number)) for number in NUMBERS.findall(values))])


def _number(text: str, default: float) -> float:
    """A plain number of user units; infinite where it has another unit."""
    if not text.strip():
        return default
    return float(NUMBERS.findall(text)[0]) if PLAIN.fullmatch(text) else math.inf


def _own_box(element: etree._Element, frame: Frame) -> Box | None:
    """A shape with its stroke, in its own units; None for groups and definitions."""
    name = local(element)

    def length(key: str) -> float:
        return _number(element.get(key, ""), 0.0)

    points: list[tuple[float, float]]
    if name in ("rect", "use"):
        x, y = length("x"), length("y")
        points = [(x, y), (x + length("width"), y + length("height"))] if name == "rect" else [(-math.inf,) * 2]
    elif name in ("circle", "ellipse"):
        rx, ry = (length("r"),) * 2 if name == "circle" else (length("rx"), length("ry"))
        points = [(length("cx") - rx, length("cy") - ry), (length("cx") + rx, length("cy") + ry)]
    elif name == "line":
        points = [(length("x1"), length("y1")), (length("x2"), length("y2"))]
    elif name in ("path", "polygon", "polyline"):
        points = outline_points(element)
    elif name == "text":
        points = _text_box(element, frame.font, length("x"), length("y"))
    else:
        return None
    if not points:
        return None
    xs, ys = zip(*points, strict=True)
    edge = frame.stroke * (MITRE / 2 if name in ("path", "polygon", "polyline", "text") else 1)
    box = min(xs) - edge, min(ys) - edge, max(xs) + edge, max(ys) + edge
    return box if all(map(math.isfinite, box)) else EVERYWHERE


def _text_box(element: etree._Element, font: float, x: float, y: float) -> list[tuple[float, float]]:
    """Around its start, whichever way it is anchored; anywhere, where its letters are placed one by one."""
    placed = any(element.get(key) for key in ("textLength", "letter-spacing", "word-spacing", "dx", "dy", "style"))
    if placed or len(element):
        return [(-math.inf, -math.inf)]
    reach = 1.2 * font * sum(len(str(text)) for text in element.itertext())
    return [(x - reach, y - 1.5 * font), (x + reach, y + font)]
