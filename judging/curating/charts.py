"""Votes per hour as a small SVG, drawn on the server."""

from __future__ import annotations

from datetime import datetime

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

WIDTH, HEIGHT, GAP = 480, 64, 2


def hour_bars(hours: list[tuple[datetime, int]]) -> SafeString:
    """One bar an hour; the figures stand in a table beside it for those who cannot see it."""
    most = max((votes for _, votes in hours), default=0) or 1
    step = WIDTH / max(len(hours), 1)
    bars = [
        (
            f"{n * step:.1f}",
            f"{HEIGHT - HEIGHT * v / most:.1f}",
            f"{step - GAP:.1f}",
            f"{HEIGHT * v / most:.1f}",
            hour,
            v,
        )
        for n, (hour, v) in enumerate(hours)
    ]
    drawn = format_html_join("", '<rect x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>', bars)
    box = f"0 0 {WIDTH} {HEIGHT}"
    return format_html(
        '<svg class="hours" viewBox="{}" preserveAspectRatio="none" role="img" aria-label="Votes per hour">{}</svg>',
        box,
        drawn,
    )
