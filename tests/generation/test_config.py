from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generation.config import BrokenSuite, Suite, SuiteError, load_suite, load_suites, read_models
from generation.suite import Generation, Judging, ModelEntry, ProgramEntry, ProgramRules, PromptEntry, Rubric
from tests.generation.suite_files import CONFIG, FILES, MODELS, PROGRAMS, PROMPTS, write_suite

HOSTILE = Path(__file__).parent.parent / "hostile"
CASES = [case for case in json.loads((HOSTILE / "index.json").read_text())["cases"] if case["kind"] == "yaml"]
# What is under these keys belongs to a provider, a format or a page, so any key and value may be right there.
FREE = ("parameters", "facts", "format_options")


def refusal(folder: Path) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        load_suite(folder)
    return caught.value


def test_suite_works(tmp_path):
    suite = load_suite(write_suite(tmp_path))

    assert suite.generation == Generation(2, 1.0, 4000, "openrouter", "Draw.", {"top_p": 0.9})
    assert suite.judging == Judging(0.5, 0.1, 20, 300, "after_vote", "Look closely.")
    assert suite.models[0] == ModelEntry("plain/model", "plain/model")
    assert suite.models[1].parameters == {"reasoning": {"effort": "low"}}
    assert (suite.models[1].price_in, suite.models[1].price_out) == (0.5, 2.0)
    assert suite.prompts == (
        PromptEntry("A", "Draw the letter A", "s1", "A"),
        PromptEntry("bee", "Draw the letter B", "s2", "B", {"target": "B", "description": "Two bows."}),
    )
    assert suite.programs[0] == ProgramEntry(
        "zero-shot", "hosts", ("Build {{target}}.",), baseline=True, note="The one to beat."
    )
    assert suite.programs[1].disqualified == "Copied from another team."
    assert [stage.weight for stage in suite.rubric.stages] == [1.0, 1.8]
    assert (suite.slug, suite.budget_usd, suite.provider_order) == ("letters", 2.5, ("first", "second"))
    assert suite.protocols == ("rubric", "pairwise")


def test_defaults_apply_where_optional_keys_are_absent(tmp_path):
    config = """\
suite: {title: T, description: D, method: M, format: svg, protocols: [pairwise], seed: 0}
generation: {attempts_per_prompt: 1, temperature: 0, max_tokens: 10, provider: ollama}
"""
    prompts = "prompts: [{text: Draw a cat, category: big_cats}, {text: Draw}]"

    suite = load_suite(write_suite(tmp_path, config=config, prompts=prompts, programs=None))

    assert (suite.judging, suite.rubric, suite.budget_usd, suite.concurrency) == (Judging(), None, None, 8)
    assert [(category.key, category.label) for category in suite.categories] == [("big_cats", "Big cats")]
    assert [prompt.key for prompt in suite.prompts] == ["Draw-a-cat", "Draw"]


def test_categories_come_from_the_rubric_when_not_named(tmp_path):
    config = CONFIG[: CONFIG.index("categories:")]

    suite = load_suite(write_suite(tmp_path, config=config))

    assert [(category.key, category.label) for category in suite.categories] == [("s1", "Stage 1"), ("s2", "Stage 2")]


def test_suite_survives_json(tmp_path):
    suite = load_suite(write_suite(tmp_path))

    copy = Suite.from_dict(json.loads(json.dumps(suite.to_dict())))

    assert copy == suite
    assert copy.digest() == suite.digest()


def test_digest_changes_with_any_word(tmp_path):
    suite = load_suite(write_suite(tmp_path))

    other = replace(suite, prompts=(*suite.prompts[:-1], replace(suite.prompts[-1], text="Draw the letter b")))

    assert other.digest() != suite.digest()
    assert re.fullmatch("[0-9a-f]{64}", suite.digest())


def test_old_copies_get_defaults_for_keys_that_came_later(tmp_path):
    suite = load_suite(write_suite(tmp_path))
    data = suite.to_dict()
    del data["program_rules"]
    data["a_key_of_the_future"] = 1

    assert Suite.from_dict(data) == replace(suite, program_rules=ProgramRules())


TEXT = st.text(max_size=20)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PARAMETERS = st.dictionaries(TEXT, JSON, max_size=2)
PRICE = st.none() | FLOATS
SUITES = st.builds(
    Suite,
    generation=st.builds(Generation, temperature=FLOATS, parameters=PARAMETERS),
    models=st.lists(st.builds(ModelEntry, parameters=PARAMETERS, price_in=PRICE, price_out=PRICE), max_size=2).map(
        tuple
    ),
    prompts=st.lists(st.builds(PromptEntry, facts=PARAMETERS), max_size=2).map(tuple),
    budget_usd=PRICE,
    judging=st.builds(Judging, overlap=FLOATS, repeats=FLOATS),
    rubric=st.none() | st.builds(Rubric, step=FLOATS, low=FLOATS, high=FLOATS, stages=st.just(())),
    format_options=PARAMETERS,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SUITES)
def test_any_suite_survives_json(suite):
    copy = Suite.from_dict(json.loads(json.dumps(suite.to_dict())))

    assert copy == suite
    assert copy.digest() == suite.digest()


