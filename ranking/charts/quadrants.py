"""Numbers to SVG: how much was drawn against how good it looks, with the four quadrants named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from xml.sax.saxutils import escape

from ranking.charts.intervals import Scale, padded, ticks
from ranking.charts.markers import marker
from ranking.charts.plots import place_labels
from ranking.charts.svg import INK, LINE, SOFT, Svg, line, picture, tag, text

SHORT = 28  # letters of a name
WIDTH, HEIGHT = 820, 460
LEFT, RIGHT, TOP, BOTTOM = 60, 790, 30, 400
CORNERS = {
    "Minimal": (LEFT + 8, TOP + 18, "start"),
    "Refined": (RIGHT - 8, TOP + 18, "end"),
    "Crude": (LEFT + 8, BOTTOM - 10, "start"),
    "Cluttered": (RIGHT - 8, BOTTOM - 10, "end"),
}


@dataclass(frozen=True)
class Dot:
    """A drawing, or with `name` and `number` an entrant's mean; `link` leads to the picture behind it."""

    anchors: float
    visual: float
    title: str  # lines of the tip, with a bar between them
    link: str = ""
    name: str = ""
    number: int = 0  # the entrant's place in the order of entry, which gives its marker


def quadrant_of(dot: Dot, *, anchors: float, visual: float) -> str:
    """Where a point lies against the medians; on a line it counts as low."""
    if dot.visual > visual:
        return "Refined" if dot.anchors > anchors else "Minimal"
    return "Cluttered" if dot.anchors > anchors else "Crude"


def medians(dots: Sequence[Dot]) -> tuple[float, float]:
    """Of anchors and of visual scores."""
    return median(dot.anchors for dot in dots), median(dot.visual for dot in dots)


def quadrant_chart(dots: Sequence[Dot], entrants: Sequence[Dot]) -> Svg:
    """Drawings as small dots, entrants as large named ones; medians of the drawings as lines, anchors on a log scale."""
    xs = Scale(*padded([math.log10(1 + dot.anchors) for dot in dots]), LEFT, RIGHT)
    ys = Scale(0, 100, BOTTOM, TOP)
    anchors, visual = medians(dots)
    parts: list[str] = [*axes(xs, ys), *middle_lines(xs.at(math.log10(1 + anchors)), ys.at(visual), anchors, visual)]
    parts += [text(x, y, name, anchor=at, soft=True, size=14) for name, (x, y, at) in CORNERS.items()]
    parts += [small_dot(dot, xs.at(math.log10(1 + dot.anchors)), ys.at(dot.visual)) for dot in dots]
    names = [dot.name if len(dot.name) <= SHORT else f"{dot.name[: SHORT - 1]}…" for dot in entrants]
    places = [(xs.at(math.log10(1 + dot.anchors)), ys.at(dot.visual)) for dot in entrants]
    labels = place_labels(names, places, (LEFT, TOP, WIDTH - 4, BOTTOM))
    parts += [large_dot(dot, *place) for dot, place in zip(entrants, places, strict=True)]
    parts += [name_of_dot(name, *put) for name, put in zip(names, labels, strict=True) if put]
    return picture(WIDTH, HEIGHT, "Anchors against visual score", "".join(parts), role="group")


def axes(xs: Scale, ys: Scale) -> list[str]:
    parts: list[str] = [line(LEFT, BOTTOM, RIGHT, BOTTOM, kind="axis", colour="#8f8a80")]
    for value in ticks(0, 100):
        parts.append(line(LEFT, ys.at(value), RIGHT, ys.at(value), kind="grid", colour=LINE))
        parts.append(text(LEFT - 8, ys.at(value) + 4, f"{value:g}", anchor="end", soft=True, size=12))
    for value in (0, 3, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10000):
        if xs.low <= math.log10(1 + value) <= xs.high:
            place = xs.at(math.log10(1 + value))
            parts.append(line(place, BOTTOM, place, BOTTOM + 5, kind="axis", colour="#8f8a80"))
            parts.append(text(place, BOTTOM + 20, f"{value:g}", anchor="middle", soft=True, size=12))
    parts.append(text((LEFT + RIGHT) / 2, HEIGHT - 14, "anchors of a drawing", anchor="middle", soft=True))
    parts.append(text(8, 16, "visual score", soft=True, size=12))
    return parts


def middle_lines(x: float, y: float, anchors: float, visual: float) -> list[str]:
    return [
        line(x, TOP, x, BOTTOM, kind="axis", colour="#8f8a80"),
        line(LEFT, y, RIGHT, y, kind="axis", colour="#8f8a80"),
        text(x, TOP - 8, f"median {anchors:g}", anchor="middle", soft=True, size=12),
        text(RIGHT, y - 5, f"median {visual:.0f}", anchor="end", soft=True, size=12),
    ]


def small_dot(dot: Dot, x: float, y: float) -> str:
    spoken = dot.title.replace("|", ", ")
    circle = tag("circle", cx=x, cy=y, r=4, class_="drawn", fill="none", stroke=SOFT)
    shape = tag("title", escape(spoken)) + circle
    if dot.link:
        return tag("a", shape, href=dot.link, aria_label=spoken, data_tip=dot.title)
    return tag("g", shape, data_tip=dot.title)


def large_dot(dot: Dot, x: float, y: float) -> str:
    spoken = dot.title.replace("|", ", ")
    shape = tag("title", escape(spoken)) + marker(dot.number, x, y, size=7)
    return tag("g", shape, class_="point", tabindex=0, role="img", aria_label=spoken, data_tip=dot.title)


def name_of_dot(name: str, x: float, y: float, anchor: str) -> str:
    place = {"x": x, "y": y, "text_anchor": anchor, "font_size": 13, "font_weight": 600}
    return tag("text", escape(name), **place, fill=INK, class_="ink named")
