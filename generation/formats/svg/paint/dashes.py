"""How many dashes a stroke is cut into: its length over that of a dash, whatever the size of the file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from lxml import etree

from generation.formats.svg.names import ANIMATION, SHAPES
from generation.formats.svg.parsing import local
from generation.formats.svg.paths import COMMAND, FIRST, NEXT, NUMBERS
from generation.formats.svg.selectors import Selector, selectors_of, stylesheet_rules

DECLARED = re.compile(r"(?:^|[;{])stroke-dasharray:([^;}]*+)")
MOST = 1e9  # a length beyond this is one
FONT_SIZE = 16.0


class Dashes:
    """What a drawing says about dashes, looked up once."""

    def __init__(self, root: etree._Element) -> None:
        box = [float(number) for number in NUMBERS.findall(root.get("viewBox", "")[-200:])][-2:]
        self.diagonal = math.hypot(*box) / math.sqrt(2) if len(box) == 2 else 300.0
        self.by_selector = self._stylesheets(root)
        self.inherited: dict[etree._Element | None, float] = {None: math.inf}
        # Of animations and `use`: which elements they reach is not looked into.
        self.shortest = math.inf
        if b"dasharray" not in etree.tostring(root):
            return
        for element in root.iter("*"):  # parents first
            self.inherited[element] = self._inherited(element)
            loose = map(self._dash, _animated(element))
            self.shortest = min([self.shortest, *loose])
            if local(element) in ("use", "symbol"):
                self.shortest = min(self.shortest, self.inherited[element])

    def count(self, element: etree._Element) -> int:
        """The dashes of one element's own stroke."""
        if len(self.inherited) == 1 or local(element) not in SHAPES or local(element) == "use":
            return 0
        dash = min(self.shortest, self.inherited.get(element, math.inf))
        if not math.isfinite(dash):
            return 0
        declared = [float(number) for number in NUMBERS.findall(element.get("pathLength", ""))]
        length = declared[0] if declared and declared[0] > 0 else measure_length(element)
        return int(min(MOST, length / max(dash, 1e-9)))

    def _stylesheets(self, root: etree._Element) -> dict[Selector, float]:
        """The shortest dash that rules declare, by selector."""
        if not any("dasharray" in (style.text or "") for style in root.iter("{*}style")):
            return {}
        shortest: dict[Selector, float] = {}
        for selectors, body in stylesheet_rules(root):
            dash = min(map(self._dash, DECLARED.findall(body)), default=math.inf)
            shortest |= {key: min(dash, shortest.get(key, math.inf)) for key in selectors}
        return shortest

    def _inherited(self, element: etree._Element) -> float:
        """The dash that an element's stroke may have: its own, one that a rule may give it, or the one it inherits."""
        own = list(map(self._dash, _declared(element)))
        above = [] if own else [self.inherited[element.getparent()]]
        rules = [self.by_selector[key] for key in selectors_of(element) if key in self.by_selector]
        return min([*own, *above, *rules])

    def _dash(self, value: str) -> float:
        """The mean length of a dash or gap; infinite where there is none."""
        lengths = [float(number) for number in NUMBERS.findall(value)]
        if not lengths or sum(lengths) <= 0:
            return math.inf
        return sum(lengths) / len(lengths) * (self.diagonal / 100 if "%" in value else 1)


def _animated(element: etree._Element) -> list[str]:
    if local(element) not in ANIMATION or element.get("attributeName", "").strip() != "stroke-dasharray":
        return []
    values = [element.get(key, "") for key in ("values", "from", "to", "by")]
    return [part for value in values for part in value.split(";")]


def _declared(element: etree._Element) -> list[str]:
    values = [element.get("stroke-dasharray", ""), *DECLARED.findall(element.get("style", ""))]
    return [value for value in values if value]