IDS = st.from_regex(r"[A-Za-z0-9._:/@~-]{1,40}", fullmatch=True).filter(lambda name: ".." not in name)
LINES = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\u2028\u2029"), min_size=1).map(
    str.strip
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(IDS, LINES.filter(bool)), min_size=1, max_size=4, unique_by=lambda pair: pair[0]))
def test_quoted_text_is_read_back_as_written(tmp_path, pairs):
    file = tmp_path / "models.yaml"
    rows = [{"id": name, "label": label[:100].strip()} for name, label in pairs]
    file.write_text(yaml.safe_dump({"models": rows}, default_style='"', allow_unicode=True))

    models = read_models(file)

    assert [{"id": model.id, "label": model.label} for model in models] == rows


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_hostile_file_behaves_as_indexed(case):
    path = HOSTILE / case["file"]

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
    "no models": ("models: []", "wrong_length", 1),
    "same model twice": ("models:\n  - a/b\n  - id: a/b", "duplicate_model", 3),
    "reserved parameter": ("models:\n  - id: a/b\n    parameters:\n      model: c", "reserved_key", 4),
    "infinite number": ("models:\n  - id: a/b\n    parameters: {x: 1e999}", "out_of_range", 3),
    "unknown provider": ("models:\n  - id: a/b\n    provider: olama", "unknown_provider", 3),
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_models_file_is_refused_with_its_line(tmp_path, name):
    text, reason, line = STRUCTURE[name]

    error = refusal(write_suite(tmp_path, models=text))

    assert (error.reason, error.line) == (reason, line)
    assert error.file.endswith("letters/models.yaml")
    assert error.hint


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


def test_missing_file_is_named(tmp_path):
    error = refusal(write_suite(tmp_path, models=None))

    assert error.reason == "missing_file"
    assert error.file.endswith("letters/models.yaml")


def test_misspelt_file_is_named(tmp_path):
    folder = write_suite(tmp_path)
    (folder / "program.yaml").write_text(PROGRAMS)

    assert str(refusal(folder)).endswith(
        "letters/program.yaml: a suite has no such file; did you mean 'programs.yaml'."
    )


def test_folder_name_must_be_a_slug(tmp_path):
    assert refusal(write_suite(tmp_path, slug="My Suite")).reason == "bad_identifier"


def test_broken_suite_does_not_take_the_others_down(tmp_path):
    write_suite(tmp_path, slug="alpha")
    write_suite(tmp_path, slug="broken", models="models: &a [*a]")
    write_suite(tmp_path, slug="omega")
    (tmp_path / "empty").mkdir()
    (tmp_path / ".hidden").mkdir()

    found = load_suites(tmp_path)

    assert [suite.slug for suite in found] == ["alpha", "broken", "empty", "omega"]
    assert [suite.slug for suite in found if isinstance(suite, BrokenSuite)] == ["broken", "empty"]
    assert found[1].error.reason == "aliases_forbidden"


def lines_with_keys() -> list[tuple[str, int, str]]:
    found = []
    for file, text in FILES.items():
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r"[\s-]*(\w+):", line)
            if match:
                found.append((file, number, match[1]))
    return found


def change_line(file: str, number: int, pattern: str, new: str) -> str:
    lines = FILES[file].splitlines()
    lines[number - 1] = re.sub(pattern, new, lines[number - 1], count=1)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("file", "number", "key"), lines_with_keys())
def test_every_misspelt_key_is_named_with_file_line_and_suggestion(tmp_path, file, number, key):
    text = change_line(file, number, rf"\b{key}:", f"{key}x:")

    error = refusal(write_suite(tmp_path, **{file.removesuffix(".yaml"): text}))

    assert (error.reason, error.line) == ("unknown_key", number)
    assert error.file.endswith(f"letters/{file}")
    assert error.key.endswith(f"{key}x")
    assert error.hint == f"did you mean {key!r}"


SCALARS = [
    row for row in lines_with_keys() if row[2] not in FREE and not FILES[row[0]].splitlines()[row[1] - 1].endswith(":")
]


@pytest.mark.parametrize(("file", "number", "key"), SCALARS)
def test_every_value_of_a_wrong_type_is_named_with_file_and_line(tmp_path, file, number, key):
    text = change_line(file, number, rf"\b{key}:.*", f"{key}: [[]]")

    error = refusal(write_suite(tmp_path, **{file.removesuffix(".yaml"): text}))

    assert (error.reason, error.line) == ("wrong_type", number)
    assert error.file.endswith(f"letters/{file}")
    assert key in error.key


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    file=st.sampled_from(sorted(FILES)),
    start=st.integers(0, 900),
    length=st.integers(0, 30),
    patch=st.text(st.sampled_from("ab0 \n\t-:[]{}&*!|>'\"%@`#,?<~\\.=") | st.characters(), max_size=12),
)
def test_any_damage_gives_a_suite_or_a_clear_error(tmp_path_factory, file, start, length, patch):
    text = FILES[file]
    folder = write_suite(tmp_path_factory.mktemp("damaged"))
    damaged = text[:start] + patch + text[start + length :]
    (folder / file).write_bytes(damaged.encode("utf-8", "surrogatepass"))

    try:
        suite = load_suite(folder)
    except SuiteError as error:
        assert error.file.endswith(f"letters/{file}") or error.file.endswith("prompts.yaml")
        assert error.line >= 1
        assert error.message
    else:
        assert Suite.from_dict(json.loads(json.dumps(suite.to_dict()))) == suite
