from __future__ import annotations

import json
from pathlib import Path

import pytest

from generation.suites.loading import read_models
from generation.suites.prompt_files import read_prompts
from generation.suites.yaml_source import SuiteError
from tests.generation.suites.suite_files import CONFIG, MODELS, PROGRAMS, PROMPTS, refusal, write_suite
from tests.hostile import FOLDER, cases

CASES = cases("yaml")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_hostile_file_behaves_as_indexed(case):
    path = FOLDER / case["file"]

    if case["verdict"] == "accept":
        assert [model.id for model in read_models(path)] == ["openai/gpt-4o", "anthropic/claude-3.5-sonnet"]
        return
    with pytest.raises(SuiteError) as caught:
        read_models(path)

    assert caught.value.reason == case["reason"]
    assert caught.value.line >= 1
    assert str(caught.value).startswith(f"hostile/{case['file']}, line {caught.value.line}, ")
    assert not Path("/tmp/pwned").exists()


@pytest.mark.parametrize(
    "entry", ["no", "1.10", "12:30:45", "0o14", "2024-01-01", "~", ".nan", '""', "010", "0x1F", "on"]
)
def test_surprising_scalar_is_refused_as_model_id(tmp_path, entry):
    folder = write_suite(tmp_path, models=f"models:\n  - fine/model\n  - {entry}\n")

    error = refusal(folder)

    assert (error.line, error.key) == (3, "models[1]")
    assert error.reason == ("bad_identifier" if entry == '""' else "wrong_type")


BAD_IDS = [
    "openai/gpt-4o\r\nX-Evil: 1",
    "../../etc/passwd",
    "a/<script>",
    "\0nul",
    "=cmd|' /C calc'!A0",
    "m" * 201,
    "ö",
]


@pytest.mark.parametrize("name", BAD_IDS)
def test_bad_model_id_is_refused(tmp_path, name):
    error = refusal(write_suite(tmp_path, models=f"models: [{json.dumps(name)}]"))

    assert (error.reason, error.key, error.line) == ("bad_identifier", "models[0]", 1)


