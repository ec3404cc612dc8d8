"""Structure of drawings against counts made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.formats.base import Answer
from generation.formats.svg import FORMAT
from generation.formats.svg.paths import count_listed_points, count_path_points

DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">
<!-- <circle/> é -->
<?note <path/>?>
<title>A <tspan/></title>
<defs><linearGradient id="g"><stop/></linearGradient><lineargradient/></defs>
<g><path d="M0 0 L1 1 2 2 Z"/><rect/><circle/><ellipse/><line/></g>
<polygon points="0,0 1,1 2,2"/><polyline points="0 0 1 1"/>
<use href="#g"/><script>1</script><foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>
</svg>"""


def measure(text: str) -> dict:
    drawing = FORMAT.extract(Answer(text)).drawing
    return FORMAT.measure(drawing, Answer(text), backend="builtin")


def test_structure_is_counted_as_the_model_wrote_it():
    # Tags by hand: svg title tspan defs linearGradient stop lineargradient g path rect circle ellipse line polygon
    # polyline use script foreignObject p = 19. Advanced: defs linearGradient use foreignObject = 4 (`lineargradient`
    # is no tag of the list). Anchors: path 3; rect, circle, ellipse 4 each, line 2, polygon 3, polyline 2.
    assert measure(f"Sure!\n```svg\n{DRAWING}\n```") == {
        "bytes": len(DRAWING) + 1,
        "tags": 19,
        "advanced_tags": 4,
        "advanced_share": 4 / 19,
        "anchors_path": 3,
        "anchors_all": 22,
    }


def test_bytes_are_counted_before_repair():
    assert measure("<svg><rect/></svg>")["bytes"] == 18


@pytest.mark.parametrize(
    "data, points",
    [
        ("M.5.5.6.6", 2),
        ("M0 0a5,5 0 01 10,10", 2),
        ("M0 0a5,5 0 0110,10", 2),
        ("M0,0A5 5 0 1 0 1 1 5 5 0 111-1", 3),
        ("M1e2-3E-4,+5.e1.5", 2),
        ("M10-20-30-40", 2),
        ("M0 0 1 1 2 2", 3),
        ("m0,0h1 2 3v4H5 6V7", 8),
        ("M0 0C1 1 2 2 3 3 4 4 5 5 6 6S1 1 2 2Q1 1 2 2T3 3 4 4", 7),
        ("M0 0L1 1Z", 2),
        ("M0 0L1 1zM2 2l1 1z", 4),
        ("M0 0z1 1", 1),
        ("  \n M 0 , 0 \t L 1 , 1 ", 2),
        ("M0 0L1 1,,2 2L3 3", 2),
        ("M0 0L1", 1),
        ("M0 0C1 1 2 2 3", 1),
        ("M0 0A5 5 0 2 0 1 1L5 5", 1),
        ("M0 0X1 1L2 2", 1),
        ("M15", 0),
        ("L1 1", 0),
        ("1 1", 0),
        ("Z", 0),
        ("M", 0),
        ("none", 0),
        ("", 0),
    ],
)
def test_path_points_by_hand(data, points):
    assert count_path_points(data) == points


@pytest.mark.parametrize("data, points", [("0,0 1,1 2,2", 3), ("0 0 1 1 2", 2), (".5.5-1-1", 2), ("", 0), ("a", 0)])
def test_listed_points_by_hand(data, points):
    assert count_listed_points(data) == points


SETS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2}


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(SETS)), st.booleans(), st.integers(1, 4), st.sampled_from([" ", ",", " , "])),
        max_size=20,
    ),
    st.sampled_from(["7", "-7", ".5", "1e3", "-1.5e-2"]),
)
@settings(max_examples=150, deadline=None)
def test_each_coordinate_set_counts_once(commands, number):
    data = "M0 0"
    for letter, lower, sets, separator in commands:
        data += (letter.lower() if lower else letter) + separator.join([number] * SETS[letter] * sets)

    assert count_path_points(data) == 1 + sum(sets for _, _, sets, _ in commands)


@given(st.text(alphabet="MmLlHhVvCcSsQqTtAaZz0123456789.-+eE, \n", max_size=80))
@settings(max_examples=200, deadline=None)
def test_any_path_data_has_a_count(data):
    assert 0 <= count_path_points(data) <= len(data) // 2 + 1
