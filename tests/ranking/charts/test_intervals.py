"""Charts as SVG: well-formed whatever the names, true to the numbers, and free of styles and scripts."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.charts.frontier import PHONE as NARROW
from ranking.charts.frontier import FrontierPoint, frontier_chart
from ranking.charts.intervals import (
    Interval,
    Scale,
    heat_map,
    interval_chart,
    interval_row,
    interval_scale,
    scale_ticks,
    ticks,
)
from ranking.charts.plots import (
    PHONE,
    Series,
    history_chart,
    inside,
    label_box,
    place_labels,
    spread_labels,
    touch,
)

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("1")</script> & "x" \' ]]>'
names = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=60)
numbers = st.floats(-5000, 5000)


def point(name, x, y):
    return FrontierPoint(name, 0, x, y, y - 100, y + 100, on=True, tip=name)


def parse(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return root


def test_a_name_cannot_break_out_of_a_chart():
    rows = [Interval(HOSTILE, 1000, 900, 1100, title=HOSTILE), Interval("b", 990, None, 1000)]
    for svg in (
        interval_chart(rows, label=HOSTILE, unit=HOSTILE),
        heat_map([HOSTILE, "b"], [[None, 0.9], [0.1, None]], [[0, 3], [3, 0]]),
        frontier_chart([point(HOSTILE, 1, 1000), point("b", 20, 990)], label="l", x_label="x", y_label="y"),
        history_chart([Series(HOSTILE, ((10, 1000, 900, 1100), (20, 1010, 950, 1050)))], label=HOSTILE),
    ):
        root = parse(svg)
        assert not root.findall(f".//{SVG}script")
        assert HOSTILE in "".join(root.itertext())
        assert "style" not in {key for element in root.iter() for key in element.attrib}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(names, numbers, st.one_of(st.none(), numbers)), max_size=8))
def test_any_rows_make_a_well_formed_plot_without_nan(rows):
    intervals = [Interval(name, value, low, None) for name, value, low in rows]

    svg = interval_chart(intervals, label="x", unit="y")

    parse(svg)
    assert not re.search(r'="(nan|inf)', svg)


def test_the_dot_stands_where_the_rating_is():
    rows = [Interval("a", 1100, 1050, 1150), Interval("b", 900, 850, 950)]
    scale = interval_scale(rows)

    def dot(row):
        return float(re.search(r'cx="([\d.]+)%"', interval_row(row, scale)).group(1))

    assert dot(rows[0]) == pytest.approx(scale.at(1100))
    assert 0 < dot(rows[1]) < 50 < dot(rows[0]) < 100


def test_a_bound_that_does_not_exist_has_no_end_mark():
    row, scale = Interval("a", 1000, None, 1100), Scale(800, 1200)

    assert interval_row(row, scale).count("<line") - interval_row(row, scale).count('class="grid"') == 2  # one end
    assert "<polyline" in interval_row(row, scale)  # an arrow at the other
    assert interval_row(Interval("a", 1000, 900, 1100), scale).count('class="reach"') == 3


@given(st.floats(-1e6, 1e6), st.floats(0.01, 1e6))
@settings(max_examples=100, deadline=None)
def test_ticks_are_few_round_and_inside(low, span):
    marks = ticks(low, low + span)

    assert len(marks) <= 12
    assert all(low - span * 1e-6 <= t <= low + span * (1 + 1e-6) for t in marks)


@given(low=st.floats(-3000, 3000), span=st.floats(0.01, 5000))
@settings(max_examples=100, deadline=None)
def test_an_axis_has_at_least_two_ticks(low, span):
    assert 2 <= len(scale_ticks(Scale(low, low + span))) <= 9


def test_every_cell_of_the_heat_map_says_its_number_and_votes():
    root = parse(heat_map(["a", "b"], [[None, 0.76], [0.24, None]], [[0, 12], [12, 0]]))

    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert "a beats b: 76%, from 12 votes between them" in titles
    assert {"76", "24"} <= {element.text for element in root.iter(f"{SVG}text")}


@given(st.lists(st.floats(16, 350), max_size=15))
@settings(max_examples=100, deadline=None)
def test_labels_never_touch(places):
    labels = sorted(spread_labels(places, gap=17))

    assert all(b - a >= 17 - 1e-6 for a, b in pairwise(labels))


def test_costs_that_spread_tenfold_get_a_log_scale():
    points = [point("a", 0.1, 1100), point("b", 1, 1000), point("c", 10, 900)]

    root = parse(frontier_chart(points, label="l", x_label="x", y_label="y"))

    xs = [float(c.get("cx")) for c in root.iter(f"{SVG}circle")]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.1)


def test_names_of_close_dots_do_not_lie_on_each_other():
    close = [(300.0 + n % 2, 200.0 + 3 * n) for n in range(6)]
    frame = (60.0, 16.0, 716.0, 326.0)
    names = [f"Entrant number {n}" for n in range(6)]

    put = place_labels(names, close, frame)

    boxes = [
        label_box(x, at[1], 7.2 * len(name), at[2]) for name, (x, _), at in zip(names, close, put, strict=True) if at
    ]
    assert len(boxes) == 6
    assert all(inside(box, frame) for box in boxes)
    assert not any(touch(one, other) for one, other in combinations(boxes, 2))


def test_a_dot_without_room_keeps_its_name_for_the_pointer():
    crowd = [point(f"A name that is long {n}", 1, 1000) for n in range(40)]

    root = parse(frontier_chart(crowd, label="l", x_label="x", y_label="y"))

    written = [node.text for node in root.iter() if node.tag.endswith("text") and node.text.startswith("A name")]
    hovered = [node.text for node in root.iter() if node.tag.endswith("title") and node.text.startswith("A name")]
    assert 0 < len(written) < 40
    assert len(hovered) == 40


def test_a_dot_at_the_highest_score_has_room_beside_it():
    """A marker reaches 6 pixels to each side, and a cell on a phone is at least 200 wide."""
    scale = interval_scale([Interval("a", 1.0, 0.59, 1.0), Interval("b", 0.64, 0.45, 0.84)])

    assert 200 * (100 - scale.at(1.0)) / 100 >= 6


def test_an_interval_no_wider_than_its_marker_has_no_ends():
    narrow, wide = Interval("a", 1000, 999, 1001, 999.5, 1000.5, number=2), Interval("b", 500, 100, 900, number=1)
    scale = interval_scale([narrow, wide])

    assert "pale" not in interval_row(narrow, scale)
    assert interval_row(narrow, scale).count('class="reach"') == 1
    assert interval_row(wide, scale).count('class="reach"') == 3


def test_on_a_phone_whole_names_stand_below_the_chart_the_best_first():
    names = ["A name of thirty-two characters.", "Another one that is rated higher"]
    series = [Series(name, ((10, 1000 + 50 * n, None, None),), n) for n, name in enumerate(names)]

    root = parse(history_chart(series, label="l", frame=PHONE))

    written = {node.text: float(node.get("y")) for node in root.iter(f"{SVG}text")}
    assert PHONE.bottom < written[names[1]] < written[names[0]] < float(root.get("height"))


def test_the_frontiers_name_stands_clear_of_dots_and_whiskers():
    points = [point("a", 1, 1000), point("b", 2, 1100), point("c", 2.05, 1200)]

    for frame in ({}, {"frame": NARROW}):
        root = parse(frontier_chart(points, label="l", x_label="x", y_label="y", **frame))
        right = next(float(node.get("x")) for node in root.iter(f"{SVG}text") if node.text == "frontier")
        dots = [float(node.get("data-x")) for node in root.iter(f"{SVG}g") if node.get("data-x")]
        assert not any(right - 48 < x < right + 4 for x in dots)
