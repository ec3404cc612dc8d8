"""Seed 004, sentence by sentence: each test is named by what the data card says."""

from __future__ import annotations

import json

import pytest
from django.conf import settings

from generation.formats import get_format
from generation.formats.base import Answer
from generation.suites.loading import load_suite

FORM = get_format("pixel_art")
FULL = [[(row + column) % 8 for column in range(24)] for row in range(24)]


@pytest.fixture(scope="module")
def suite():
    return load_suite(settings.BASE_DIR / "config" / "pixel-art-lite")


def scores(text: str) -> dict:
    answer = Answer(text)
    extraction = FORM.extract(answer)
    if extraction.valid:
        return FORM.measure(extraction.drawing, answer, backend="builtin")
    return FORM.measure_invalid(answer, extraction, backend="builtin")


def drawn(grid, **more) -> dict:
    return scores(json.dumps({"grid": grid, "palette": ["black", "yellow", "orange"], **more}))


def test_7_subjects_in_5_categories_have_these_ids(suite):
    rows = {prompt.key: (prompt.subject, prompt.category) for prompt in suite.prompts}

    assert rows == {
        "mario": ("Mario from Super Mario Bros", "character"),
        "rainbow": ("a rainbow", "nature"),
        "sun": ("the sun", "nature"),
        "saturn": ("the planet Saturn with its rings", "space"),
        "maze": ("a maze", "abstract"),
        "mona_lisa": ("the Mona Lisa", "art"),
        "hope": ("hope", "abstract"),
    }


def test_the_prompt_is_the_cards_own(suite):
    saturn = next(prompt for prompt in suite.prompts if prompt.key == "saturn")

    assert saturn.text.splitlines() == [
        "Draw pixel art on a 24x24 grid.",
        "Return a JSON object with:",
        '- "grid": 24x24 list of integers (0–9)',
        '- "palette": list of colors used',
        "Subject: the planet Saturn with its rings",
    ]


@pytest.mark.parametrize(
    "frame",
    ["{}", "Here it is: {} Enjoy.", "```json\n{}\n```", "<think>A draft.</think>\n```\n{}\n```"],
    ids=["direct parsing", "extraction of JSON blocks", "code fences", "formatting artifacts"],
)
def test_json_validity_uses_a_multi_stage_extraction_pipeline(frame):
    assert scores(frame.replace("{}", json.dumps({"grid": FULL})))["json"] == 1.0


def test_parsing_that_failed_scores_0():
    assert scores('{"grid": [[0, 1')["json"] == 0.0


def test_output_must_be_valid_json_and_keeps_its_points_without_a_grid():
    assert scores('{"palette": []}')["score"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("grid", "flag"),
    [
        (FULL[:20], "wrong_shape"),
        ([[*row[:23], 10] for row in FULL], "invalid_cell"),
        ([[*row[:23], 1.5] for row in FULL], "invalid_cell"),
    ],
    ids=["not 24 rows", "over 9", "no integer"],
)
def test_grid_must_be_24_by_24_and_values_must_be_integers_0_to_9(grid, flag):
    assert FORM.extract(Answer(json.dumps({"grid": grid, "palette": ["black"]}))).flags[0] == flag


def test_palette_is_the_list_of_colors_used():
    answer = Answer(json.dumps({"grid": [[0, 1] * 12] * 24, "palette": ["black", "yellow"]}))

    picture = FORM.render(FORM.extract(answer).drawing).body.decode()

    assert "#ffff00" in picture.lower() or "yellow" in picture


def test_height_score_says_how_close_grid_height_is_to_24():
    assert drawn(FULL[:12])["height"] == pytest.approx(0.5)
    assert drawn(FULL + FULL)["height"] == 0.0


def test_width_score_says_how_consistent_row_lengths_are():
    ragged = [row[:12] if number % 2 else row for number, row in enumerate(FULL)]

    assert drawn(ragged)["width"] == pytest.approx(0.75)
    assert drawn([row[:12] for row in FULL])["width"] == pytest.approx(
        0.5
    )  # alike, but not 24: the reading in the docs


def test_type_score_is_the_proportion_of_valid_integer_cells():
    half = [[10] * 12 + row[:12] for row in FULL]

    assert drawn(half)["type"] == pytest.approx(0.5)


def test_render_is_the_mean_of_height_width_and_type():
    values = drawn([["x"] * 6 + row[:12] for row in FULL[:18]])

    assert values["render"] == pytest.approx((values["height"] + values["width"] + values["type"]) / 3)
    assert 0 < values["render"] < 1


@pytest.mark.parametrize(("colours", "diversity"), [(1, 1 / 8), (4, 0.5), (8, 1.0), (10, 1.0)])
def test_color_diversity_has_a_soft_cap_at_8_colors(colours, diversity):
    grid = [[(row * 24 + column) % colours for column in range(24)] for row in range(24)]

    assert drawn(grid)["diversity"] == pytest.approx(diversity)


def test_grid_density_is_the_proportion_of_valid_filled_cells():
    assert drawn(FULL[:6])["density"] == pytest.approx(0.25)


def test_quality_is_0_7_diversity_and_0_3_density():
    values = drawn([[cell % 4 for cell in row] for row in FULL[:12]])

    assert values["quality"] == pytest.approx(0.7 * 0.5 + 0.3 * 0.5)


def test_score_is_0_4_json_validity_and_0_3_render_success_and_0_3_quality():
    values = drawn(FULL[:12])

    assert values["score"] == pytest.approx(0.4 * values["json"] + 0.3 * values["render"] + 0.3 * values["quality"])
    assert drawn(FULL)["score"] == pytest.approx(1.0)


def test_generated_structures_are_usable_downstream_for_rendering():
    answer = Answer(json.dumps({"grid": FULL, "palette": ["black"]}))

    assert FORM.render(FORM.extract(answer).drawing).body.startswith(b"<svg")
