"""Numbers to SVG: interval plots and the heat map (`plots.py` has the scatter plot and the history)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ranking.charts.markers import marker, marker_at
from ranking.charts.svg import ACCENT, INK, LINE, PAPER, Svg, line, picture, tag, text

MARKER, MARKER_SHARE = 10, 4  # how wide a marker is: in pixels, and in percent of a table's cell
SHADES = ("#f7f6f3", "#dfeaf6", "#bcd6ef", "#93bde4", "#63a0d6", "#2f7fc4")


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` laid on `start` to `end`."""

    low: float
    high: float
    start: float = 0.0
    end: float = 100.0

    def at(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 2)


def nice_step(span: float, *, wanted: int) -> float:
    """1, 2 or 5 times a power of ten, so that about `wanted` steps fill the span."""
    raw = max(span, 1e-9) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.999)


def ticks(low: float, high: float, *, wanted: int = 5) -> list[float]:
    step = nice_step(high - low, wanted=wanted)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_words(value: float) -> str:
    """0.5, −40, 1,200."""
    return f"{value:,.10g}".replace("-", "−")


def padded(values: Sequence[float], *, share: float = 0.06) -> tuple[float, float]:
    """The range of values with a little room; never empty."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = (high - low) * share or max(abs(high) * share, 1.0)
    return low - room, high + room


@dataclass(frozen=True)
class Interval:
    """One line of an interval plot; a bound of None has no limit that way. `low2`, `high2` are the paler second interval."""

    label: str
    value: float
    low: float | None
    high: float | None
    low2: float | None = None
    high2: float | None = None
    title: str = ""
    number: int | None = None  # the entrant's place in the order of entry, which gives its marker


def interval_scale(rows: Sequence[Interval], *, start: float = 0.0, end: float = 100.0) -> Scale:
    known = [v for r in rows for v in (r.value, r.low, r.high, r.low2, r.high2) if v is not None]
    return Scale(*padded(known), start, end)


def interval_marks(row: Interval, scale: Scale, y: float, unit: str = "") -> str:
    """A thin line with an end where the bound exists, paler ticks of the second interval, and a dot.

    With a `unit` it is part of a page, which styles it: a table may have many rows.
    """
    ink, pale = (None, None) if unit else (INK, "#8f8a80")
    thin, thick = (None, None) if unit else (1.0, 1.5)

    def x(value: float) -> str:
        return f"{scale.at(value):g}{unit}"

    low = scale.low if row.low is None else row.low
    high = scale.high if row.high is None else row.high
    parts: list[str] = [line(x(low), y, x(high), y, kind="reach", colour=ink, width=thick)]
    parts += [
        arrow(x(end), y, right=right)
        for end, bound, right in ((low, row.low, False), (high, row.high, True))
        if bound is None
    ]
    if scale.at(high) - scale.at(low) > (MARKER_SHARE if unit else MARKER):  # else its ends would be part of the marker
        parts += [
            line(x(end), y - 4, x(end), y + 4, kind="reach", colour=ink, width=thick)
            for end in (row.low, row.high)
            if end is not None
        ]
        parts += [
            line(x(end), y - 7, x(end), y + 7, kind="pale", colour=pale, width=thin)
            for end in (row.low2, row.high2)
            if end is not None
        ]
    if row.number is None:
        return "".join(parts) + tag("circle", cx=x(row.value), cy=y, r=4.5, class_="dot", fill=ACCENT)
    at = scale.at(row.value)
    return "".join(parts) + (marker_at(row.number, x(row.value), y) if unit else marker(row.number, at, y))


def arrow(x: str, y: float, *, right: bool) -> Svg:
    """The end of an interval without a limit."""
    tip = "-6,-5 0,0 -6,5" if right else "6,-5 0,0 6,5"
    head = tag("polyline", points=tip, fill="none", stroke=INK, stroke_width=1.5, class_="reach")
    return tag("svg", head, x=x, y=y, overflow="visible", width=1, height=1)


def interval_row(row: Interval, scale: Scale, *, rule: float | None = None) -> Svg:
    """The interval of one table row, as wide and high as its cell; grid lines run on from row to row.

    `rule` is a value with a stronger line: 0, where rows are differences.
    """
    grid = "".join(
        line(x, 0, x, "100%", kind="axis" if t == rule else "grid", colour=None, width=None)
        for t in scale_ticks(scale)
        for x in (f"{scale.at(t):g}%",)
    )
    marks = tag("svg", interval_marks(row, scale, 0, "%"), y="50%", width="100%", overflow="visible")
    title = tag("title", escape(row.title or row.label))
    return tag("svg", title + grid + marks, class_="interval row", role="img")


def scale_ticks(scale: Scale) -> list[float]:
    """About four, and never one alone, by which no distance can be read."""
    coarse = ticks(scale.low, scale.high, wanted=4)
    return coarse if len(coarse) > 2 else ticks(scale.low, scale.high, wanted=8)


def interval_axis(scale: Scale) -> Svg:
    words = "".join(
        tag("text", tick_words(t), x=f"{scale.at(t):g}%", y=15, text_anchor="middle", font_size=12, class_="soft")
        for t in scale_ticks(scale)
    )
    return tag("svg", words, class_="interval axis", height=22, aria_hidden="true")


def interval_chart(rows: Sequence[Interval], *, label: str, unit: str) -> Svg:
    """The whole interval plot as one picture, for download and print."""
    gutter = 24 + 7.4 * max((len(row.label) for row in rows), default=0)
    scale, height = interval_scale(rows, start=gutter, end=gutter + 520), 34 + 30 * len(rows)
    parts: list[str] = []
    for t in scale_ticks(scale):
        parts.append(line(scale.at(t), 10, scale.at(t), height - 24, kind="grid", colour=LINE))
        parts.append(text(scale.at(t), height - 8, tick_words(t), anchor="middle", soft=True, size=12))
    for place, row in enumerate(rows):
        y = 26 + 30 * place
        parts.append(text(gutter - 14, y + 4, row.label, anchor="end"))
        parts.append(interval_marks(row, scale, y))
        parts.append(text(gutter + 534, y + 4, row.title, size=12, soft=True))
    room = 20 + 6.6 * max((len(row.title) for row in rows), default=0)
    parts.append(text(gutter + 260, height + 10, unit, anchor="middle", soft=True, size=12))
    return picture(gutter + 534 + room, height + 18, label, "".join(parts))


def heat_map(labels: Sequence[str], shares: Sequence[Sequence[float | None]], counts: Sequence[Sequence[int]]) -> Svg:
    """Chance that the row beats the column, in percent; the darker the further from even, the number always written."""
    cell_w, cell_h = 46, 30
    gutter = 44 + 7.4 * max((len(name) for name in labels), default=0)
    head = 26
    parts: list[str] = []
    for column, name in enumerate(labels):
        parts.append(text(gutter + cell_w * (column + 0.5), head - 8, str(column + 1), anchor="middle", soft=True))
        parts.append(text(gutter - 10, head + cell_h * (column + 0.65), f"{column + 1}. {name}", anchor="end"))
    for i, row in enumerate(shares):
        for j, share in enumerate(row):
            if share is None:
                continue
            votes = f"{counts[i][j]} vote{'' if counts[i][j] == 1 else 's'}"
            title = f"{labels[i]} beats {labels[j]}: {100 * share:.0f}%, from {votes} between them"
            parts.append(heat_cell(gutter + cell_w * j, head + cell_h * i, cell_w, cell_h, share, title, counts[i][j]))
    size = len(labels)
    return picture(gutter + cell_w * size + 8, head + cell_h * size + 8, "Win probabilities", "".join(parts))


def heat_cell(x: float, y: float, w: float, h: float, share: float, title: str, votes: int) -> Svg:
    level = min(5, round(abs(share - 0.5) * 10 + 0.001))
    side = "win" if share > 0.5 else "lose" if share < 0.5 else "even"
    box = tag(
        "rect", x=x + 1, y=y + 1, width=w - 2, height=h - 2, fill=SHADES[level], class_=f"heat {side} heat-{level}"
    )
    number = tag(
        "text",
        f"{100 * share:.0f}",
        x=x + w / 2,
        y=y + h / 2 + 5,
        text_anchor="middle",
        font_size=13,
        font_weight=600 if share > 0.5 else None,
        fill=INK if level < 5 else PAPER,
        class_=f"on-heat-{level}" + ("" if votes else " unmet"),
    )
    return tag("g", tag("title", escape(title)) + box + number)
