"""Numbers to SVG: quality against what an answer takes, with the frontier as a step line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ranking.charts.intervals import Interval, Scale, interval_scale, padded, ticks
from ranking.charts.markers import marker
from ranking.charts.plots import STRONG, Box, Frame, place_labels, value_axis
from ranking.charts.svg import ACCENT, INK, Svg, line, picture, tag, text

DESK, PHONE = Frame(860, 500, 76, 836, 20, 436), Frame(358, 400, 58, 350, 16, 340)
SHORT = 28  # letters of a name
DIGIT = 7  # width of a digit of 12 px
WORD = 48  # of "frontier"


@dataclass(frozen=True)
class FrontierPoint:
    """One entrant: what an answer takes, its quality with the 95% interval, and whether it is on the frontier."""

    label: str
    number: int
    x: float
    y: float
    low: float | None
    high: float | None
    on: bool
    tip: str = ""  # lines of the tip, with a bar between them


def frontier_chart(
    points: Sequence[FrontierPoint], *, label: str, x_label: str, y_label: str, frame: Frame = DESK
) -> Svg:
    """Each entrant with its marker, name and interval; a log scale where what answers take spreads tenfold and more."""
    positive = [p.x for p in points if p.x > 0]
    logarithmic = len(positive) == len(points) > 0 and max(positive) >= 10 * min(positive)
    across = [math.log10(p.x) if logarithmic else p.x for p in points]
    xs = Scale(*padded(across, share=0.08), frame.left, frame.right)
    ys = interval_scale([Interval(p.label, p.y, p.low, p.high) for p in points], start=frame.bottom, end=frame.top)
    places = [(xs.at(at), ys.at(point.y)) for point, at in zip(points, across, strict=True)]
    reaches = [
        (ys.at(ys.low if p.low is None else p.low), ys.at(ys.high if p.high is None else p.high)) for p in points
    ]
    treads = treads_of(points, places, end=frame.right)
    parts = [axes(xs, ys, x_label, y_label, frame, logarithmic=logarithmic), steps(treads)]
    whiskers = [(x - 2, high, x + 2, low) for (x, _), (low, high) in zip(places, reaches, strict=True)]
    if word := place_word(treads):
        parts.append(text(word[2], word[3] - 3, "frontier", anchor="end", size=12))
        whiskers.append(word)
    names = [short(point.label) for point in points]
    put = place_labels(names, places, (frame.left, frame.top - 12, frame.width - 4, frame.bottom), avoid=whiskers)
    for point, (x, y), (low, high), name, at in zip(points, places, reaches, names, put, strict=True):
        whisker = line(x, low, x, high, kind="reach", colour=INK, width=1.5)
        words = text(at[0], at[1], name, anchor=at[2]) if at else ""
        spoken = tag("title", escape(point.tip.replace("|", ", ") or point.label))
        parts.append(
            tag(
                "g",
                spoken + whisker + marker(point.number, x, y, size=6.5) + words,
                class_="point on" if point.on else "point",
                tabindex=0,
                role="img",
                aria_label=point.tip.replace("|", ", "),
                data_tip=point.tip,
                data_x=x,
                data_y=y,
            )
        )
    return picture(frame.width, frame.height, label, "".join(parts), role="group")


def short(name: str) -> str:
    return name if len(name) <= SHORT else f"{name[: SHORT - 1]}…"


def axes(xs: Scale, ys: Scale, x_label: str, y_label: str, frame: Frame, *, logarithmic: bool) -> str:
    parts: list[str] = [value_axis(ys, y_label, frame)]
    free = 0.0  # where the next number may begin
    for value in x_ticks(xs, logarithmic=logarithmic):
        place = xs.at(math.log10(value) if logarithmic else value)
        parts.append(line(place, frame.bottom, place, frame.bottom + 5, kind="axis", colour=STRONG))
        half = DIGIT * len(written(value)) / 2
        if place - half >= free and place + half <= frame.width:
            parts.append(text(place, frame.bottom + 20, written(value), anchor="middle", soft=True, size=12))
            free = place + half + DIGIT
    scale = "log scale; " if logarithmic else ""
    parts.append(text(frame.middle, frame.bottom + 46, f"{x_label} ({scale}left is less)", anchor="middle"))
    return "".join(parts)


def written(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.10f}".rstrip("0").rstrip(".") if value < 1 else f"{value:g}"


def x_ticks(scale: Scale, *, logarithmic: bool) -> list[float]:
    if not logarithmic:
        return [t for t in ticks(scale.low, scale.high) if t >= 0]
    powers = range(math.floor(scale.low), math.ceil(scale.high) + 1)
    return [v for p in powers for v in (10.0**p, 3 * 10.0**p) if scale.low <= math.log10(v) <= scale.high]


def treads_of(
    points: Sequence[FrontierPoint], places: Sequence[tuple[float, float]], *, end: float
) -> list[tuple[float, float, float]]:
    """The level parts of the frontier, (from x, to x, y), from the cheapest to the best: at each end a little more brings something better."""
    corners = sorted(place for point, place in zip(points, places, strict=True) if point.on)
    ends = [x for x, _ in corners[1:]] + [end]
    return [(x, to, y) for (x, y), to in zip(corners, ends, strict=True)]


def steps(treads: Sequence[tuple[float, float, float]]) -> str:
    path = " ".join(f"{x:g},{y:g}" for start, to, y in treads for x in (start, to))
    return tag("polyline", points=path, fill="none", stroke=ACCENT, stroke_width=2, class_="frontier") if path else ""


def place_word(treads: Sequence[tuple[float, float, float]]) -> Box | None:
    """Where "frontier" stands: below the best step that is long enough, for names stand above; nowhere if none is."""
    long = [(to, y) for start, to, y in treads if to - start >= WORD + 16]
    return (long[-1][0] - 6 - WORD, long[-1][1] + 3, long[-1][0] - 6, long[-1][1] + 17) if long else None
