"""ASCII art as the suite reads, flags and measures it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchsite.lib.text import clean_text, decode
from generation.formats import get_format
from generation.formats.ascii_art import FORMAT, MAX_COLUMNS
from generation.formats.base import Answer
from generation.formats.raster.cells import covered, fonts, width_of
from generation.formats.tokens import least_tokens
from tests.hostile import case_bytes, cases

CAT = " /\\_/\\\n( o.o )\n > ^ <"


def extract(text: str, **facts):
    return FORMAT.extract(Answer(text, **facts))


def test_it_works():
    extraction = get_format("ascii_art").extract(Answer(f"```\n{CAT}\n```"))

    assert extraction.drawing == CAT
    assert (extraction.reason, extraction.flags) == ("", ())


@pytest.mark.parametrize("case", cases("ascii"), ids=lambda case: case["id"])
def test_hostile_case_meets_its_index(case):
    extraction = extract(decode(case_bytes(case))[0])

    if case["verdict"] == "invalid":
        assert (extraction.drawing, extraction.reason) == (None, case["reason"])
        assert extraction.detail.endswith(".")
    elif case["verdict"] == "accept_flagged":
        assert extraction.valid
        assert case["reason"] in extraction.flags
    else:
        assert extraction.valid
        assert set(extraction.flags) <= {"non_ascii", "tabs", "wide_characters"}


@pytest.mark.parametrize(
    "name", ["ok-cat", "two-fences", "think-tags", "crlf-and-cr", "fence-info-xss", "hidden-tag-chars"]
)
def test_hostile_case_still_yields_the_cat(name):
    case = next(case for case in cases("ascii") if case["id"] == f"ascii-{name}")

    assert extract(decode(case_bytes(case))[0]).drawing == CAT


def test_nested_fence_keeps_the_inner_backticks():
    assert extract(f"````\n```\n{CAT}\n```\n````").drawing == f"```\n{CAT}\n```"


def test_emoji_joined_by_zero_width_joiners_stay_whole():
    case = next(case for case in cases("ascii") if case["id"] == "ascii-wide-emoji-zwj")
    text = decode(case_bytes(case))[0]

    assert extract(text).drawing == text.removeprefix("```\n").removesuffix("\n```\n")


def test_blank_lines_at_the_ends_go_and_nothing_else():
    assert extract("```\n \n\n   a  \n\n b\t\n\u3000\n```").drawing == "   a  \n\n b\t"


@pytest.mark.parametrize(
    "facts",
    [{"finish_reason": "length"}, {"completion_tokens": 1001, "max_tokens": 1000}],
)
def test_over_the_token_limit_is_truncated(facts):
    extraction = extract(f"```\n{CAT}\n```", **facts)

    assert (extraction.valid, extraction.reason) == (False, "truncated")


@pytest.mark.parametrize(("lines", "valid"), [(10, True), (400, False)])
def test_answer_over_the_limit_is_invalid_also_where_nobody_counted(lines, valid):
    art = "```\n" + "( o.o ) > ^ <\n" * lines + "```"

    extraction = extract(art, max_tokens=1000)

    assert extraction.valid is valid
    if not valid:
        assert extraction.reason == "truncated"
        assert "at least" in extraction.detail


@pytest.mark.parametrize(
    ("text", "least"),
    [("Draw a cat in ASCII art", 6), ("1234567", 3), (" " * 60 + "x", 2), ("=" * 300, 3), ("a\n\n\nb", 3), ("", 0)],
)
def test_own_count_takes_each_piece_for_one_token(text, least):
    assert least_tokens(text) == least


def test_exactly_at_the_token_limit_is_valid():
    assert extract(f"```\n{CAT}\n```", finish_reason="stop", completion_tokens=1000, max_tokens=1000).valid


def test_columns_limit_names_the_number():
    assert extract("```\n" + "#" * MAX_COLUMNS + "\n```").valid
    assert "501 columns" in extract("```\n" + "#" * (MAX_COLUMNS + 1) + "\n```").detail


def test_names_of_the_run_are_looked_for():
    answer = Answer("```\n(o)\nby Steady Hand\n```", options={"names": ["demo/steady-hand"]})

    extraction = FORMAT.extract(answer)

    assert extraction.flags == ("identity_leak",)
    assert extraction.facts["signed"] == ["demo/steady-hand"]


def measure(drawing: str):
    return FORMAT.measure(drawing, Answer(""))


def test_measure_of_plain_ascii_is_shown_whole_everywhere():
    assert measure(CAT) == {
        "width": 7,
        "height": 3,
        "cells": 13,
        "fonts": {"courier": 1.0, "dejavu": 1.0, "fira": 1.0},
        "coverage": 1.0,
        "similarity": {"courier": 0.5475, "dejavu": 0.6494, "fira": 0.6067},
        "robustness": 0.5475,
    }


def test_measure_counts_cells_each_font_lacks():
    # Courier Prime has no box drawing, Fira Code's subset no ♥; DejaVu has both. One cell of four each, then é in all.
    assert measure("─ ♥a é")["fonts"] == {"courier": 0.5, "dejavu": 1.0, "fira": 0.75}
    assert measure("─ ♥a é")["coverage"] == 0.5


def test_measure_takes_a_marked_character_as_one_broken_cell():
    assert measure("e\u0301x")["cells"] == 2
    assert measure("e\u0301x")["coverage"] == 0.5


def test_vendored_faces_cover_what_drawings_are_made_of():
    assert fonts() == ("courier", "dejavu", "fira")
    for font in fonts():
        assert {chr(code) for code in range(0x20, 0x7F)} <= covered(font)
    box_and_block = {chr(code) for code in range(0x2500, 0x25A0)}
    assert box_and_block <= covered("dejavu")
    assert box_and_block <= covered("fira")


@pytest.mark.parametrize(
    ("line", "width"), [("ab", 2), ("한글", 4), ("e\u0301", 1), ("a\tb", 9), ("👨\u200d👩\u200d👧", 2)]
)
def test_width_counts_cells_not_characters(line, width):
    assert width_of(line) == width


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(codec=None, categories=None)))
def test_any_text_in_a_fence_is_read_without_an_exception(text):
    for answer in (Answer(text), Answer(f"~~~\n{text}\n~~~")):
        extraction = FORMAT.extract(answer)
        if extraction.valid:
            assert clean_text(extraction.drawing) == (extraction.drawing, ())
            assert 0 <= FORMAT.measure(extraction.drawing, answer)["robustness"] <= 1


def test_long_chains_of_joined_emoji_have_their_width():
    family = "👨\u200d👩\u200d👧\u200d👦"
    chain = "\u200d".join("👨" * 300)

    assert FORMAT.measure(family, Answer(""))["width"] == 2
    assert extract(f"```\n{chain}\n```").reason == "line_too_long"


@pytest.mark.parametrize("line_break", ["\x85", "\u2028", "\u2029"])
def test_every_line_break_of_a_browser_is_a_line(line_break):
    drawing = extract(f"```\n/\\{line_break}\\/\n```").drawing

    assert drawing == "/\\\n\\/"
    assert FORMAT.measure(drawing, Answer(""))["height"] == 2


def test_tilde_fence_is_flagged():
    assert extract(f"~~~\n{CAT}\n~~~").flags == ("tilde_fence",)


def test_answer_that_is_no_utf_8_says_so():
    assert extract("\ufffd\ufffdc\ufffda\ufffdt").reason == "invalid_utf8"
