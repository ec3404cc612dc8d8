"""Visual robustness: art that looks the same in all three fonts, and art that breaks in one (seed 001)."""

from __future__ import annotations

import pytest

from benchmarks.drawings.robustness import PALETTES, drawings, run
from generation.formats.ascii_art import FORMAT
from generation.formats.base import Answer
from generation.formats.raster.cells import fonts
from generation.formats.raster.robustness import MOST_CELLS, similarity

CAT = " /\\_/\\\n( o.o )\n > ^ <"


def robustness(text):
    return min(similarity(text).values())


def test_it_is_a_number_for_each_font_and_the_same_on_every_machine():
    assert similarity(CAT) == {"courier": 0.5475, "dejavu": 0.6494, "fira": 0.6067}
    assert tuple(similarity(CAT)) == fonts()


@pytest.mark.parametrize(
    ("steady", "leaning"),
    [
        ("ooo\no o\nooo", "***\n* *\n***"),
        ("....\n.  .", "^^^^\n^  ^"),
        ("vvv\nwww", '```\n"""'),
        (CAT, "┌──┐\n│  │\n└──┘"),
    ],
)
def test_it_tells_art_that_leans_on_one_fonts_shapes(steady, leaning):
    assert robustness(steady) > 0.5 > 0.3 > robustness(leaning)


def test_usual_drawings_stand_around_the_middle():
    values = sorted(robustness(text) for kind, text in drawings(12) if kind == "demo")

    assert 0.3 < values[len(values) // 2] < 0.7
    assert values[-1] - values[0] > 0.1, "drawings differ"


def test_it_goes_with_the_marks_of_simulated_judges():
    figures = run(4)

    assert figures["correlation"] < -0.3
    by_kind = {row["kind"]: row for row in figures["kinds"]}
    assert by_kind["leaning"]["marked"] > by_kind["usual"]["marked"]
    assert set(PALETTES) < set(by_kind)


def test_a_picture_that_is_shifted_keeps_its_number():
    moved = "\n".join("   " + line for line in CAT.split("\n"))

    assert robustness(f"\n\n{moved}") == robustness(CAT)


def test_a_cell_that_a_font_lacks_is_lost_in_it():
    with_bar, without = similarity(CAT + "█"), similarity(CAT)

    assert with_bar["courier"] < without["courier"]


def test_blank_and_huge_drawings_have_a_number_too():
    assert robustness(" \n ") == 1.0
    assert robustness("o" * 500 + ("\n" + "o" * 500) * (2 * MOST_CELLS // 500)) > 0.5


def test_coverage_stands_beside_it():
    values = FORMAT.measure("┌──┐", Answer(""))

    assert (values["robustness"], values["coverage"]) == (0.0, 0.0)
    assert values["fonts"]["dejavu"] == 1.0
