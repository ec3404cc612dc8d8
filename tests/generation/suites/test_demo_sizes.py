from __future__ import annotations

import pytest

from generation.suites.demo_sizes import DemoSize, demo_variant, few_prompts, load_demo, spread
from generation.suites.loading import load_suite
from generation.suites.suite import ModelEntry, PromptEntry
from generation.suites.yaml_source import SuiteError
from tests.generation.suites.suite_files import write_suite

DEMO = """\
provider: demo
models: [demo/a, demo/b, demo/c]
size: {prompts: 1, attempts: 1}
suites:
  letters: {prompts: 2, attempts: 3, models: 2}
"""


def test_demo_variant_works(tmp_path):
    suite = load_suite(write_suite(tmp_path))
    file = tmp_path / "demo.yaml"
    file.write_text(DEMO)

    demo = demo_variant(suite, demo=load_demo(file))

    assert [model.id for model in demo.models] == ["demo/a", "demo/c"]
    assert (demo.generation.attempts_per_prompt, demo.generation.provider) == (3, "demo")
    assert (demo.generation.parameters, demo.provider_order) == ({}, ())
    assert (demo.title, demo.slug, demo.rubric) == ("Letters (demo)", "letters", suite.rubric)


def test_suite_without_a_size_gets_the_common_one(tmp_path):
    file = tmp_path / "demo.yaml"
    file.write_text(DEMO)

    assert load_demo(file).size_of("other") == DemoSize(1, 1)


def test_bad_size_is_refused_with_its_line(tmp_path):
    file = tmp_path / "demo.yaml"
    file.write_text(DEMO.replace("prompts: 2", "prompts: 0"))

    with pytest.raises(SuiteError) as caught:
        load_demo(file)

    assert (caught.value.line, caught.value.key) == (5, "suites.letters.prompts")


def test_few_prompts_come_from_every_category():
    prompts = [PromptEntry(f"{category}{number}", "", category) for category in "abc" for number in range(4)]

    assert [prompt.key for prompt in few_prompts(prompts, 5)] == ["a0", "a1", "b0", "b1", "c0"]
    assert len(few_prompts(prompts, 99)) == 12


@pytest.mark.parametrize(("count", "chosen"), [(1, "a"), (2, "ae"), (3, "ace"), (5, "abcde"), (9, "abcde")])
def test_players_are_spread_over_the_skills(count, chosen):
    players = [ModelEntry(name, name) for name in "abcde"]

    assert "".join(player.id for player in spread(players, count)) == chosen
