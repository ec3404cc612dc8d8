"""Pixel art as the suite reads, grades and draws it; every expected number below is worked out by hand."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchsite.lib.text import clean_text, decode
from generation.formats import get_format
from generation.formats.base import Answer
from generation.formats.pixel_art import FORMAT, climb, rectangles
from generation.formats.pixel_art.colours import FALLBACK, NAMES, read_colour
from tests.hostile import case_bytes, cases

ROW = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3]
PALETTE = ["black", "white", "red", "green", "blue", "yellow", "orange", "purple", "brown", "pink"]
NOTHING = dict.fromkeys(("json", "height", "width", "type", "render", "diversity", "density", "quality", "score"), 0.0)


def answer_of(grid, palette=PALETTE, **more) -> str:
    return json.dumps({"grid": grid, "palette": palette, **more})


def scores(text: str) -> dict:
    answer = Answer(text)
    extraction = FORMAT.extract(answer)
    if extraction.valid:
        return FORMAT.measure(extraction.drawing, answer)
    return FORMAT.measure_invalid(answer, extraction)


def test_it_works():
    extraction = get_format("pixel_art").extract(Answer(answer_of([ROW] * 24)))

    assert json.loads(extraction.drawing) == {"grid": [ROW] * 24, "palette": [NAMES[name] for name in PALETTE]}
    assert (extraction.reason, extraction.flags) == ("", ())
    assert extraction.facts == {"stage": "whole", "rows": 24, "cells": 576, "valid_cells": 576}


def test_perfect_grid_scores_one_everywhere():
    assert scores(answer_of([ROW] * 24)) == {**dict.fromkeys(NOTHING, 1.0), "stage": "whole"}


def test_25_rows_lose_a_24th_of_the_height():
    scored = scores(answer_of([ROW] * 25))

    assert scored["height"] == pytest.approx(23 / 24)
    assert scored["render"] == pytest.approx((23 / 24 + 1 + 1) / 3)
    assert scored["density"] == 1.0
    assert scored["score"] == pytest.approx(0.4 + 0.3 * (71 / 72) + 0.3)


def test_ragged_rows_grade_the_width_row_by_row():
    # 12 rows of 24, 6 of 12 (half), 6 of 60 (none): (12 + 3 + 0) / 24. In the window 12·24 + 6·12 + 6·24 = 504.
    scored = scores(answer_of([ROW] * 12 + [ROW[:12]] * 6 + [ROW * 2 + ROW[:12]] * 6))

    assert scored["width"] == pytest.approx(15 / 24)
    assert scored["density"] == pytest.approx(504 / 576)
    assert scored["quality"] == pytest.approx(0.7 + 0.3 * 504 / 576)
    assert scored["score"] == pytest.approx(0.4 + 0.3 * (1 + 15 / 24 + 1) / 3 + 0.3 * (0.7 + 0.3 * 504 / 576))


@pytest.mark.parametrize("wrong", [True, 1.0, 1.5, None, "3", [4], {"a": 5}, -1, 10])
def test_cells_that_are_not_ints_from_0_to_9_lower_the_type_score(wrong):
    # A quarter of each row is wrong; the rest has the four values 0 to 3.
    scored = scores(answer_of([[0, 1, 2, 3, 2, 1] * 3 + [wrong] * 6] * 24))

    assert scored["type"] == 0.75
    assert scored["density"] == 0.75
    assert scored["diversity"] == 0.5
    assert scored["quality"] == pytest.approx(0.35 + 0.225)


def test_missing_palette_costs_no_points_and_is_flagged():
    text = json.dumps({"grid": [ROW] * 24})
    extraction = FORMAT.extract(Answer(text))

    assert scores(text)["score"] == 1.0
    assert extraction.flags == ("no_palette",)
    assert json.loads(extraction.drawing)["palette"] == list(FALLBACK)


def test_digit_strings_count_as_rows():
    text = answer_of(["".join(map(str, ROW))] * 24)

    assert scores(text)["score"] == 1.0
    assert FORMAT.extract(Answer(text)).flags == ("digit_rows",)


def test_other_strings_are_rows_without_cells():
    # 23 good rows of 24 and one that is no row.
    scored = scores(answer_of([ROW] * 23 + ["twelve"]))

    assert (scored["height"], scored["width"], scored["type"]) == (1.0, pytest.approx(23 / 24), 1.0)


def test_diversity_has_a_soft_cap_of_eight():
    assert scores(answer_of([[0] * 24] * 24))["diversity"] == 0.125
    assert scores(answer_of([ROW[:8] * 3] * 24))["diversity"] == 1.0


PERFECT = answer_of([ROW] * 24)


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        (f"\n {PERFECT}\n", "whole"),
        (f"```json\n{PERFECT}\n```", "fence"),
        (f"~~~\nnot this\n~~~\n```\n{PERFECT}\n```", "fence"),
        (f"Here {{it}} is: {PERFECT} Enjoy!", "object"),
        (f"```json\n{PERFECT}", "object"),
        (f'{{"plan": "a sun"}} and then {PERFECT}', "object"),
        (f"<think>{answer_of([[1]])}</think>{PERFECT}", "cleaned"),
        (f"<think>\n```\n{answer_of([[1]])}\n```\n</think>\n```json\n{PERFECT}\n```", "cleaned"),
    ],
)
def test_each_stage_of_the_ladder_is_recorded(text, stage):
    assert scores(text) == {**dict.fromkeys(NOTHING, 1.0), "stage": stage}
    assert FORMAT.extract(Answer(text)).facts["stage"] == stage


def test_first_of_two_objects_with_a_grid_wins():
    assert climb(f"{answer_of([[5]])} or {PERFECT}").object["grid"] == [[5]]


@pytest.mark.parametrize(
    ("text", "reason", "score"),
    [
        ("I cannot draw.", "no_json", 0.0),
        (PERFECT[:900], "invalid_json", 0.0),
        ('{"grid": [[1,],], }', "invalid_json", 0.0),
        ("[1, 2]", "no_json", 0.0),
        ('{"picture": []}', "no_grid", 0.4),
        ('{"grid": "none"}', "no_grid", 0.4),
        ('{"grid": []}', "empty_grid", 0.4),
        ('{"result": {"grid": [[1]]}}', "no_grid", 0.4),
    ],
)
def test_answers_without_a_drawing_say_why_and_keep_partial_credit(text, reason, score):
    extraction = FORMAT.extract(Answer(text))

    assert (extraction.drawing, extraction.reason) == (None, reason)
    assert scores(text)["score"] == pytest.approx(score)


def test_a_grid_of_wrong_cells_has_the_points_of_its_shape_only():
    scored = scores(answer_of([["x"] * 24] * 24))

    assert (scored["render"], scored["quality"]) == (pytest.approx(2 / 3), 0.0)
    assert FORMAT.extract(Answer(answer_of([["x"] * 24] * 24))).reason == "empty_grid"


def test_a_cut_off_answer_says_so():
    assert FORMAT.extract(Answer(PERFECT[:900], finish_reason="length")).reason == "truncated"
    assert FORMAT.extract(Answer(PERFECT, finish_reason="length")).flags == ("truncated",)


@pytest.mark.parametrize("case", cases("json"), ids=lambda case: case["id"])
def test_hostile_case_meets_its_index(case):
    text = decode(case_bytes(case))[0]
    extraction = FORMAT.extract(Answer(text))

    assert all(0 <= value <= 1 for name, value in scores(text).items() if name != "stage")
    if case["verdict"] == "invalid":
        assert (extraction.drawing, extraction.reason) == (None, case["reason"])
        assert scores(text) == {**NOTHING, "stage": ""}
    elif case["verdict"] == "accept":
        assert (extraction.valid, extraction.flags, scores(text)["score"]) == (True, (), 1.0)
    else:
        assert extraction.valid
        assert case["reason"] in extraction.flags


def test_hostile_cell_types_score_as_the_formula_says():
    case = next(case for case in cases("json") if case["id"] == "json-cell-types")

    # Eleven of the first row's cells are wrong.
    assert scores(decode(case_bytes(case))[0])["type"] == pytest.approx(565 / 576)


def test_a_million_cells_are_drawn_as_24_by_24():
    case = next(case for case in cases("json") if case["id"] == "json-million-cells")
    text = decode(case_bytes(case))[0]
    drawing = FORMAT.extract(Answer(text)).drawing

    assert len(json.loads(drawing)["grid"]) == 24
    assert len(FORMAT.render(drawing).body) < 1_000
    # 0 for height and width, 1 for type; one value of eight; the window is full.
    assert scores(text)["score"] == pytest.approx(0.4 + 0.1 + 0.3 * (0.7 / 8 + 0.3))


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("black", "#000000"),
        ("Light Blue", "#add8e6"),
        ("dark_green", "#006400"),
        ("#F00", "#ff0000"),
        ("00ff7f", "#00ff7f"),
        ("#12345", None),
        ("#11223344", None),
        ("transparent", None),
        ("rgb(1,2,3)", None),
        ("red;background:url(x)", None),
        ('"/><script>', None),
        ("", None),
        (7, None),
        (None, None),
    ],
)
def test_colours_are_read_by_an_allow_list(given, read):
    assert read_colour(given) == read


def test_bad_colours_get_the_fallback_of_their_place():
    extraction = FORMAT.extract(Answer(answer_of([ROW] * 24, ["black", "url(x)"])))

    assert extraction.flags == ("invalid_colour", "palette_index")
    assert json.loads(extraction.drawing)["palette"] == ["#000000", *FALLBACK[1:]]


def test_render_merges_runs_across_and_down():
    assert rectangles([[1, 1, 2], [1, 1, None], [1, 2]]) == [
        (2, 0, 1, 1, 2),
        (0, 0, 2, 2, 1),
        (0, 2, 1, 1, 1),
        (1, 2, 1, 1, 2),
    ]


def test_render_is_crisp_and_has_only_allowed_colours():
    picture = FORMAT.render(FORMAT.extract(Answer(PERFECT)).drawing)
    svg = picture.body.decode("ascii")

    assert picture.media_type == "image/svg+xml"
    assert 'shape-rendering="crispEdges"' in svg
    assert set(re.findall(r'fill="([^"]*)"', svg)) == {"#ffffff", *(NAMES[name] for name in PALETTE)}


cells = st.integers(-2, 11) | st.booleans() | st.floats() | st.text(max_size=2) | st.none()
grids = st.lists(st.lists(cells, max_size=30) | st.text("0123456789x", max_size=30) | cells, max_size=30)


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet=st.characters(codec=None, categories=None))
    | st.text('{}[]",:0123456789grid`~ \n\\u<think>/', max_size=200)
    | st.builds(lambda grid, palette: json.dumps({"grid": grid, "palette": palette}), grids, grids)
)
def test_any_text_gets_scores_between_0_and_1(text):
    extraction = FORMAT.extract(Answer(text))
    scored = scores(text)

    assert scored.pop("stage") in ("", "whole", "fence", "object", "cleaned")
    assert scored.keys() == NOTHING.keys()
    assert all(0 <= value <= 1 for value in scored.values())
    if extraction.valid:
        assert clean_text(extraction.drawing) == (extraction.drawing, ())
        covered = [
            (x + i, y + j)
            for x, y, w, h, _ in rectangles(json.loads(extraction.drawing)["grid"])
            for i in range(w)
            for j in range(h)
        ]
        assert len(covered) == len(set(covered)) == round(scored["density"] * 576)


HEAVY = {
    "objects": lambda n: '{"a":1}' * n,
    "open objects": lambda n: '{"a":' * n,
    "blocks": lambda n: "```\n{}\n```\n" * n,
    "nested arrays": lambda n: '{"grid":' + "[" * n + "]" * n + "}",
    "cells": lambda n: '{"grid":[[' + "1," * n + "1]]}",
    "rows": lambda n: '{"grid":[' + "[1]," * n + "[1]]}",
    "text": lambda n: "a sun " * n,
}


def _seconds(text: str) -> float:
    def once() -> float:
        climb.cache_clear()
        start = time.process_time()
        scores(text)
        return time.process_time() - start

    return min(once() for _ in range(3))


@pytest.mark.parametrize("shape", HEAVY)
def test_scoring_takes_linear_time(shape):
    small, large = _seconds(HEAVY[shape](4_000)), _seconds(HEAVY[shape](32_000))

    # Eight times the text: linear is 8, quadratic 64.
    assert large < 24 * small + 0.01


def test_extra_keys_and_further_objects_are_flagged():
    extra = json.dumps({**json.loads(PERFECT), "title": "A"})

    assert FORMAT.extract(Answer(extra)).flags == ("extra_keys",)
    assert FORMAT.extract(Answer(f"{PERFECT}\nor\n{PERFECT}")).flags == ("multiple_objects",)
    assert FORMAT.extract(Answer("\ufffd\ufffdg\ufffd")).reason == "invalid_utf8"
