"""What one element costs a browser to paint: microseconds of processor time on a canvas of 800 × 800 pixels.

Measured in Chromium (`script/bench svg`) and rounded up: a cost for the whole canvas, by the share that the element covers.
"""

from __future__ import annotations

import re

from lxml import etree

from generation.formats.svg.names import PRIMITIVES, SHAPES
from generation.formats.svg.paint.areas import SIDE, Areas, Guess
from generation.formats.svg.paint.dashes import Dashes, measure_length
from generation.formats.svg.parsing import local

ELEMENT = 30.0  # whatever it is
FILL, TEXT = 500.0, 700.0
PAINTED, STOP = 6_000.0, 70.0  # by a gradient or a pattern; and each stop of a gradient
MANY, MANY_STOPS = 8, 800.0  # so many stops are looked up in a table
FADED, BLENDED, MASKED, CLIPPED = 1_200.0, 3_800.0, 6_000.0, 4_000.0
CSS_MASK, CSS_FILTER, CSS_BLUR, SHADOW = 20_000.0, 13_000.0, 22_000.0, 5_000.0
FILTERED = 300.0  # a filter, however small what it is applied to
PRIMITIVE = {
    "feFlood": 7_000.0,
    "feGaussianBlur": 28_000.0,
    "feDropShadow": 30_000.0,
    "feTurbulence": 22_000.0,
    "feConvolveMatrix": 36_000.0,
    "feMorphology": 80_000.0,
    "feDisplacementMap": 40_000.0,
    "feDiffuseLighting": 125_000.0,
    "feSpecularLighting": 125_000.0,
    "feComposite": 23_000.0,
    "feBlend": 18_000.0,
    "feTile": 62_000.0,
}
TWO_INPUTS = frozenset(["feBlend", "feComposite", "feDisplacementMap"])  # one that is not named is the step before
MOST = 1e9  # sums stop growing here
OTHER_PRIMITIVE = 15_000.0
BLUR_PIXEL, OCTAVE, KERNEL_CELL, RADIUS_PIXEL = 1_200.0, 19_000.0, 6_500.0, 7_000.0
WIDE, WIDE_BLUR_PIXEL = 60.0, 4_100.0  # pixels, and what each beyond them costs
MOST_BLUR = 480_000.0
BEYOND = 0.6  # at most: how much more a blur costs whose region goes beyond the canvas
POINT, PIXEL, STROKED_PIXEL = 3.0, 0.08, 0.003  # of an outline; the last for each pixel of its stroke's width
FEW_POINTS = 50  # their outline costs little beside their area
DASH, DASHED_PIXEL = 6.0, 0.55

NUMBER = re.compile(r"\d*\.?\d+(?:[eE][+-]?\d+)?")
REFERENCE = re.compile(r"(?:^|;)(?:fill|stroke):url\(")
BLURS = re.compile(r"\b(?:blur|drop-shadow)\(([^()]*+)", re.IGNORECASE)
FUNCTIONS = re.compile(r"(?:^|[;\s])(?:-webkit-)?filter:([^;]*+)", re.IGNORECASE)
MASKS = re.compile(r"(?:^|;)(?:-webkit-)?mask(?:-image|-box-image)?:(?!none)([^;]*+)", re.IGNORECASE)
BLEND = re.compile(r"(?:^|;)mix-blend-mode:(?!normal)", re.IGNORECASE)
FADE = re.compile(r"(?:^|;)opacity:(?!1(?:\.0*+)?(?:;|$))")
SHADOWS = re.compile(r"(?:^|;)text-shadow:([^;]*+)", re.IGNORECASE)
BRACKETED = re.compile(r"\([^()]*+\)")


def numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]


def largest(text: str, default: float) -> float:
    return max(numbers(text), default=default)