def measure_length(element: etree._Element) -> float:
    """The length of a shape's outline, or a little more: curves count by their control points."""
    name = local(element)
    if name == "path":
        return min(MOST, _path_length(element.get("d", "")))
    if name in ("polygon", "polyline"):
        numbers = [float(number) for number in NUMBERS.findall(element.get("points", ""))]
        points = list(zip(numbers[::2], numbers[1::2], strict=False))
        return min(MOST, sum(map(math.dist, points, [*points[1:], *points[:1]])))
    if name == "text":
        size = _number(element, "font-size", FONT_SIZE)
        return min(MOST, 4 * size * sum(len(str(text)) for text in element.itertext()))
    radius = max(_number(element, key) for key in ("r", "rx", "ry"))
    sides = 2 * (_number(element, "width") + _number(element, "height"))
    line = math.hypot(_number(element, "x2") - _number(element, "x1"), _number(element, "y2") - _number(element, "y1"))
    return min(MOST, 2 * math.pi * radius + sides + (line if name == "line" else 0))


def _number(element: etree._Element, key: str, default: float = 0.0) -> float:
    numbers = NUMBERS.findall(element.get(key, ""))
    return float(numbers[0]) if numbers else default


def outline_points(element: etree._Element) -> list[tuple[float, float]]:
    """Points of a path or polygon between which it lies: control points, and corners of arcs."""
    if local(element) == "path":
        data = element.get("d", "")
        if "t" in data or "T" in data:  # control points that are mirrored again and again may lie anywhere
            return [(-math.inf, -math.inf)]
        points = [point for points, _ in _steps(data) for point in points]
        return points if "s" not in data and "S" not in data else _mirrored(points)
    numbers = [float(number) for number in NUMBERS.findall(element.get("points", ""))]
    return list(zip(numbers[::2], numbers[1::2], strict=False))


def _mirrored(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """With room for control points that are mirrored once: the box of the points on every side."""
    if not points:
        return []
    (left, right), (top, bottom) = ((min(sides), max(sides)) for sides in zip(*points, strict=True))
    return [(2 * left - right, 2 * top - bottom), (2 * right - left, 2 * bottom - top)]


def _path_length(data: str) -> float:
    """The sum over coordinate sets of the way along their points."""
    return 2 * sum(way for _, way in _steps(data))  # a closing line is no longer than the way there


def _steps(data: str) -> Iterator[tuple[list[tuple[float, float]], float]]:
    """The points of each coordinate set and the way along them; by the same grammar as points are counted."""
    at, x, y, start = 0, 0.0, 0.0, (0.0, 0.0)
    while command := COMMAND.match(data, at):
        letter, at = command[1], command.end()
        if letter in "zZ":
            x, y = start
            continue
        one = FIRST[letter.lower()].match(data, at)
        if one is None:
            break
        while one:
            (x, y), way, points = _step(letter, one[0], x, y)
            at = one.end()
            yield points, way
            if letter in "mM":
                start, letter = (x, y), "l" if letter == "m" else "L"
            one = NEXT[letter.lower()].match(data, at)


def _step(letter: str, text: str, x: float, y: float) -> tuple[tuple[float, float], float, list[tuple[float, float]]]:
    """Where one coordinate set ends, how long the way there is at most, and points around it."""
    numbers = [float(number) for number in NUMBERS.findall(text)]
    kind, moved = letter.lower(), letter.islower()
    base_x, base_y = (x, y) if moved else (0.0, 0.0)
    if kind == "h":
        points = [(base_x + numbers[0], y)]
    elif kind == "v":
        points = [(x, base_y + numbers[0])]
    elif kind == "a":
        points = [(base_x + numbers[-2], base_y + numbers[-1])]
    else:
        points = [(base_x + a, base_y + b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
    way = 0.0 if kind == "m" else sum(map(math.dist, [(x, y), *points], points))
    # An arc is at most as long as the ellipse it is cut from, which grows to span its ends.
    if kind != "a":
        return points[-1], way, points
    reach = 2 * max(abs(numbers[0]), abs(numbers[1]), way)
    corners = [(x - reach, y - reach), (x + reach, y + reach), *points]
    return points[-1], way * math.pi + math.pi * (numbers[0] + numbers[1]), corners
