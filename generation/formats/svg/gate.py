"""The structural gate: what a drawing would cost a browser, counted before any browser sees it."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from lxml import etree

from generation.formats.svg.css import LOCAL_URL
from generation.formats.svg.names import ANIMATION, PRIMITIVES
from generation.formats.svg.paint.areas import Areas, Guess
from generation.formats.svg.paint.costs import ELEMENT, FILTERED, Painting, declared_cost, gradient_cost, numbers
from generation.formats.svg.paint.dashes import Dashes
from generation.formats.svg.paint.moments import worst_moment
from generation.formats.svg.parsing import attributes_of, local
from generation.formats.svg.paths import count_listed_points, count_path_points
from generation.formats.svg.selectors import selectors_of, stylesheet_rules

MAX_BYTES = 512 * 1024
MAX_DEPTH = 100
MAX_ELEMENTS = 5_000
MAX_EXPANDED = 10_000  # elements once every `use`, pattern, mask, clip and marker stands where it is used
# Microseconds of a browser's processor time (see paint/costs.py): for a drawing, and for each frame of one that moves.
MAX_PAINT, MAX_FRAME = 1_000_000, 500_000
MAX_POINTS = 20_000

CAPS = {"numOctaves": 12.0, "stdDeviation": 150.0, "radius": 200.0, "order": 15.0}
REGION = ("x", "y", "width", "height")
MAX_REGION = 50.0  # times the box it is applied to
USUAL_REGION = 2.0  # up to this, what is outside of the canvas is small
FILTER_FUNCTION = re.compile(r"\b(?:blur|drop-shadow)\(([^)]*)", re.IGNORECASE)
ENOUGH = 10**9  # sums stop growing here, so that a bomb costs no big integers

Node = etree._Element | tuple[str, str]
Buckets = dict[tuple[str, str], tuple[list[etree._Element], float]]  # selector -> what it refers to, its own cost


class Cost(NamedTuple):
    """What a node costs with all that it leads to: in elements, and in microseconds where it stands or on a whole canvas."""

    elements: int = 0
    paint: float = 0.0
    whole: float = 0.0


class Edge(NamedTuple):
    """What a node leads to, how many times; `share` where it works on so much of the canvas, whatever its own size."""

    to: Node
    times: int = 1
    share: float | None = None


class TooMuch(Exception):
    """A limit passed: a reason code and a sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def check_bytes(text: str) -> None:
    if len(text) > MAX_BYTES or len(text.encode("utf-8")) > MAX_BYTES:
        raise TooMuch("too_large", f"The drawing is over {MAX_BYTES // 1024} KiB.")


def check_tree(root: etree._Element) -> None:
    """Depth and number of elements, without recursion."""
    depths: dict[etree._Element | None, int] = {root: 1}
    for element in root.iterdescendants():
        depths[element] = depth = depths[element.getparent()] + 1
        if depth > MAX_DEPTH:
            raise TooMuch("too_deep", f"Elements are nested more than {MAX_DEPTH} deep.")
    if len(depths) > MAX_ELEMENTS:
        raise TooMuch("too_complex", f"The drawing has {len(depths)} elements; {MAX_ELEMENTS} are allowed.")


def check_cost(root: etree._Element) -> set[str]:
    """What the browser would draw, by arithmetic on the judged copy: points, expanded elements, filter work.

    Returns flags: `reference_cycle` where a part refers to itself, which browsers do not draw.
    """
    elements = list(root.iter("*"))  # held to the end: lxml would make each of them anew for every walk
    for element in elements:
        _check_numbers(element, local(element))
    most, what = MAX_PAINT, "it"
    if _moves(root):
        most, what, root = MAX_FRAME, "each frame of it", worst_moment(root)
    points = _count_points(root)
    if points > MAX_POINTS:
        raise TooMuch("too_complex", f"The drawing has {points} points; {MAX_POINTS} are allowed.")
    dashes = Dashes(root)
    cost, has_cycle = _expand(root, points, Painting(Guess(root), dashes))
    if cost.paint > most and cost.elements <= MAX_EXPANDED:  # then it is worth a closer look
        cost, has_cycle = _expand(root, points, Painting(Areas(root), dashes))
    if cost.elements > MAX_EXPANDED:
        raise TooMuch("too_complex", f"Drawn out, its references make more than {MAX_EXPANDED} elements.")
    if cost.paint > most:
        seconds = f"{cost.paint / 1e6:.1f}" if cost.paint < ENOUGH else "1000 or more"
        sentence = f"A browser would paint {what} for about {seconds} seconds; {most / 1e6:g} is allowed."
        raise TooMuch("too_complex", sentence)
    return {"reference_cycle"} if has_cycle else set()