class Painting:
    """Costs of the elements of one drawing."""

    def __init__(self, areas: Areas | Guess, dashes: Dashes) -> None:
        self.areas = areas
        self.dashes = dashes

    def whole(self, element: etree._Element) -> float:
        """What the element itself asks for, as if it covered the canvas; its outline and dashes apart."""
        name, get = local(element), element.get
        if name in PRIMITIVES:
            return 0.0  # its filter counts it
        if name == "filter":
            return self._chain(element)
        style, filters = get("style", ""), get("filter", "")
        cost = declared_cost(style, self.areas.scale(element)) if style else 0.0
        if filters and "url(" not in filters:
            cost += CSS_BLUR * filters.count("(")
        cost += MASKED * ("url(" in get("mask", "")) + CLIPPED * ("url(" in get("clip-path", ""))
        if name in SHAPES:
            cost += TEXT if name == "text" else FILL
            return cost + PAINTED * (("url(" in get("fill", "")) + ("url(" in get("stroke", "")))
        return cost + FADED * (get("opacity", "1") != "1")

    def outline(self, element: etree._Element, points: int) -> float:
        """What its outline costs, by points and by length, and the dashes that it is cut into."""
        if local(element) not in SHAPES:
            return 0.0
        width = self.areas.stroke(element)
        dashed = self.dashes.count(element) * (DASH + DASHED_PIXEL * width)
        if points < FEW_POINTS:
            return POINT * points + dashed
        length = min(measure_length(element) * self.areas.scale(element), 2 * SIDE * max(points, 4))
        return POINT * points + length * (PIXEL + STROKED_PIXEL * width) + dashed

    def beyond(self, element: etree._Element) -> float:
        """How many times the canvas a filter works on where its region is larger: as far outside as its blurs reach."""
        blurs = (blur.get("stdDeviation", "") for blur in element if local(blur) in ("feGaussianBlur", "feDropShadow"))
        reach = max((largest(blur, 2.0) for blur in blurs), default=0.0) * self.areas.largest_scale
        return 1.0 + min(BEYOND, 6 * reach / SIDE)

    def _chain(self, element: etree._Element) -> float:
        """A filter's primitives, each as often as a later one asks for its result: browsers do not keep results."""
        results: dict[str, float] = {}
        cost = 0.0
        for primitive in element:
            name = local(primitive)
            if name not in PRIMITIVES:
                continue
            merged = [node.get("in", "") for node in primitive if local(node) == "feMergeNode"]
            inputs = merged or [primitive.get("in", "")] + [primitive.get("in2", "")] * (name in TWO_INPUTS)
            before = sum(cost if not source else results.get(source, 0.0) for source in inputs)
            cost = min(MOST, self._primitive(primitive, name) + before)
            results[primitive.get("result", "")] = cost
        return cost

    def _primitive(self, element: etree._Element, name: str) -> float:
        cost, scale = PRIMITIVE.get(name, OTHER_PRIMITIVE), self.areas.largest_scale
        parent = element.getparent()
        if parent is not None and parent.get("primitiveUnits") == "objectBoundingBox":
            scale = SIDE
        if name in ("feGaussianBlur", "feDropShadow"):
            return cost + blur_cost(largest(element.get("stdDeviation", ""), 2.0) * scale)
        if name == "feTurbulence":
            return cost + OCTAVE * largest(element.get("numOctaves", ""), 1.0)
        if name == "feConvolveMatrix":
            return cost + KERNEL_CELL * largest(element.get("order", ""), 3.0) ** 2
        if name == "feMorphology":
            return cost + RADIUS_PIXEL * min(SIDE, largest(element.get("radius", ""), 0.0) * scale)
        return cost + OTHER_PRIMITIVE / 3 * len(element)


def gradient_cost(element: etree._Element) -> float:
    return STOP * len(element) + MANY_STOPS * (len(element) >= MANY)


def blur_cost(pixels: float) -> float:
    """By the standard deviation; a wide one costs more a pixel, up to where browsers blur a smaller copy."""
    narrow = min(WIDE, pixels)
    return min(MOST_BLUR, BLUR_PIXEL * narrow + WIDE_BLUR_PIXEL * (min(SIDE, pixels) - narrow))


def declared_cost(style: str, scale: float) -> float:
    """What declarations ask for on a whole canvas: filters, masks, blending, fading, shadows, gradients."""
    if not style:
        return 0.0
    cost = BLENDED * (BLEND.search(style) is not None) + FADED * (FADE.search(style) is not None)
    for functions in FUNCTIONS.findall(style):
        blurs = [blur_cost(largest(inside, 0.0) * scale) for inside in BLURS.findall(functions)]
        others = functions.count("(") - functions.count("url(") - len(blurs)
        cost += sum(CSS_BLUR + blur for blur in blurs) + CSS_FILTER * max(0, others)
    for value in (*MASKS.findall(style),):
        cost += CSS_MASK * (1 + BRACKETED.sub("", BRACKETED.sub("", value)).count(","))
    for value in SHADOWS.findall(style):
        cost += SHADOW * (1 + BRACKETED.sub("", value).count(","))
    return cost + PAINTED * len(REFERENCE.findall(style)) + CLIPPED * ("clip-path:url(" in style)
