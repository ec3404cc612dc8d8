"""The structural gate: what a drawing would cost a browser, counted before any browser sees it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from lxml import etree

from generation.formats.svg.css import LOCAL_URL, NESTING, at_word
from generation.formats.svg.dashes import Dashes
from generation.formats.svg.names import ANIMATION, PRIMITIVES, SHAPES
from generation.formats.svg.parsing import attributes_of, local
from generation.formats.svg.paths import count_listed_points, count_path_points
from generation.formats.svg.tokens import Css, Tokens, rules_of

MAX_BYTES = 512 * 1024
MAX_DEPTH = 100
MAX_ELEMENTS = 5_000
MAX_EXPANDED = 10_000  # elements once every `use`, pattern, mask, clip and marker stands where it is used
MAX_LAYERS = 600  # filter primitives, masks, patterns and blended groups, weighed by what they cost, so expanded
MAX_POINTS = 20_000
MAX_DASHES = 100_000
MANY_STOPS = 100  # a gradient with more is counted wherever it is used

CAPS = {"numOctaves": 12.0, "stdDeviation": 150.0, "radius": 200.0, "order": 15.0}
WEIGHTS = {"feGaussianBlur": 3, "feDropShadow": 3, "feDiffuseLighting": 10, "feSpecularLighting": 10}
REGION = ("x", "y", "width", "height")
MAX_BOX = 200  # characters of a view box that are looked at, for each filter anew
MAX_REGION = 50.0  # times the box it is applied to; what it costs is counted by its area
FILTER_FUNCTION = re.compile(r"\b(?:blur|drop-shadow)\(([^)]*)", re.IGNORECASE)
NUMBER = re.compile(r"\d*\.?\d+(?:[eE][+-]?\d+)?")
COMPOUND = re.compile(r"[\s>+~]+")
LAYERED = re.compile(r"(?:^|;)(?:mix-blend-mode|(?:-webkit-)?(?:filter|mask(?:-image|-box-image)?)):(?!normal|none)")
FUNCTIONS = re.compile(r"\b(?:blur|drop-shadow)\(", re.IGNORECASE)
BRACKETED = re.compile(r"\([^()]*+\)")
CHAINED = 10  # a blur of a blur costs as much as its own filter
FREE_SHADOWS = 8  # of one text; more are a blur each
SHADOWS = re.compile(r"(?:^|;)text-shadow:([^;]*+)")
FADED = re.compile(r"(?:^|;)opacity:(?!1\b)")
ENOUGH = 10**9  # sums stop growing here, so that a bomb costs no big integers

Node = etree._Element | tuple[str, str]
Cost = tuple[int, int, int]  # elements, layers, dashes
Buckets = dict[tuple[str, str], tuple[list[etree._Element], int]]  # selector -> what it refers to, its own layers


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
    for element in root.iter("*"):
        _check_numbers(element, local(element))
    points = _count_points(root)
    if points > MAX_POINTS:
        raise TooMuch("too_complex", f"The drawing has {points} points; {MAX_POINTS} are allowed.")
    (elements, layers, dashes), has_cycle = _expand(root, points)
    if elements > MAX_EXPANDED:
        raise TooMuch("too_complex", f"Drawn out, its references make more than {MAX_EXPANDED} elements.")
    if layers > MAX_LAYERS:
        raise TooMuch("too_complex", f"Its filters and masks cost {layers} units; {MAX_LAYERS} are allowed.")
    if dashes > MAX_DASHES:
        raise TooMuch("too_complex", f"Its strokes are cut into {dashes} dashes; {MAX_DASHES} are allowed.")
    return {"reference_cycle"} if has_cycle else set()


def _count_points(root: etree._Element) -> int:
    """Points of the drawing, or, where that is enough to know, no fewer than it has: a point takes two characters."""
    most = sum(len(element.get("d", "")) + len(element.get("points", "")) for element in root.iter("*")) // 2
    if most <= MAX_POINTS and root.find(".//{*}marker") is None:
        return most
    return sum(_points(element) for element in root.iter("*"))


def _points(element: etree._Element) -> int:
    data, listed = element.get("d"), element.get("points")
    return (count_path_points(data) if data else 0) + (count_listed_points(listed) if listed else 0)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]


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
        if key in CAPS and max(_numbers(value), default=0) > CAPS[key]:
            raise TooMuch("too_complex", f"A filter's {key} is over {CAPS[key]:g}.")


def _check_functions(text: str) -> None:
    for inside in FILTER_FUNCTION.findall(text):
        if max(_numbers(inside), default=0) > CAPS["stdDeviation"]:
            raise TooMuch("too_complex", "A blur or shadow is too wide.")


def _check_region(values: dict[str, str]) -> None:
    for side in REGION:
        text = values.get(side, "")
        number = max(_numbers(text), default=0) / (100 if "%" in text else 1)
        limit = 1e5 if values.get("filterUnits") == "userSpaceOnUse" and "%" not in text else MAX_REGION
        if number > limit:
            raise TooMuch("too_complex", "A filter's region is too large.")


def _region_factor(element: etree._Element) -> int:
    """How many times the usual area a filter works on; up to twice the box each way is usual."""
    box = _numbers(element.getroottree().getroot().get("viewBox", "")[-MAX_BOX:])[-2:]
    box = box if len(box) == 2 else [300.0, 150.0]
    area = 1.0
    for side, length in zip(("width", "height"), box, strict=True):
        text = element.get(side, "120%")
        whole = 100.0 if "%" in text else length if element.get("filterUnits") == "userSpaceOnUse" else 1.0
        area *= max(_numbers(text), default=1.2) / max(whole, 1e-9)
    return max(1, min(ENOUGH, int(area / 4)))


def _own_layers(element: etree._Element, name: str) -> int:
    if name == "feTurbulence":
        return 1 + 2 * int(max(_numbers(element.get("numOctaves", "")), default=1))
    if name == "feConvolveMatrix":
        order = int(max(_numbers(element.get("order", "")), default=3))
        return 1 + order * order // 3
    if name == "feMorphology":
        return 1 + int(max(_numbers(element.get("radius", "")), default=0)) // 5
    if name in PRIMITIVES:
        return WEIGHTS.get(name, 1)
    style = element.get("style", "")
    layered = name in ("mask", "pattern") or "(" in element.get("filter", "")
    # Fading a shape is cheap; fading a group asks for a layer of its own.
    faded = name not in SHAPES and (element.get("opacity", "1") != "1" or FADED.search(style) is not None)
    chained = CHAINED * max(0, len(FUNCTIONS.findall(element.get("filter", ""))) - 1)
    return max(int(layered or faded) + chained, _declared_layers(style))


def _declared_layers(style: str) -> int:
    """Layers that declarations ask for: filters, masks and blending, blurs after the first, and shadows of text."""
    chained = max(0, len(FUNCTIONS.findall(style)) - 1)
    shadows = sum(1 + BRACKETED.sub("", value).count(",") for value in SHADOWS.findall(style))
    return int(LAYERED.search(style) is not None) + CHAINED * chained + CHAINED * max(0, shadows - FREE_SHADOWS)


def _expand(root: etree._Element, points: int) -> tuple[Cost, bool]:
    """Cost of the whole drawing with each reference drawn out, and whether one leads back to itself, in one walk.

    A node is an element, or a bucket of stylesheet references (`.class`, `#id`, `tag`, `*`) that the elements it may
    match share. Each node is summed once, after what it leads to; a reference back to an open node adds nothing, as
    browsers refuse to draw cycles.
    """
    targets = {name: element for element in root.iter("*") if (name := element.get("id"))}
    buckets = _stylesheet_references(root, targets)
    dashes = Dashes(root)
    known: dict[Node, Cost] = {}
    opened: dict[Node, list[tuple[Node, int]]] = {}
    stack: list[Node] = [root]
    has_cycle = False
    while stack:
        node = stack[-1]
        if node in known:
            stack.pop()
        elif node in opened:
            stack.pop()
            own = (0, buckets[node][1], 0) if isinstance(node, tuple) else _own_cost(node, dashes)
            known[node] = _sum(node, own, opened[node], known)
        else:
            opened[node] = edges = _edges(node, targets, buckets, points)
            stack.extend(other for other, _ in edges if other not in opened)
            if not isinstance(node, tuple):  # a bucket stands for more elements than a rule may match
                has_cycle = has_cycle or any(
                    other in opened and other not in known for other, _ in edges if not isinstance(other, tuple)
                )
    return known[root], has_cycle


def _own_cost(element: etree._Element, dashes: Dashes) -> Cost:
    return 1, _own_layers(element, local(element)), dashes.count(element)


def _sum(node: Node, own: Cost, edges: list[tuple[Node, int]], known: dict[Node, Cost]) -> Cost:
    elements, layers, dashes = own
    for other, times in edges:
        more = known.get(other, (0, 0, 0))
        elements += times * more[0]
        layers += times * more[1]
        dashes += times * more[2]
    if not isinstance(node, tuple) and local(node) == "filter":
        layers *= _region_factor(node)
    return min(elements, ENOUGH), min(layers, ENOUGH), min(dashes, ENOUGH)


def _edges(node: Node, targets: dict[str, etree._Element], buckets: Buckets, points: int) -> list[tuple[Node, int]]:
    """What a node leads to and how many times."""
    if isinstance(node, tuple):
        return [(target, max(1, points) if local(target) == "marker" else 1) for target in buckets[node][0]]
    edges: list[tuple[Node, int]] = [(child, 1) for child in node]
    own: int | None = None
    for key, value in attributes_of(node):
        if "#" not in value:
            continue
        found = [value[1:]] if key == "href" else LOCAL_URL.findall(value)
        for target in (targets[name] for name in found if name in targets):
            if local(target) == "marker":
                own = _points(node) if own is None else own
                edges.append((target, max(1, own or points)))
            elif _is_counted(target):
                edges.append((target, 1))
    if buckets:
        words = [(".", word) for word in node.get("class", "").split()]
        keys = [*words, ("#", node.get("id", "")), ("", local(node)), ("*", "")]
        edges += [(key, 1) for key in keys if key in buckets]
    return edges


def _is_counted(target: etree._Element) -> bool:
    """Gradients are paint, not elements, and cost nothing, unless they have very many stops."""
    return not local(target).endswith("Gradient") or len(target) > MANY_STOPS


def _stylesheet_references(root: etree._Element, targets: dict[str, etree._Element]) -> Buckets:
    """References and layers in stylesheets, by the last simple selector: a class, an id, a tag, or everything."""
    referred: dict[tuple[str, str], dict[etree._Element, None]] = defaultdict(dict)
    layers: dict[tuple[str, str], int] = defaultdict(int)
    for style in root.iter("{*}style"):
        css = Css(style.text or "")
        for prelude, body in _rules(css, css.tokens):
            _check_functions(body)
            named = [targets[name] for name in LOCAL_URL.findall(body) if name in targets]
            counted = [target for target in named if _is_counted(target)]
            own = _declared_layers(body)
            for selector in prelude.split(",") if counted or own else []:
                key = _bucket(selector)
                referred[key] |= dict.fromkeys(counted)
                layers[key] = max(layers[key], own)
    # Filters are what stylesheets refer to most: a reference stands for one more layer on each element it matches.
    return {key: (list(value), max(1, layers[key])) for key, value in referred.items()}


def _rules(css: Css, tokens: Tokens) -> Iterator[tuple[str, str]]:
    """(selector, declarations) of each rule of a cleaned stylesheet; what keyframes declare may reach everything."""
    for prelude, body in rules_of(tokens):
        word = at_word(prelude)
        if word in NESTING:
            yield from _rules(css, body or ())
        elif word:
            yield from (("*", css.write(inside or ())) for _, inside in rules_of(body or ()))
        else:
            yield css.write(prelude), css.write(body or ())


def _bucket(selector: str) -> tuple[str, str]:
    last = COMPOUND.split(selector.strip())[-1].partition(":")[0].partition("[")[0]
    for mark in "#.":
        if mark in last:
            word = re.split(r"[.#]", last.partition(mark)[2])[0]
            return mark, word
    return ("", last) if last and last != "*" else ("*", "")
