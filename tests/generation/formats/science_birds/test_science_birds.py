"""Science Birds answers: what is read, what loses a level, where blocks come to rest, and what is never run."""

from __future__ import annotations

import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.formats import get_format
from generation.formats.base import Answer
from generation.formats.science_birds.extraction import Drop, clean_fences, read_code
from generation.formats.science_birds.level import (
    CELL,
    COLUMNS,
    ROWS,
    IllegalDrop,
    build_level,
    camera_width,
    level_xml,
)
from tests.generation.formats.science_birds.birds import answer, drops, level
from tests.hostile import case_bytes, cases

FORMAT = get_format("science_birds")
LEGAL = st.lists(
    st.one_of(
        st.tuples(st.just("b11"), st.integers(0, 19)),
        st.tuples(st.just("b13"), st.integers(0, 19)),
        st.tuples(st.just("b31"), st.integers(1, 18)),
    ),
    min_size=1,
    max_size=40,
)


def extract(text: str):
    return FORMAT.extract(Answer(text))


def test_it_works():
    extraction = FORMAT.extract(answer("drop_block('b31', 8)\ndrop_block(\"b11\",9)"))

    assert extraction.drawing == "drop_block('b31', 8)\ndrop_block('b11', 9)"
    assert (extraction.reason, extraction.flags, extraction.facts) == ("", (), {"fences": 1, "calls": 2})


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("```\ndrop_block('b11', 1)\n```\nBetter:\n```\ndrop_block('b13', 2)\n```", ["b13"]),
        ("```\ndrop_block('b11', 1)\n```\nuse `x`\n```\nsay `drop_block('b13', 2)`\n```", ["b11"]),
        ("````\n```python\ndrop_block('b31', 2)\n```\n````", ["b31"]),
        ("```drop_block('b11', 1)```", ["b11"]),
        ("```\n# drop_block('b11', 1)\n'''drop_block('b13', 2)'''\n```", ["b11", "b13"]),
        ("```\na\n```\ndrop_block('b11', 1)\n```\nb\n```", []),
        ("```\ndrop_block('b11', 1)\n```\n```\ndrop_block('b13', 2)", ["b11"]),
        ("```\ndrop_block('b11', 1)\n```\n```\nno call here\n```", []),
        ("drop_block('b11', 1)", []),
        ("", []),
    ],
)
def test_code_is_the_last_fence_without_a_backtick(text, kinds):
    assert [drop.kind for drop in read_code(text).drops] == kinds


@pytest.mark.parametrize(
    "call",
    [
        "Drop_block('b11', 1)",
        "drop_block('B11', 1)",
        "drop_block( 'b11', 1)",
        "drop_block('b11' , 1)",
        "drop_block('b11', 1 )",
        "drop_block('b11', +1)",
        "drop_block('b11', -1)",
        "drop_block('b11', 1.0)",
        "drop_block('b11', x)",
        "drop_block('b11', ２)",
        "drop_block('b22', 1)",
        "drop_block('b12', 1)",
        "drop_block('b11',\t1)",
        "drop_block(b11, 1)",
        "drop_block('b1', 1)",
        "drop_block(block='b11', x=1)",
    ],
)
def test_other_calls_are_ignored(call):
    extraction = FORMAT.extract(answer(call))

    assert (extraction.drawing, extraction.reason) == (None, "no_code")
    assert FORMAT.extract(answer(f"{call}\ndrop_block('b11', 4)")).drawing == "drop_block('b11', 4)"


@pytest.mark.parametrize("call", ["drop_block('b11\", 4)", "my_drop_block('b11', 4)", "drop_block('b11',    04)"])
def test_calls_count_as_in_the_competitions_extraction(call):
    assert FORMAT.extract(answer(call)).drawing == "drop_block('b11', 4)"


@pytest.mark.parametrize(
    ("call", "reason"), [("drop_block('b33', 4)", "unknown_block"), ("drop_block('b11', )", "bad_position")]
)
def test_a_call_that_the_competitions_converter_stops_at_loses_the_level(call, reason):
    assert FORMAT.extract(answer(f"drop_block('b11', 2)\n{call}")).reason == reason


