"""The costliest moment of a drawing that moves: what animations change is taken at its worst, all at once."""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from generation.formats.svg.names import ANIMATION
from generation.formats.svg.parsing import local
from generation.formats.svg.paths import NUMBERS

NUMERIC = frozenset(["stdDeviation", "radius", "numOctaves", "order"])
REFERRING = frozenset(["filter", "mask", "clip-path", "fill", "stroke", "marker-start", "marker-mid", "marker-end"])
OUTLINES = frozenset(["d", "points"])
REGION = frozenset(["x", "y", "width", "height", "filterUnits"])
VALUES = ("values", "from", "to", "by")
ENDLESS = "10000"  # of a number that grows with each repetition


def worst_moment(root: etree._Element) -> etree._Element:
    """A copy whose animations stand in what they animate, and whose attributes have the costliest of their values.

    How far shapes grow is not written down here: `areas` reads that from the animations themselves.
    """
    copy = deepcopy(root)
    by_id = {name: element for element in copy.iter("*") if (name := element.get("id"))}
    for animation in [element for element in copy.iter("*") if local(element) in ANIMATION]:
        reference = animation.get("href", "")
        target = by_id.get(reference.removeprefix("#")) if reference else animation.getparent()
        if target is not None:
            if reference and animation not in (target, *target.iterancestors()):
                target.append(animation)
            _take_worst(target, animation)
    return copy


def _take_worst(target: etree._Element, animation: etree._Element) -> None:
    name = animation.get("attributeName", "").strip()
    values = [part for key in VALUES for part in animation.get(key, "").split(";") if part.strip()]
    if name in NUMERIC:
        adds = animation.get("accumulate") == "sum" or animation.get("additive") == "sum" or animation.get("by")
        numbers = NUMBERS.findall(" ".join([target.get(name, ""), *values]))
        if values:
            target.set(name, ENDLESS if adds else max(numbers, key=lambda number: abs(float(number)), default=""))
    elif name in OUTLINES and values:
        target.set(name, max([target.get(name, ""), *values], key=len))
    elif name in REFERRING and any("(" in value for value in values):
        target.set(name, " ".join(dict.fromkeys([target.get(name, ""), *values])).strip())
        for key in VALUES:
            animation.attrib.pop(key, "")
    elif local(target) == "filter" and name in REGION:
        target.set("filterUnits", "userSpaceOnUse")
    elif name == "primitiveUnits":
        target.set(name, "objectBoundingBox")
