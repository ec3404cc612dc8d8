"""Seed 002, sentence by sentence: each test is named by what the About page says."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from django.conf import settings
from django.urls import reverse

from generation.drawing.questions import messages_of
from generation.files.import_samples import import_samples
from generation.formats import get_format
from generation.formats.base import Answer
from generation.formats.svg.statistics import ADVANCED
from generation.providers.requests import Request, payload_of
from generation.reading.measuring import measure_run
from generation.runs.lifecycle import start_run
from generation.runs.loaded import load_run
from generation.suites.loading import load_suite
from judging.grades.sheets import next_item
from ranking.charts.quadrants import Dot, quadrant_of
from ranking.fitting import fit_run
from ranking.rubric.files import COLUMNS
from ranking.rubric.scores import score_rubric
from ranking.simulated.grades import simulate_grades
from tests.judging.graded import grade, grade_all, make_rubric_run, seat_with_list

CONSTRAINT = "Output only the SVG tag code. No additional text and tool call."
DIMENSIONS = {
    "s1": ["geometry", "color", "impression"],
    "s2": ["signature", "proportion", "impression"],
    "s3": ["structure", "detail", "impression"],
}


@pytest.fixture(scope="module")
def suite():
    return load_suite(settings.BASE_DIR / "config" / "pokemon-svg")


@pytest.fixture
def board(client, db):
    """A published run that one judge graded with 6.5 throughout, and the page of its leaderboard."""
    run = make_rubric_run(subjects=1, attempts=1)
    run.entrants.filter(pk=run.entrants.first().pk).update(note="through a third-party proxy")
    measure_run(run)
    grade_all(seat_with_list(run), lambda item, dimension: 6.5)
    run.judging_state, run.visibility = "closed", "published"
    run.save()
    fit_run(run)
    return run, client.get(reverse("ranking:leaderboard", args=[run.code])).text


def measured(svg: str) -> dict:
    form = get_format("svg")
    return form.measure(form.extract(Answer(svg)).drawing, Answer(svg), backend="builtin")


def test_five_pokemon_for_each_of_three_groups_with_2_attempts_make_30_svgs_per_model(suite):
    groups = [prompt.category for prompt in suite.prompts]

    assert {key: groups.count(key) for key in groups} == {"s1": 5, "s2": 5, "s3": 5}
    assert len(groups) * suite.generation.attempts_per_prompt == 30


def test_the_simplest_unified_prompt_is_used(suite):
    assert suite.prompts[5].text == "Generate the SVG code for the Pokémon Pikachu"
    assert {prompt.text.rpartition(" ")[0] for prompt in suite.prompts} == {"Generate the SVG code for the Pokémon"}
    assert suite.generation.system_prompt == ""


@pytest.mark.django_db
def test_only_apis_are_used_without_any_additional_tools(suite):
    loaded = load_run(start_run(suite, demo=False, draw=False, budget=1).pk)
    prompt = next(iter(loaded.prompts.values()))

    for entrant in loaded.entrants.values():
        model = loaded.models[entrant.model_id]
        messages = tuple(messages_of(loaded.suite, model, entrant, prompt, ()))
        body = payload_of(loaded.profiles[model.pk], Request(model.model_id, messages, parameters=model.parameters))
        assert [message["role"] for message in messages] == ["user"]
        assert not {"tools", "tool_choice", "plugins"} & body.keys()


def test_request_parameters_are_as_in_real_world_usage(suite):
    assert suite.generation.temperature is None  # the provider's own
    efforts = [model.parameters["reasoning"]["effort"] for model in suite.models if "reasoning" in model.parameters]
    assert efforts and set(efforts) == {"medium"}


@pytest.mark.django_db
def test_models_that_like_html_get_the_extra_constraint_prompt_and_no_others(suite):
    loaded = load_run(start_run(suite, demo=False, draw=False, budget=1).pk)
    prompt = next(iter(loaded.prompts.values()))

    def asked(label):
        model = next(model for model in loaded.models.values() if model.label == label)
        entrant = next(entrant for entrant in loaded.entrants.values() if entrant.model_id == model.pk)
        return messages_of(loaded.suite, model, entrant, prompt, ())[0]["content"]

    assert asked("Gemini 3.1 Pro") == prompt.text
    assert asked("Kimi-K2.6") == asked("GLM 5.1") == f"{prompt.text}\n\n{CONSTRAINT}"


def test_svg_information_is_captured_also_from_html():
    page = '<!DOCTYPE html><html><body><svg xmlns="http://www.w3.org/2000/svg"><rect width="5" height="5"/></svg></body></html>'

    assert get_format("svg").extract(Answer(page)).drawing.startswith("<svg")


@pytest.mark.django_db
def test_models_without_a_public_api_are_generated_elsewhere_and_marked_on_the_leaderboard(client):
    run = make_rubric_run(entrants=2, subjects=1, attempts=1)
    drawing = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="5"/></svg>'
    rows = [
        {"model_id": "composer-2", "prompt_text": prompt.text, "attempt_number": 1, "raw_output": drawing}
        | {"label": "Composer 2", "made": "subagents in Cursor, tools disabled"}
        for prompt in run.prompts.all()
    ]
    import_samples([json.dumps(row).encode() for row in rows], run=run)
    simulate_grades(run, judges=2)
    run.judging_state, run.visibility = "closed", "published"
    run.save()
    fit_run(run)

    page = client.get(reverse("ranking:leaderboard", args=[run.code])).text

    assert "Composer 2" in page
    assert "subagents in Cursor, tools disabled" in page


def test_a_brief_description_of_each_pokemon_stands_by_its_picture(suite, client, db):
    assert all(20 < len(prompt.facts["description"]) < 200 for prompt in suite.prompts)
    seat = seat_with_list(make_rubric_run(subjects=1, attempts=1))
    client.force_login(seat.judge)

    page = client.get(reverse("judging:judge", args=[seat.run.code]), follow=True)

    assert next_item(seat).sample.prompt.facts["description"] in page.text


def test_scores_are_fine_tuned_again_from_a_holistic_perspective(client, db):
    seat = seat_with_list(make_rubric_run(subjects=1, attempts=1))
    grade(seat, item := next_item(seat), 6.5)
    client.force_login(seat.judge)

    page = client.get(reverse("judging:align", args=[seat.run.code, item.stage])).text
    grade(seat, item, 7.0)

    assert "6.5" in page
    assert sorted(seat.run.grades.filter(withdrawn_at=None).values_list("value", flat=True)) == [7.0] * 3


def test_the_relevant_information_is_marked_on_the_leaderboard(board):
    run, page = board

    assert "through a third-party proxy" in page
    assert "## Notes" in (text := run.fits.first().result["run"]["md"]) and "through a third-party proxy" in text


def test_the_svg_structure_table_has_size_total_tags_advanced_tags_and_visual_score(board):
    run, page = board

    heads = ("Visual score", "Size (bytes)", "Total tags", "Advanced tags", "Anchors")
    assert all(f">{head}</th>" in page for head in heads)
    assert "| " + " | ".join(heads) + " |" in run.fits.first().result["run"]["md"].replace("| Entrant ", "")


def test_the_visual_score_is_the_weighted_score_times_10_and_the_horizontal_axis_the_anchor_count(board):
    run, page = board
    points = run.fits.first().result["run"]["points"]

    assert {point["visual"] for point in points} == {65.0}  # 6.5 on every dimension
    assert {point["anchors"] for point in points} == {4}
    assert "Anchors against visual score" in page


def test_a_4_2_4_weight_distribution_is_adopted(suite):
    for stage in suite.rubric.stages:
        assert [dimension.key for dimension in stage.dimensions] == DIMENSIONS[stage.key]
        assert [dimension.weight for dimension in stage.dimensions] == [0.4, 0.2, 0.4]


def test_the_scoring_range_for_all_dimensions_is_0_to_10(suite):
    assert (suite.rubric.low, suite.rubric.high) == (0, 10)


def grades(marks) -> pd.DataFrame:
    """One judge's three marks for each drawing, by stage."""
    rows = [
        ("ann", "m", stage, f"p{number // 2}", number % 2 + 1, dimension, mark)
        for stage, drawings in marks.items()
        for number, three in enumerate(drawings)
        for dimension, mark in zip(DIMENSIONS[stage], three, strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_the_group_average_is_an_arithmetic_mean_and_the_total_weighs_1_to_1_8_to_3_2(suite):
    marks = {"s1": [(8, 5, 7), (6, 6, 6)], "s2": [(6, 10, 4), (5, 5, 5)], "s3": [(5, 0, 5), (2, 2, 2)]}
    means = {stage: sum(0.4 * a + 0.2 * b + 0.4 * c for a, b, c in drawings) / 2 for stage, drawings in marks.items()}
    n = 10
    total = (means["s1"] * n * 1.0 + means["s2"] * n * 1.8 + means["s3"] * n * 3.2) * 100 / 600

    (score,) = score_rubric(grades(marks), rubric=suite.rubric).scores

    assert {key: stage.value for key, stage in score.stages.items()} == pytest.approx(means)
    assert score.total.value == pytest.approx(total)


def test_the_theoretical_maximum_is_100_points(suite):
    marks = {stage: [(10, 10, 10)] * 10 for stage in DIMENSIONS}

    (score,) = score_rubric(grades(marks), rubric=suite.rubric).scores

    assert score.total.value == pytest.approx(100)


SVG = '<svg xmlns="http://www.w3.org/2000/svg"><defs/><g><path d="M0 0L5 5é"/></g><!-- <rect/> --></svg>'


def test_size_is_the_byte_length_in_utf_8():
    svg = SVG.replace("é", "")

    assert measured(svg)["bytes"] == len(svg.encode("utf-8"))
    assert measured(svg.replace("<g>", '<g id="é">'))["bytes"] == len(svg) + len(' id="é"') + 1


def test_total_tags_is_the_parsed_opening_tag_count():
    assert measured(SVG.replace("é", ""))["tags"] == 4  # svg, defs, g, path; no comment, no closing tag


def test_advanced_tags_is_the_proportion_within_the_predefined_set():
    assert measured(SVG.replace("é", ""))["advanced_share"] == 1 / 4
    assert len(ADVANCED) == 13


@pytest.mark.parametrize(
    ("visual", "anchors", "name"),
    [(90, 10, "Minimal"), (90, 500, "Refined"), (20, 10, "Crude"), (20, 500, "Cluttered")],
)
def test_the_meanings_of_the_four_quadrants(visual, anchors, name):
    assert quadrant_of(Dot(anchors, visual, ""), anchors=100, visual=50) == name
