from __future__ import annotations

import json
import re
from dataclasses import replace

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generation.providers.requests import Request, payload_of
from generation.suites.loading import BrokenSuite, load_suite, load_suites, read_models
from generation.suites.profiles import Profile
from generation.suites.suite import (
    Generation,
    Judging,
    ModelEntry,
    ProgramEntry,
    ProgramRules,
    PromptEntry,
    Rubric,
    Suite,
)
from tests.generation.suites.suite_files import CONFIG, PROGRAMS, refusal, write_suite


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


def test_adaptive_pairs_are_chosen_where_names_stay_hidden(tmp_path):
    blind = CONFIG.replace("reveal: after_vote", "reveal: never\n  pairs: adaptive")

    assert load_suite(write_suite(tmp_path, config=blind)).judging.pairs == "adaptive"


def test_the_limit_of_tokens_may_go_by_its_newer_name(tmp_path):
    limit = "{max_tokens: null, max_completion_tokens: 4000}"
    config = CONFIG.replace("{top_p: 0.9}", limit)

    suite = load_suite(write_suite(tmp_path, config=config, models=f"models: [{{id: a/b, parameters: {limit}}}]"))

    limits = {"max_tokens": None, "max_completion_tokens": 4000}
    assert suite.generation.parameters == suite.models[0].parameters == limits
    request = Request("a/b", (), 0.0, 4000, suite.models[0].parameters)
    body = payload_of(Profile("x", "https://x"), request)
    assert (body.get("max_tokens"), body["max_completion_tokens"]) == (None, 4000)


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


@settings(max_examples=100)
@given(SUITES)
def test_any_suite_survives_json(suite):
    copy = Suite.from_dict(json.loads(json.dumps(suite.to_dict())))

    assert copy == suite
    assert copy.digest() == suite.digest()


IDS = st.from_regex(r"[A-Za-z0-9._:/@~-]{1,40}", fullmatch=True).filter(lambda name: ".." not in name)
LINES = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\u2028\u2029"), min_size=1).map(
    str.strip
)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(IDS, LINES.filter(bool)), min_size=1, max_size=4, unique_by=lambda pair: pair[0]))
def test_quoted_text_is_read_back_as_written(tmp_path, pairs):
    file = tmp_path / "models.yaml"
    rows = [{"id": name, "label": label[:100].strip()} for name, label in pairs]
    file.write_text(yaml.safe_dump({"models": rows}, default_style='"', allow_unicode=True))

    models = read_models(file)

    assert [{"id": model.id, "label": model.label} for model in models] == rows


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

    suites = load_suites(tmp_path)

    assert [suite.slug for suite in suites] == ["alpha", "broken", "empty", "omega"]
    assert [suite.slug for suite in suites if isinstance(suite, BrokenSuite)] == ["broken", "empty"]
    assert suites[1].error.reason == "aliases_forbidden"
