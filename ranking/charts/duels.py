"""Numbers to SVG: votes won, even and lost between two, as one bar."""

from __future__ import annotations

from ranking.charts.markers import look_of, series_class
from ranking.charts.svg import LINE, PAPER, Svg, tag

WIDTH = 100.0


def duel_bar(won: int, even: int, lost: int, *, number: int | None = None) -> Svg:
    """Won in the entrant's colour, then even, then lost; empty where the two never met."""
    total = won + even + lost
    if not total:
        return Svg("")
    colour = look_of(number)[0] if number is not None else "#1d1c1a"
    start, bars = 0.0, []
    for count, kind, fill in ((won, "won", colour), (even, "even", LINE), (lost, "lost", PAPER)):
        wide = WIDTH * count / total
        if count:
            bars.append(tag("rect", x=round(start, 2), y=0.5, width=round(wide, 2), height=11, class_=kind, fill=fill))
        start += wide
    words = f"{won} won, {even} even, {lost} lost"
    kind = f"duel {series_class(number)}" if number is not None else "duel"
    return tag(
        "svg",
        tag("title", words) + "".join(bars),
        viewBox=f"0 0 {WIDTH:g} 12",
        preserveAspectRatio="none",
        class_=kind,
        role="img",
        aria_label=words,
    )