STRUCTURE = {
    "anchor": ("models: &a [x/y]", "aliases_forbidden", 1),
    "alias": ("models:\n  - *a", "aliases_forbidden", 2),
    "merge key": ("models:\n  - id: a/b\n    <<: {note: c}", "merge_key", 3),
    "duplicate key": ("models:\n  - id: a/b\n    note: c\n    note: d", "duplicate_key", 4),
    "harmless tag": ("models:\n  - !!str a/b", "unsafe_tag", 2),
    "own tag": ("models:\n  - !model a/b", "unsafe_tag", 2),
    "second document": ("models: [a/b]\n---\nmodels: [c/d]", "multi_document", 2),
    "empty file": ("# nothing\n", "wrong_type", 1),
    "not a mapping": ("- a/b", "wrong_type", 1),
    "number as key": ("models: [a/b]\n1: 2", "wrong_type", 2),
    "list as key": ("models: [a/b]\n? [x]\n: y", "wrong_type", 2),
    "bad indent": ("models:\n  - id: a\n   note: b", "not_yaml", 3),
    "open quote": ('models:\n  - "a', "not_yaml", 2),
    "bad escape": ('models:\n  - "\\UFFFFFFFF"', "not_yaml", 2),
    "control character": ("models:\n  - a\x01b", "not_yaml", 2),
    "escaped control character": ('models:\n  - {id: a/b, note: "x\\0y"}', "bad_characters", 2),
    "lone surrogate": ('models:\n  - {id: a/b, note: "x\\uD800"}', "bad_characters", 2),
    "deep nesting": ("models: " + "[" * 100_000, "too_deep", 1),
    "too large": ("models: [a/b] #" + "ö" * 300_000, "oversize", 1),
    "too many values": ("models:\n" + "  - a/b\n" * 30_000, "oversize", 19_999),
    "no models": ("models: []", "wrong_length", 1),
    "same model twice": ("models:\n  - a/b\n  - id: a/b", "duplicate_model", 3),
    "reserved parameter": ("models:\n  - id: a/b\n    parameters:\n      model: c", "reserved_key", 4),
    "second limit": ("models:\n  - id: a/b\n    parameters: {max_tokens: 9}", "reserved_key", 3),
    "no limit": ("models:\n  - id: a/b\n    parameters: {max_tokens: null}", "reserved_key", 3),
    "two limits": ("models:\n  - id: a/b\n    parameters: {max_completion_tokens: 9}", "reserved_key", 3),
    "larger limit": (
        "models:\n  - id: a/b\n    parameters:\n      max_tokens: null\n      max_completion_tokens: 4001",
        "out_of_range",
        5,
    ),
    "empty limit": (
        "models:\n  - id: a/b\n    parameters: {max_tokens: null, max_completion_tokens: null}",
        "wrong_type",
        3,
    ),
    "infinite number": ("models:\n  - id: a/b\n    parameters: {x: 1e999}", "out_of_range", 3),
    "unknown provider": ("models:\n  - id: a/b\n    provider: olama", "unknown_provider", 3),
    "only the price in": ("models:\n  - id: a/b\n    price_in: 1", "missing_key", 3),
    "no price in": ("models:\n  - id: a/b\n    price_out: 1\n    price_in:", "missing_key", 3),
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_models_file_is_refused_with_its_line(tmp_path, name):
    text, reason, line = STRUCTURE[name]

    error = refusal(write_suite(tmp_path, models=text))

    assert (error.reason, error.line) == (reason, line)
    assert error.file.endswith("letters/models.yaml")
    assert error.hint


@pytest.mark.parametrize("text", ["{note: Who?, id: a/b}", "[Who?, What?]", "{note: Was: nein, id: a/b}"])
def test_a_mark_that_needs_quotes_between_brackets_is_named(tmp_path, text):
    error = refusal(write_suite(tmp_path, models=f"models:\n  - {text}"))

    mark = "?" if "?" in text else ":"
    assert (error.line, error.message) == (2, f"not YAML: “{mark}” stands within {{ }} or [ ]")
    assert error.hint.startswith("put the text that holds it in quotes")


def test_file_that_is_not_utf8_is_refused(tmp_path):
    folder = write_suite(tmp_path)
    (folder / "models.yaml").write_bytes(b"models:\n  - a/b\n  - \xff\xfe\n")

    error = refusal(folder)

    assert (error.reason, error.line) == ("not_utf8", 3)


CONFIG_FAULTS = {
    "unknown format": ("format: svg", "format: svgg", "unknown_format", "suite.format"),
    "unknown protocol": ("[rubric, pairwise]", "[rubric, pairwize]", "unknown_protocol", "suite.protocols[1]"),
    "protocol twice": ("[rubric, pairwise]", "[rubric, rubric]", "duplicate_protocol", "suite.protocols[1]"),
    "no protocol": ("[rubric, pairwise]", "[]", "wrong_length", "suite.protocols"),
    "larger limit": (
        "{top_p: 0.9}",
        "{max_tokens: null, max_completion_tokens: 4001}",
        "out_of_range",
        "generation.parameters.max_completion_tokens",
    ),
    "unknown provider": ("provider: openrouter", "provider: openruter", "unknown_provider", "generation.provider"),
    "text for number": ("temperature: 1", 'temperature: "1"', "wrong_type", "generation.temperature"),
    "bool for number": ("seed: 7", "seed: true", "wrong_type", "suite.seed"),
    "float for int": (
        "attempts_per_prompt: 2",
        "attempts_per_prompt: 2.0",
        "wrong_type",
        "generation.attempts_per_prompt",
    ),
    "zero attempts": (
        "attempts_per_prompt: 2",
        "attempts_per_prompt: 0",
        "out_of_range",
        "generation.attempts_per_prompt",
    ),
    "negative budget": ("budget: 2.5", "budget: -1", "out_of_range", "suite.budget"),
    "weights": ("weight: 0.6", "weight: 0.5", "out_of_range", "rubric.stages[0].dimensions"),
    "scale": ("high: 10", "high: 9.9", "out_of_range", "rubric.step"),
    "reveal": ("after_vote", "always", "unknown_reveal", "judging.reveal"),
    "faces": ("repeats: 0.1", "faces: tiny", "unknown_faces", "judging.faces"),
    "pairs": ("repeats: 0.1", "pairs: swiss", "unknown_pairs", "judging.pairs"),
    "pairs and names": ("repeats: 0.1", "pairs: adaptive", "conflict", "judging.pairs"),
    "stage twice": ("key: s2\n      label", "key: s1\n      label", "duplicate_stage", "rubric.stages[1]"),
    "blank title": ("title: Letters", 'title: " "', "wrong_type", "suite.title"),
    "empty title": ("title: Letters", "title:", "wrong_type", "suite.title"),
    "nearest key": ("overlap: 0.5", "overlapp: 0.5", "unknown_key", "judging.overlapp"),
}


@pytest.mark.parametrize("name", CONFIG_FAULTS)
def test_config_file_is_refused_with_its_line(tmp_path, name):
    old, new, reason, key = CONFIG_FAULTS[name]
    assert CONFIG.count(old) == 1
    line = CONFIG[: CONFIG.index(old)].count("\n") + 1

    error = refusal(write_suite(tmp_path, config=CONFIG.replace(old, new)))

    assert (error.reason, error.key) == (reason, key)
    # Weights and the scale concern a block; everything else is on the very line.
    assert error.line <= line if name in ("weights", "scale") else error.line == line


def test_unknown_key_names_the_nearest(tmp_path):
    error = refusal(write_suite(tmp_path, models=MODELS.replace("label:", "lable:")))

    assert str(error).endswith(
        "letters/models.yaml, line 4, models[1].lable: unknown key 'lable'; did you mean 'label'."
    )


def test_half_a_price_is_refused_by_its_name(tmp_path):
    error = refusal(write_suite(tmp_path, models=MODELS.replace("    price_out: 2\n", "")))

    assert str(error).endswith(
        "letters/models.yaml, line 9, models[1].price_in: is half a price, without price_out; "
        "give price_out too, or delete price_in."
    )


PROMPT_FAULTS = {
    "no shape": ("category: s1", "missing_key", 1),
    "two shapes": (PROMPTS + "prompts: []\n", "unknown_key", 9),
    "no stage": ("prompts:\n  - text: Draw", "missing_key", 2),
    "unknown stage": ("prompts:\n  - text: Draw\n    category: s3", "unknown_category", 3),
    "unknown placeholder": (PROMPTS.replace("{{letter}}", "{{letter}} {{size}}"), "unknown_slot", 4),
    "no placeholder": (PROMPTS.replace("{{letter}}", "A"), "unknown_slot", 4),
    "same text": ("category: s1\nprompts:\n  - {key: a, text: x}\n  - {key: b, text: x}", "duplicate_prompt_text", 4),
    "same key": ("category: s1\nprompts:\n  - {key: a, text: x}\n  - {key: a, text: y}", "duplicate_prompt_key", 4),
    "no key to be made": ("category: s1\nprompts:\n  - text: 雪", "missing_key", 3),
    "words missing": ("prompts_per_template: 1\ntemplates: []", "missing_key", 1),
    "unknown slot": (
        "prompts_per_template: 1\nwords: {OBJECT: [cup]}\ntemplates:\n  - category: s1\n    template: a [THING]",
        "unknown_slot",
        5,
    ),
    "too few prompts": (
        "prompts_per_template: 3\nwords: {OBJECT: [cup, key]}\ntemplates:\n  - category: s1\n    template: a [OBJECT]",
        "too_few_prompts",
        5,
    ),
    "same word twice": (
        "prompts_per_template: 1\nwords:\n  OBJECT: [cup, cup]\ntemplates:\n  - {category: s1, template: a [OBJECT]}",
        "not_yaml",
        5,
    ),
    "word twice": (
        "prompts_per_template: 1\nwords:\n  OBJECT: [cup, cup]\ntemplates:\n  - {category: s1, template: 'a [OBJECT]'}",
        "duplicate_word",
        3,
    ),
    "yes-or-no word": ("prompts_per_template: 1\nwords:\n  OBJECT: [cup, no]\ntemplates: []", "wrong_type", 3),
    "small slot": ("prompts_per_template: 1\nwords:\n  object: [cup]\ntemplates: []", "bad_identifier", 3),
}


@pytest.mark.parametrize("name", PROMPT_FAULTS)
def test_prompts_file_is_refused_with_its_line(tmp_path, name):
    text, reason, line = PROMPT_FAULTS[name]

    error = refusal(write_suite(tmp_path, prompts=text))

    assert (error.reason, error.line) == (reason, line)
    assert error.file.endswith("letters/prompts.yaml")


def test_program_that_does_not_qualify_is_refused_with_reasons(tmp_path):
    error = refusal(write_suite(tmp_path, programs=PROGRAMS.replace("Build {{target}}.", "Build it.")))

    assert (error.reason, error.line, error.key) == ("unqualified", 5, "programs[0].turns")
    assert "No turn has the placeholder {{target}}" in str(error)


def test_templates_make_no_more_prompts_than_a_list_may_have(tmp_path):
    many = "".join(f"  - {{category: s1, template: 'Draw {n} [OBJECT]'}}\n" for n in range(3))
    path = tmp_path / "prompts.yaml"
    path.write_text(f"prompts_per_template: 2\nwords: {{OBJECT: [cup, key]}}\ntemplates:\n{many}")

    assert len(read_prompts(path, seed=1, most=6)) == 6
    with pytest.raises(SuiteError, match="the templates make too many prompts") as caught:
        read_prompts(path, seed=1, most=5)

    assert (caught.value.reason, caught.value.line) == ("wrong_length", 6)