@pytest.mark.parametrize(
    ("plan", "reason", "number"),
    [
        ("b11 1, b33 2", "unknown_block", 2),
        ("b11 20", "bad_position", 1),
        ("b31 0", "bad_position", 1),
        ("b31 19", "bad_position", 1),
        ("16*b11 3, b11 3", "too_high", 17),
        ("14*b11 3, b13 3", "too_high", 15),
        ("b11 1, 16*b11 3, b31 4", "too_high", 18),
    ],
)
def test_any_illegal_drop_loses_the_level(plan, reason, number):
    with pytest.raises(IllegalDrop) as caught:
        level(plan)

    assert caught.value.reason == reason
    assert f"Call {number} " in str(caught.value)


def test_the_highest_legal_places_are_legal():
    assert level("16*b11 0")[-1].row == 15
    assert level("13*b11 0, b13 0")[-1].row == 13
    assert [block.column for block in level("b31 1, b31 18")] == [0, 17]


def test_coordinates_worked_by_hand():
    blocks = level("b31 8, b11 9, b13 7, b31 9, b11 12")

    # b31 on columns 7–9; b11 on it at 9; b13 on it at 7, rows 1–3; b31 over 8–10 rests on the b11, row 2; b11 on the
    # floor. The structure starts in column 7, so that all move 7 to the left. X = column · c + w · c / 2 + 2.
    assert [(b.column, b.row) for b in blocks] == [(0, 0), (2, 1), (0, 1), (1, 2), (5, 0)]
    assert [(b.x, b.y) for b in blocks] == [
        (2.36015, -3.37995),
        (2.60025, -3.13985),
        (2.12005, -2.89975),
        (2.60025, -2.89975),
        (3.32055, -3.37995),
    ]


def test_coordinates_equal_the_original_formula():
    plan = drops("b31 8, b11 9, b13 7, b31 9, b11 12")
    shift = 7

    for drop, block in zip(plan, build_level(plan), strict=True):
        width, height = block.size
        x = (drop.x - shift) * CELL + width * CELL / 2 + 2 - (CELL if width > 1 else 0)
        assert block.x == pytest.approx(x, abs=1e-9)
        assert block.y == pytest.approx(block.row * CELL + height * CELL / 2 - 3.5, abs=1e-9)


def test_xml_is_what_the_game_loads():
    blocks = level("b31 8, b13 8, b11 7")

    root = ElementTree.fromstring(level_xml(blocks).encode())

    assert (root.tag, root.attrib) == ("Level", {"width": "3"})
    assert [child.tag for child in root] == ["Camera", "Birds", "Slingshot", "GameObjects"]
    assert root.find("Camera").attrib == {"x": "2", "y": "0", "minWidth": "17", "maxWidth": "22"}
    assert [bird.attrib for bird in root.find("Birds")] == [{"type": "BirdRed"}]
    assert root.find("Slingshot").attrib == {"x": "-9", "y": "-2.5"}
    assert [(b.get("type"), b.get("rotation"), b.get("material"), b.get("x"), b.get("y")) for b in root[3]] == [
        ("RectSmall", "0", "wood", "2.36015", "-3.37995"),
        ("RectSmall", "90", "wood", "2.36015", "-2.89975"),
        ("SquareTiny", "0", "wood", "2.12005", "-3.13985"),
    ]


def test_camera_grows_with_the_height_and_with_the_fullest_row():
    # Height 12: 2 · 1.6 · (3.5 + 12 · 0.2401) = 20.41984, above 17.
    assert camera_width(level("4*b13 5")) == pytest.approx(20.41984, abs=1e-9)
    # Twenty cells in a row of height 1: 2 · (2 + 20 · 0.2401) = 13.604, below 17.
    assert camera_width(level(", ".join(f"b11 {x}" for x in range(20)))) == 17


@given(LEGAL)
@settings(max_examples=150, deadline=None)
def test_grid_never_overlaps_and_every_block_rests(pairs):
    try:
        blocks = build_level([Drop(kind, x) for kind, x in pairs])
    except IllegalDrop as error:
        assert error.reason == "too_high"
        return
    taken: set[tuple[int, int]] = set()
    for block in blocks:
        cells = set(block.cells())
        assert not cells & taken
        assert all(0 <= column < COLUMNS and 0 <= row < ROWS for column, row in cells)
        below = {(column, block.row - 1) for column, _ in cells}
        assert block.row == 0 or below & taken
        taken |= cells
    assert min(column for column, _ in taken) == 0