def _moves(root: etree._Element) -> bool:
    """Whether a browser paints it anew while it is looked at."""
    return any(
        local(element) in ANIMATION or (local(element) == "style" and "keyframes" in (element.text or "").lower())
        for element in root.iter("*")
    )


def _count_points(root: etree._Element) -> int:
    """Points of the drawing, or, where that is enough to know, no fewer than it has: a point takes two characters."""
    most = sum(len(element.get("d", "")) + len(element.get("points", "")) for element in root.iter("*")) // 2
    if most <= MAX_POINTS and root.find(".//{*}marker") is None:
        return most
    return sum(_points(element) for element in root.iter("*"))


def _points(element: etree._Element) -> int:
    data, listed = element.get("d"), element.get("points")
    return (count_path_points(data) if data else 0) + (count_listed_points(listed) if listed else 0)


def _check_numbers(element: etree._Element, name: str) -> None:
    """Filter parameters, also those an animation would set, stay within what a screen can show."""
    if name in PRIMITIVES:
        _check_caps({key: element.get(key, "") for key in CAPS})
    elif name in ANIMATION:
        values = " ".join(element.get(key, "") for key in ("values", "from", "to", "by"))
        _check_caps({element.get("attributeName", "").strip(): values})
    elif name == "filter":
        _check_region(dict(attributes_of(element)))
    for functions in (element.get("style", ""), element.get("filter", "")):
        if "(" in functions:
            _check_functions(functions)


def _check_caps(values: dict[str, str]) -> None:
    for key, value in values.items():
        if key in CAPS and max(numbers(value), default=0) > CAPS[key]:
            raise TooMuch("too_complex", f"A filter's {key} is over {CAPS[key]:g}.")


def _check_functions(text: str) -> None:
    for inside in FILTER_FUNCTION.findall(text):
        if max(numbers(inside), default=0) > CAPS["stdDeviation"]:
            raise TooMuch("too_complex", "A blur or shadow is too wide.")


def _check_region(values: dict[str, str]) -> None:
    for side in REGION:
        text = values.get(side, "")
        number = max(numbers(text), default=0) / (100 if "%" in text else 1)
        limit = 1e5 if values.get("filterUnits") == "userSpaceOnUse" and "%" not in text else MAX_REGION
        if number > limit:
            raise TooMuch("too_complex", "A filter's region is too large.")


def _region(filtered: etree._Element, element: etree._Element, painting: Painting) -> float:
    """The share of the canvas that a filter works on where an element asks for it."""
    whole = filtered.get("filterUnits") == "userSpaceOnUse"
    sides = [filtered.get(side, "120%") for side in ("width", "height")]
    if whole or any(numbers(side) == [] for side in sides):
        return painting.beyond(filtered)
    width, height = (max(numbers(side)) / (100 if "%" in side else 1) for side in sides)
    share = painting.areas.share(element, times=(width, height))
    return share * painting.beyond(filtered) if max(width, height) > USUAL_REGION else share


