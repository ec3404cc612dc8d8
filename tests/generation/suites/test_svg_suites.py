"""The two shipped suites of SVG drawings, against the specification."""

from __future__ import annotations

from pathlib import Path

from generation.suites.loading import load_suite

ROOT = Path(__file__).resolve().parents[3] / "config"


def test_pokemon_svg_has_the_values_of_its_specification():
    suite = load_suite(ROOT / "pokemon-svg")
    stages = {stage.key: stage for stage in suite.rubric.stages}

    assert (suite.format, suite.protocols, suite.generation.attempts_per_prompt) == ("svg", ("rubric",), 2)
    assert [stage.weight for stage in stages.values()] == [1.0, 1.8, 3.2]
    assert [[d.label for d in stage.dimensions] for stage in stages.values()] == [
        ["Geometry", "Colour", "Impression"],
        ["Signature", "Proportion", "Impression"],
        ["Structure", "Detail", "Impression"],
    ]
    assert all([d.weight for d in stage.dimensions] == [0.4, 0.2, 0.4] for stage in stages.values())
    assert (suite.rubric.low, suite.rubric.high, suite.rubric.step, suite.rubric.missing) == (0, 10, 0.5, "zero")


def test_pokemon_svg_asks_for_five_subjects_a_stage_and_describes_each():
    suite = load_suite(ROOT / "pokemon-svg")

    assert [sum(prompt.category == key for prompt in suite.prompts) for key in ("s1", "s2", "s3")] == [5, 5, 5]
    assert suite.prompts[5].text == "Generate the SVG code for the Pokémon Pikachu"
    assert all(prompt.facts["description"].endswith(".") for prompt in suite.prompts)


def test_two_models_get_the_extra_prompt():
    suite = load_suite(ROOT / "pokemon-svg")
    extra = {model.label: model.extra_prompt for model in suite.models if model.extra_prompt}

    assert extra == dict.fromkeys(
        ("Kimi-K2.6", "GLM 5.1"), "Output only the SVG tag code. No additional text and tool call."
    )
    assert all(model.note for model in suite.models if model.extra_prompt or model.parameters)


def test_svg_arena_compares_ten_subjects_in_pairs():
    suite = load_suite(ROOT / "svg-arena")

    assert (suite.format, suite.protocols, len(suite.prompts)) == ("svg", ("pairwise",), 10)
    assert suite.prompts[0].text == "Draw a heron ironing a shirt. Answer with the code of one SVG image."