@given(LEGAL, st.integers(-19, 19))
@settings(max_examples=150, deadline=None)
def test_level_does_not_depend_on_where_it_is_built(pairs, shift):
    moved = [Drop(kind, x + shift) for kind, x in pairs]
    inside = all(drop.x - (drop.kind == "b31") >= 0 and drop.x + (drop.kind == "b31") < COLUMNS for drop in moved)
    try:
        here = build_level([Drop(kind, x) for kind, x in pairs])
        there = build_level(moved)
    except IllegalDrop as error:
        assert error.reason == "too_high" or not inside
        return
    assert here == there


@given(st.text(alphabet="`dropblck_(')b13, 59\n#~", max_size=300))
@settings(max_examples=200, deadline=None)
def test_reading_never_raises_and_a_drawing_reads_as_itself(text):
    extraction = extract(f"{text}\n```\n{text}\n```")

    if extraction.valid:
        assert extract(f"```\n{extraction.drawing}\n```").drawing == extraction.drawing


HOSTILE = {
    "code-ok": (["b31", "b11", "b13"], "", ()),
    "code-os-system": (["b11"], "", ("non_drop_block_statements",)),
    "code-call-in-args": ([], "no_code", ("non_literal_argument",)),
    "code-infinite-loop": (["b11"], "", ("non_literal_argument", "non_drop_block_statements")),
    "code-pow-bomb": ([], "no_code", ("non_literal_argument",)),
    "code-deep-parens": ([], "no_code", ("non_literal_argument",)),
    "code-redefine": (["b11", "b13", "b31"], "", ("non_literal_argument", "non_drop_block_statements")),
    "code-xml-injection": ([], "no_code", ("non_literal_argument",)),
    "code-bad-positions": ([], "bad_position", ("non_literal_argument",)),
    "code-nul-and-homoglyph": (["b11"], "", ("control_character", "non_drop_block_statements")),
}


@pytest.mark.parametrize("case", cases("code"), ids=lambda case: case["id"])
def test_hostile_case_ends_as_the_index_says(case):
    kinds, reason, flags = HOSTILE[case["id"]]

    extraction = extract(case_bytes(case).decode("utf-8", "replace"))

    assert (extraction.reason, extraction.flags) == (reason, flags)
    assert [line[12:15] for line in (extraction.drawing or "").splitlines()] == kinds
    assert extraction.valid == (not reason)
    assert "\x00" not in (extraction.drawing or "")
    if extraction.valid:
        assert b"\x00" not in FORMAT.render(extraction.drawing).body
    assert not Path("/tmp/pwned").exists()


def test_a_hundred_thousand_calls_end_at_the_first_illegal_one():
    extraction = FORMAT.extract(answer("drop_block('b11', 3)\n" * 100_000))

    assert (extraction.drawing, extraction.reason) == (None, "too_high")
    assert extraction.detail.startswith("Call 17 drops b11 at column 3, above the 16 rows.")
    assert extraction.facts["calls"] == 100_000


@pytest.mark.parametrize(
    "piece", ["`", "```", "``` ", "```\n`\n", "````\n```\n", "drop_block('b11',", "drop_block('b11', 1", "drop_block("]
)
def test_reading_takes_time_in_proportion_to_the_text(piece):
    def seconds(count: int) -> float:
        text = "```\n" + piece * count
        runs = []
        for _ in range(3):
            start = time.thread_time()  # what else the machine does is not counted
            extract(text + "\n```")
            runs.append(time.thread_time() - start)
        return min(runs)

    # Eight times the text: 64 times as long if the scan were quadratic.
    assert seconds(80_000) < 32 * seconds(10_000)


def test_fences_are_found_once_each():
    assert list(clean_fences("```a``` `b` ```c``` ``d`` ```e")) == ["a", "c"]


def test_truncated_answer_is_flagged():
    assert FORMAT.extract(answer("drop_block('b11', 3)", finish_reason="length")).flags == ("truncated",)
