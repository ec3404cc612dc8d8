"""Numbers to SVG: cost against rating, and ratings over votes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

from ranking.charts.intervals import (
    ACCENT,
    INK,
    LINE,
    SOFT,
    Interval,
    Scale,
    Svg,
    interval_scale,
    line,
    padded,
    picture,
    scale_ticks,
    tag,
    text,
    ticks,
)

MARKS = ("circle", "square", "diamond", "triangle", "cross")  # distinct without colour
LETTER = 7.2  # width of a letter of 13 px, on average
SHIFTS = (-6, 5, 16, -20, 30, -34)  # where a name's line may stand, from its dot
Box = tuple[float, float, float, float]  # left, top, right, bottom
SERIES = ("#0b5cad", "#8a5300", "#1d6b3a", "#7a3e9d", "#a8251d", "#4a5a6a")


@dataclass(frozen=True)
class Point:
    """One entrant in a scatter plot."""

    label: str
    x: float
    y: float
    low: float | None
    high: float | None


def scatter(points: Sequence[Point], *, label: str, x_label: str, y_label: str) -> Svg:
    """Cost (a log scale where costs spread tenfold and more) against rating, each dot with its name and interval."""
    width, height = 720, 380
    positive = [p.x for p in points if p.x > 0]
    logarithmic = len(positive) == len(points) > 0 and max(positive) >= 10 * min(positive)
    across = [math.log10(p.x) if logarithmic else p.x for p in points]
    xs, ys = Scale(*padded(across, share=0.1), 60, width - 30), interval_scale(as_intervals(points), start=330, end=16)
    parts: list[str] = [line(60, 330, width - 30, 330, kind="axis", colour="#8f8a80")]
    for t in scale_ticks(ys):
        parts += [line(60, ys.at(t), width - 30, ys.at(t), kind="grid", colour=LINE)]
        parts += [text(52, ys.at(t) + 4, f"{t:g}", anchor="end", soft=True, size=12)]
    for value in x_ticks(xs, logarithmic=logarithmic):
        place = xs.at(math.log10(value) if logarithmic else value)
        parts.append(line(place, 330, place, 335, kind="axis", colour="#8f8a80"))
        parts.append(text(place, 350, f"{value:.6g}", anchor="middle", soft=True, size=12))
    places = [(xs.at(at), ys.at(point.y)) for point, at in zip(points, across, strict=True)]
    lines = [
        (x - 2, ys.at(high), x + 2, ys.at(low)) for (x, _), (low, high) in zip(places, reaches(points, ys), strict=True)
    ]
    labels = place_labels([point.label for point in points], places, (60, 16, width - 4, 326), avoid=lines)
    for point, (x, _), put in zip(points, places, labels, strict=True):
        parts.append(scatter_point(point, x, ys, put))
    parts += [text(width / 2, 372, x_label, anchor="middle", soft=True), text(8, 12, y_label, soft=True, size=12)]
    return picture(width, height, label, "".join(parts))


def as_intervals(points: Sequence[Point]) -> list[Interval]:
    return [Interval(p.label, p.y, p.low, p.high) for p in points]


def x_ticks(scale: Scale, *, logarithmic: bool) -> list[float]:
    if not logarithmic:
        return [t for t in ticks(scale.low, scale.high) if t >= 0]
    powers = range(math.floor(scale.low), math.ceil(scale.high) + 1)
    return [v for p in powers for v in (10.0**p, 3 * 10.0**p) if scale.low <= math.log10(v) <= scale.high]


def scatter_point(point: Point, x: float, ys: Scale, put: tuple[float, float, str] | None) -> str:
    """A dot with its interval; its name stands at `put` (x, y, anchor), or only on hover where there is no room."""
    [(low, high)] = reaches([point], ys)
    parts: list[str] = [line(x, ys.at(low), x, ys.at(high), kind="reach", colour=INK, width=1.5)]
    named = tag("title", escape(f"{point.label}: {point.y:.0f}"))
    parts.append(tag("circle", named, cx=x, cy=ys.at(point.y), r=5, class_="dot", fill=ACCENT))
    if put:
        parts.append(text(put[0], put[1], point.label, anchor=put[2]))
    return "".join(parts)


def reaches(points: Sequence[Point], ys: Scale) -> list[tuple[float, float]]:
    """Both ends of each interval; one without a limit goes to the edge."""
    return [(ys.low if p.low is None else p.low, ys.high if p.high is None else p.high) for p in points]


def place_labels(
    labels: Sequence[str], places: Sequence[tuple[float, float]], frame: Box, *, avoid: Sequence[Box] = ()
) -> list[tuple[float, float, str] | None]:
    """(x, y, anchor) for the name of each dot, so that none lies on another, on a dot or on what is to be avoided.

    None where no place is free.

    Tried around the dot: right and left of it, then ever further above and below; `frame` is left, top, right, bottom.
    """
    taken = [*avoid, *((x - 6, y - 6, x + 6, y + 6) for x, y in places)]
    anchors: list[tuple[float, float, str] | None] = []
    for label, (x, y) in zip(labels, places, strict=True):
        wide = LETTER * len(label)
        tries = [(side, shift) for shift in SHIFTS for side in ("start", "end")]
        boxes = {(side, s): label_box(x, y + s, wide, side) for side, s in tries}
        free = (
            key for key, box in boxes.items() if inside(box, frame) and not any(touch(box, other) for other in taken)
        )
        key = next(free, None)
        if key:
            taken.append(boxes[key])
        anchors.append((x + 10 if key[0] == "start" else x - 10, y + key[1], key[0]) if key else None)
    return anchors


def label_box(x: float, baseline: float, wide: float, side: str) -> Box:
    return (
        (x + 10, baseline - 11, x + 10 + wide, baseline + 4)
        if side == "start"
        else (x - 10 - wide, baseline - 11, x - 10, baseline + 4)
    )


def inside(box: Box, frame: Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def touch(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@dataclass(frozen=True)
class Series:
    """One entrant's rating after so many votes: (votes, rating, low, high)."""

    label: str
    points: tuple[tuple[float, float, float | None, float | None], ...]


def history_chart(series: Sequence[Series], *, label: str) -> Svg:
    """Ratings over votes; each line ends in its name, and has a mark of its own where there are few enough."""
    width, height, right = 860, 400, 620
    xs = Scale(0, max((p[0] for s in series for p in s.points), default=1), 60, right)
    settled = [p for s in series for p in s.points[len(s.points) // 4 :]]
    ys = Scale(*padded([p[1] for p in settled], share=0.15), 350, 16)
    parts: list[str] = []
    for t in scale_ticks(ys):
        parts += [line(60, ys.at(t), right, ys.at(t), kind="grid", colour=LINE)]
        parts += [text(52, ys.at(t) + 4, f"{t:g}", anchor="end", soft=True, size=12)]
    for t in ticks(0, xs.high):
        parts += [text(xs.at(t), 370, f"{t:g}", anchor="middle", soft=True, size=12)]
    places = spread_labels([ys.at(s.points[-1][1]) for s in series if s.points], gap=17)
    for number, (one, y) in enumerate(zip([s for s in series if s.points], places, strict=True)):
        parts.append(history_line(one, number, xs, ys, label_y=y))
    parts.append(text((60 + right) / 2, 392, "votes", anchor="middle", soft=True))
    return picture(width, height, label, "".join(parts))


def history_line(one: Series, number: int, xs: Scale, ys: Scale, *, label_y: float) -> str:
    colour, kind = SERIES[number % len(SERIES)], f"series series-{number % len(SERIES)}"
    places = [(xs.at(votes), ys.at(rating)) for votes, rating, *_ in one.points]
    path = " ".join(f"{x:g},{y:g}" for x, y in places)
    parts: list[str] = [tag("polyline", points=path, fill="none", stroke=colour, stroke_width=2, class_=kind)]
    parts += [mark(MARKS[number % len(MARKS)], x, y, kind, colour) for x, y in places[:: max(1, len(places) // 8)]]
    end_x, end_y = places[-1]
    parts.append(line(end_x, end_y, end_x + 14, label_y, kind="lead", colour=SOFT))
    parts.append(mark(MARKS[number % len(MARKS)], end_x + 22, label_y, kind, colour))
    parts.append(text(end_x + 32, label_y + 4, one.label))
    return "".join(parts)


def mark(shape: str, x: float, y: float, kind: str, colour: str) -> str:
    kind = kind.replace("series ", "mark ")
    if shape == "circle":
        return tag("circle", cx=x, cy=y, r=4, class_=kind, fill=colour)
    if shape == "square":
        return tag("rect", x=x - 3.5, y=y - 3.5, width=7, height=7, class_=kind, fill=colour)
    corners = {
        "diamond": ((0, -5), (5, 0), (0, 5), (-5, 0)),
        "triangle": ((0, -5), (5, 4), (-5, 4)),
        "cross": ((-1.5, -5), (1.5, -5), (1.5, 5), (-1.5, 5)),
    }[shape]
    return tag("polygon", points=" ".join(f"{x + a:g},{y + b:g}" for a, b in corners), class_=kind, fill=colour)


def spread_labels(places: Sequence[float], *, gap: float) -> list[float]:
    """The same heights, moved apart just enough that no two labels touch."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    result = list(places)
    for before, after in pairwise(order):
        result[after] = max(result[after], result[before] + gap)
    overshoot = max([result[i] for i in order[-1:]], default=0) - 356
    if overshoot > 0 and order:
        result[order[-1]] -= overshoot
        for after, before in pairwise(order[::-1]):
            result[before] = min(result[before], result[after] - gap)
    return result
