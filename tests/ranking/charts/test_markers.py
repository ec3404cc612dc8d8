from __future__ import annotations

from ranking.charts.markers import MARKERS, marker, series_class
from ranking.charts.plots import Series, history_chart


def test_twelve_entrants_have_twelve_different_marks():
    looks = {(colour, shape, filled) for colour, shape, filled in MARKERS}
    assert len(looks) == len({colour for colour, *_ in MARKERS}) == len({look[1:] for look in looks}) == 12
    assert {series_class(n) for n in range(12)} == {f"m{n}" for n in range(1, 13)}
    assert series_class(12) == series_class(40) == "m0"
    assert marker(12) == marker(40)


def test_a_line_keeps_its_colour_whatever_its_rank():
    def colours(*numbers):
        lines = [Series(f"e{n}", ((1, 1000 - n, 900, 1100), (2, 1000, 900, 1100)), n) for n in numbers]
        return history_chart(lines, label="l").split("<polyline")[1:]

    (first, _), (_, second) = colours(3, 5), colours(5, 3)
    assert 'class="series m4"' in first
    assert 'class="series m4"' in second
    assert "fill-opacity" in history_chart([Series("a", ((1, 1000, 900, 1100),), 0, band=True)], label="l")
