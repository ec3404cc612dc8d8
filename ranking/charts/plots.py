"""Numbers to SVG: ratings over votes, and names that keep clear of what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

from ranking.charts.intervals import Scale, padded, tick_words, ticks
from ranking.charts.markers import look_of, marker, series_class
from ranking.charts.svg import INK, LINE, SOFT, Svg, line, picture, tag, text

LETTER = 7.2  # width of a letter of 13 px, on average
SHIFTS = (-6, 5, 16, -20, 30, -34)  # where a name's line may stand, from its dot
Box = tuple[float, float, float, float]  # left, top, right, bottom
STRONG = "#8f8a80"


@dataclass(frozen=True)
class Frame:
    """The size of a picture, and the edges of its plot."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


DESK, PHONE = Frame(1120, 460, 76, 860, 16, 396), Frame(358, 332, 58, 346, 16, 280)
ROOM_FOR_NAMES = 60  # beside the lines; else they stand below the chart
ROW = 24


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
    """One entrant's rating after so many votes: (votes, rating, low, high); `number` is its order of entry."""

    label: str
    points: tuple[tuple[float, float, float | None, float | None], ...]
    number: int = 0
    band: bool = False  # whether its interval is drawn too


def value_axis(ys: Scale, label: str, frame: Frame) -> str:
    """The line below, and a grid whose numbers and turned label stand left of it."""
    parts: list[str] = [line(frame.left, frame.bottom, frame.right, frame.bottom, kind="axis", colour=STRONG)]
    for t in ticks(ys.low, ys.high, wanted=6):
        parts.append(line(frame.left, ys.at(t), frame.right, ys.at(t), kind="grid", colour=LINE))
        parts.append(text(frame.left - 8, ys.at(t) + 4, tick_words(t), anchor="end", soft=True, size=12))
    x, y = (18 if frame.left > 60 else 11), (frame.top + frame.bottom) / 2
    turned = tag(
        "text",
        escape(label),
        x=x,
        y=y,
        transform=f"rotate(-90 {x:g} {y:g})",
        text_anchor="middle",
        font_size=13,
        fill=INK,
        class_="ink",
    )
    return "".join([*parts, turned])


def history_chart(series: Sequence[Series], *, label: str, frame: Frame = DESK) -> Svg:
    """Ratings over votes; each line ends in its marker and name, chosen ones stand in the band of their 95% interval."""
    drawn = [one for one in series if one.points]
    xs = Scale(0, max((p[0] for s in drawn for p in s.points), default=1), frame.left, frame.right)
    settled = [p for s in drawn for p in s.points[len(s.points) // 4 :]]
    banded = [end for s in drawn if s.band for p in s.points[len(s.points) // 4 :] for end in p[2:] if end is not None]
    ys = Scale(*padded([p[1] for p in settled] + banded, share=0.08), frame.bottom, frame.top)
    parts: list[str] = [value_axis(ys, "Rating", frame)]
    numbers = ticks(0, xs.high)
    parts += [text(xs.at(t), frame.bottom + 20, f"{t:,g}", anchor="middle", soft=True, size=12) for t in numbers]
    parts += [history_band(one, xs, ys) for one in drawn if one.band]
    below = frame.width - frame.right < ROOM_FOR_NAMES
    if below:
        drawn.sort(key=lambda one: -one.points[-1][1])
        places = [frame.height + ROW * (place + 0.5) for place in range(len(drawn))]
    else:
        places = spread_labels([ys.at(one.points[-1][1]) for one in drawn], gap=18, lowest=frame.bottom)
    parts += [history_line(one, xs, ys, frame, y, below=below) for one, y in zip(drawn, places, strict=True)]
    parts.append(text(frame.middle, frame.bottom + 46, "Votes counted", anchor="middle"))
    height = frame.height + ROW * len(drawn) * below
    return picture(frame.width, height, label, "".join(parts), role="group")


def history_band(one: Series, xs: Scale, ys: Scale) -> Svg:
    """From low to high; a bound that is missing reaches the edge."""
    upper = [(xs.at(v), ys.at(ys.high if high is None else high)) for v, _, _, high in one.points]
    lower = [(xs.at(v), ys.at(ys.low if low is None else low)) for v, _, low, _ in one.points]
    path = " ".join(f"{x:g},{y:g}" for x, y in [*upper, *lower[::-1]])
    colour = look_of(one.number)[0]
    return tag("polygon", points=path, fill=colour, fill_opacity=0.12, class_=f"band {series_class(one.number)}")


def history_line(one: Series, xs: Scale, ys: Scale, frame: Frame, label_y: float, *, below: bool) -> str:
    colour, kind = look_of(one.number)[0], f"series {series_class(one.number)}"
    places = [(xs.at(votes), ys.at(rating)) for votes, rating, *_ in one.points]
    path = " ".join(f"{x:g},{y:g}" for x, y in places)
    wide = 2.5 if one.band else 1.5
    parts: list[str] = [tag("polyline", points=path, fill="none", stroke=colour, stroke_width=wide, class_=kind)]
    step = max(1, len(places) // 6)
    for place in range(len(places) - 1, -1, -step):
        x, y = places[place]
        tip = history_tip(one, place)
        spoken = tag("title", escape(tip.replace("|", ", ")))
        parts.append(tag("g", spoken + marker(one.number, x, y), class_="point", data_tip=tip))
    end_x, end_y = places[-1]
    if not below:
        parts.append(line(end_x + 4, end_y, end_x + 18, label_y, kind="lead", colour=SOFT))
    tip, left = history_tip(one, len(places) - 1), 0 if below else end_x + 20
    last = marker(one.number, left + 8, label_y) + history_name(one, left + 20, label_y + 4, frame)
    parts.append(
        tag("g", last, class_="point", tabindex=0, role="img", aria_label=tip.replace("|", ", "), data_tip=tip)
    )
    return "".join(parts)


def history_name(one: Series, x: float, y: float, frame: Frame) -> str:
    """The name as far as there is room, and the rating at the edge."""
    letters = int((frame.width - x - 50) / LETTER)
    name = text(x, y, one.label if len(one.label) <= letters else f"{one.label[: letters - 1]}…")
    return name + text(frame.width - 8, y, f"{one.points[-1][1]:,.0f}", anchor="end")


def history_tip(one: Series, place: int) -> str:
    votes, rating, low, high = one.points[place]
    reach = "" if low is None or high is None else f" ({low:,.0f}–{high:,.0f})"
    return f"{one.label}|Rating {rating:,.0f}{reach}|after {votes:,.0f} vote{'' if votes == 1 else 's'}"


def spread_labels(places: Sequence[float], *, gap: float, lowest: float = 356) -> list[float]:
    """The same heights, moved apart just enough that no two labels touch."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    result = list(places)
    for before, after in pairwise(order):
        result[after] = max(result[after], result[before] + gap)
    overshoot = max([result[i] for i in order[-1:]], default=0) - lowest
    if overshoot > 0 and order:
        result[order[-1]] -= overshoot
        for after, before in pairwise(order[::-1]):
            result[before] = min(result[before], result[after] - gap)
    return result
