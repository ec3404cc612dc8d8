"""What the page of an automatic leaderboard draws."""

from __future__ import annotations

from ranking.automatic.page import stacked_bar


def test_a_bar_escapes_the_name_it_shows():
    row = {"json": 1.0, "render": 0.5, "quality": 0.25}

    drawn = stacked_bar(row, {"json": 0.4, "render": 0.3, "quality": 0.3}, "<script>alert(1)</script>")

    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn
