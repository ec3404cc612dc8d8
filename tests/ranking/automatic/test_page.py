"""What the page of an automatic leaderboard draws."""

from __future__ import annotations

from generation.formats.base import ScorePart
from ranking.automatic.page import stacked_bar


def test_a_bar_escapes_the_name_it_shows():
    means = {"json": 1.0, "quality": 0.25}

    drawn = stacked_bar(means, [ScorePart("json", "JSON", 0.4), ScorePart("quality", "Quality", 0.6)], "<script>")

    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn
