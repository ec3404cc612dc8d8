"""A colour and a marker for each entrant by its order of entry, the same on every chart of a run, whatever its rank."""

from __future__ import annotations

from ranking.charts.svg import SOFT, Svg, tag

# (colour as a file shows it, shape, filled). Pages overrule the colour by class, so it follows light and dark.
MARKERS = (
    ("#1d54c1", "circle", True),
    ("#d0765a", "square", True),
    ("#2f5f32", "up", True),
    ("#91276e", "diamond", True),
    ("#7f6915", "down", True),
    ("#2a343d", "plus", True),
    ("#1f91d6", "circle", False),
    ("#6e1d00", "square", False),
    ("#6c8d1a", "up", False),
    ("#5f079a", "diamond", False),
    ("#420055", "down", False),
    ("#38858a", "cross", True),
)
OTHERS = (SOFT, "circle", True)  # from the thirteenth on; named on hover
CORNERS = {
    "square": ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),
    "up": ((0, -1), (1, 0.8), (-1, 0.8)),
    "down": ((0, 1), (1, -0.8), (-1, -0.8)),
    "diamond": ((0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0)),
    "plus": tuple((a / 3, b / 3) for a, b in ((-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1), (1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1))),
    "cross": tuple(
        ((a - b) / 4, (a + b) / 4)
        for a, b in ((-1, -4), (1, -4), (1, -1), (4, -1), (4, 1), (1, 1), (1, 4), (-1, 4), (-1, 1), (-4, 1), (-4, -1), (-1, -1))
    ),
}  # fmt: skip


def look_of(number: int) -> tuple[str, str, bool]:
    return MARKERS[number] if number < len(MARKERS) else OTHERS


def series_class(number: int) -> str:
    """The class by which a page gives this entrant's colour."""
    return f"m{number + 1}" if number < len(MARKERS) else "m0"


def marker(number: int, x: float = 0, y: float = 0, *, size: float = 5) -> Svg:
    """The marker of the entrant that came in as `number` (from 0), centred on a point."""
    colour, shape, filled = look_of(number)
    paint = {"fill": colour} if filled else {"fill": "#ffffff", "stroke": colour, "stroke_width": 2}
    kind = f"mark {series_class(number)} {'filled' if filled else 'hollow'}"
    if shape == "circle":
        return tag("circle", cx=x, cy=y, r=size if filled else size - 0.5, class_=kind, **paint)
    points = " ".join(f"{x + size * a:.4g},{y + size * b:.4g}" for a, b in CORNERS[shape])
    return tag("polygon", points=points, class_=kind, **paint)


def marker_at(number: int, x: str, y: float = 0) -> Svg:
    """The same in a picture whose places across are shares of its width."""
    return tag("svg", marker(number), x=x, y=y, overflow="visible", width=1, height=1)


def marker_sign(number: int) -> Svg:
    """A marker to stand before a name."""
    return tag("svg", marker(number, 7, 7), class_="sign", width=14, height=14, viewBox="0 0 14 14", aria_hidden="true")
