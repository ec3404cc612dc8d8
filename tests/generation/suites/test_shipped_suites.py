from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from generation.suites.costs import sample_count
from generation.suites.demo_sizes import demo_variant, load_demo
from generation.suites.loading import load_suite
from generation.suites.profiles import load_profiles
from generation.suites.suite import Suite

ROOT = Path(__file__).resolve().parents[3] / "config"
SLUGS = sorted(path.name for path in ROOT.iterdir() if path.is_dir())
SEED_PROMPT = """\
Draw the requested ASCII art.\x20
Wrap your art in a Markdown code block.
Output ONLY the art. No conversational text.
Do not use color or ANSI escape codes.
"""


@pytest.mark.parametrize("slug", SLUGS)
def test_shipped_suite_loads_and_survives_json(slug):
    suite = load_suite(ROOT / slug)

    copy = Suite.from_dict(json.loads(json.dumps(suite.to_dict())))

    assert copy == suite
    assert copy.digest() == suite.digest()


@pytest.mark.parametrize("slug", SLUGS)
def test_shipped_suite_asks_known_providers(slug):
    suite = load_suite(ROOT / slug)
    names = {suite.generation.provider} | {model.provider for model in suite.models if model.provider}

    assert names <= set(load_profiles(ROOT / "providers.yaml", environ={}))


@pytest.mark.parametrize("slug", SLUGS)
def test_demo_variant_is_small_labelled_and_drawn_by_demo_players_only(slug):
    suite = load_suite(ROOT / slug)

    demo = demo_variant(suite, demo=load_demo(ROOT / "demo.yaml"))

    assert demo.title == f"{suite.title} (demo)"
    assert demo.generation.provider == "demo"
    assert all(model.id.startswith("demo/") and model.provider == "demo" for model in demo.models)
    assert {prompt.category for prompt in demo.prompts} == {prompt.category for prompt in suite.prompts}
    assert all(prompt in suite.prompts for prompt in demo.prompts)
    assert sample_count(demo) <= 150
    assert Suite.from_dict(demo.to_dict()) == demo


def test_ascii_has_the_values_of_its_specification():
    suite = load_suite(ROOT / "ascii")

    assert suite.generation.attempts_per_prompt == 5
    assert suite.generation.temperature == 0.0
    assert suite.generation.max_tokens == 1000
    assert suite.generation.provider == "openrouter"
    assert suite.generation.system_prompt == SEED_PROMPT
    assert {"openai/gpt-4o", "anthropic/claude-3.5-sonnet", "meta-llama/llama-3.1-70b-instruct"} <= {
        model.id for model in suite.models
    }
    assert (suite.format, suite.protocols) == ("ascii_art", ("pairwise",))


def test_ascii_asks_ten_distinct_prompts_in_each_of_four_categories():
    suite = load_suite(ROOT / "ascii")
    sizes = {
        category.key: sum(prompt.category == category.key for prompt in suite.prompts) for category in suite.categories
    }

    assert sizes == {"single_object": 10, "single_animal": 10, "animal_action": 10, "spatial": 10}
    assert len({prompt.text for prompt in suite.prompts}) == 40


def test_ascii_prompts_read_as_english():
    suite = load_suite(ROOT / "ascii")
    form = re.compile(r"Draw a [a-z][a-z ]+ in ASCII art")

    assert [prompt.text for prompt in suite.prompts if not form.fullmatch(prompt.text)] == []
    assert [prompt.text for prompt in suite.prompts if re.search(r"\ba [aeiou]", prompt.text)] == []


def test_demo_address_comes_from_the_environment():
    default = load_profiles(ROOT / "providers.yaml", environ={})
    moved = load_profiles(ROOT / "providers.yaml", environ={"DEMO_PROVIDER_URL": "http://127.0.0.1:1234/v1"})

    assert default["demo"].base_url == "http://127.0.0.1:8765/v1"
    assert moved["demo"].base_url == "http://127.0.0.1:1234/v1"


def test_demo_players_are_five_with_prices():
    demo = load_demo(ROOT / "demo.yaml")

    assert [model.id.removeprefix("demo/") for model in demo.models] == [
        "master",
        "journeyman",
        "apprentice",
        "beginner",
        "scribbler",
    ]
    assert all(model.price_in and model.price_out for model in demo.models)