def _expand(root: etree._Element, points: int, painting: Painting) -> tuple[Cost, bool]:
    """Cost of the whole drawing with each reference drawn out, and whether one leads back to itself, in one walk.

    A node is an element, or a bucket of stylesheet references (`.class`, `#id`, `tag`, `*`) that the elements it may
    match share. Each node is summed once, after what it leads to; a reference back to an open node adds nothing, as
    browsers refuse to draw cycles.
    """
    targets = {name: element for element in root.iter("*") if (name := element.get("id"))}
    buckets = _stylesheet_references(root, targets, painting.areas.largest_scale)
    known: dict[Node, Cost] = {}
    opened: dict[Node, list[Edge]] = {}
    stack: list[Node] = [root]
    has_cycle = False
    while stack:
        node = stack[-1]
        if node in known:
            stack.pop()
        elif node in opened:
            stack.pop()
            own = Cost(0, buckets[node][1], buckets[node][1]) if isinstance(node, tuple) else _own_cost(node, painting)
            known[node] = _sum(own, opened[node], known)
        else:
            opened[node] = edges = _edges(node, targets, buckets, points, painting)
            stack.extend(edge.to for edge in edges if edge.to not in opened)
            if not isinstance(node, tuple):  # a bucket stands for more elements than a rule may match
                has_cycle = has_cycle or any(
                    edge.to in opened and edge.to not in known for edge in edges if not isinstance(edge.to, tuple)
                )
    return known[root], has_cycle


def _own_cost(element: etree._Element, painting: Painting) -> Cost:
    whole, outline = painting.whole(element), ELEMENT + painting.outline(element, _points(element))
    name = local(element)
    if name == "filter":
        return Cost(1, 0.0, whole)  # only where it is asked for
    if name.endswith("Gradient"):  # paint: its stops are no elements that a browser draws
        return Cost(0, gradient_cost(element), gradient_cost(element))
    return Cost(1, outline + painting.areas.share(element) * whole, outline + whole)


def _sum(own: Cost, edges: list[Edge], known: dict[Node, Cost]) -> Cost:
    elements, paint, whole = own.elements, own.paint, own.whole
    for edge in edges:
        more = known.get(edge.to, Cost())
        elements += edge.times * more.elements
        paint += edge.times * (more.paint if edge.share is None else FILTERED + edge.share * more.whole)
        whole += edge.times * more.whole
    return Cost(min(elements, ENOUGH), min(paint, ENOUGH), min(whole, ENOUGH))


def _edges(
    node: Node, targets: dict[str, etree._Element], buckets: Buckets, points: int, painting: Painting
) -> list[Edge]:
    """What a node leads to and how many times."""
    if isinstance(node, tuple):
        return [Edge(target, max(1, points) if local(target) == "marker" else 1) for target in buckets[node][0]]
    edges = [] if local(node).endswith("Gradient") else [Edge(child) for child in node]
    own: int | None = None
    for key, value in attributes_of(node):
        if key != "href" and "(" not in value:  # nearly all are numbers, colours and words
            continue
        names = [value[1:]] if key == "href" else LOCAL_URL.findall(value)
        for target in (targets[name] for name in names if name in targets):
            if local(target) == "marker":
                own = _points(node) if own is None else own
                edges.append(Edge(target, max(1, own or points), share=1.0))
            elif local(target) == "filter":
                edges.append(Edge(target, share=_region(target, node, painting)))
            elif key == "href":
                edges.append(Edge(target, share=1.0 if painting.areas.enlarges(node, target) else None))
            else:
                edges.append(Edge(target))
    if buckets:
        share = painting.areas.share(node)
        edges += [Edge(key, share=min(1.0, 1.44 * share)) for key in selectors_of(node) if key in buckets]
    return edges


def _stylesheet_references(root: etree._Element, targets: dict[str, etree._Element], scale: float) -> Buckets:
    """References and costs in stylesheets, by the last simple selector: a class, an id, a tag, or everything."""
    referred: dict[tuple[str, str], dict[etree._Element, None]] = defaultdict(dict)
    costs: dict[tuple[str, str], float] = defaultdict(float)
    for selectors, body in stylesheet_rules(root):
        _check_functions(body)
        named = [targets[name] for name in LOCAL_URL.findall(body) if name in targets]
        own = declared_cost(body, scale)
        for key in selectors if named or own else []:
            referred[key] |= dict.fromkeys(named)
            costs[key] = max(costs[key], own)
    return {key: (list(value), costs[key]) for key, value in referred.items()}
