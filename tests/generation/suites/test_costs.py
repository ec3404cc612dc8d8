from __future__ import annotations

from dataclasses import replace

from generation.money import TOKENS_AROUND_A_MESSAGE as FRAME
from generation.suites.costs import bounds_by_model, cost_bound_nano, sample_count
from generation.suites.loading import load_suite
from generation.suites.suite import ProgramEntry
from tests.generation.suites.suite_files import write_suite


def priced(tmp_path):
    suite = load_suite(write_suite(tmp_path))
    return replace(suite, models=(replace(suite.models[1], extra_prompt=""),), programs=())


def test_bound_counts_every_byte_and_every_answer_in_full(tmp_path):
    suite = priced(tmp_path)

    # 2 prompts of 17 bytes, a system prompt of 5, 2 attempts; 0.5 USD a million in, 2 USD a million out.
    size = 5 + FRAME + 17 + FRAME
    assert cost_bound_nano(suite) == 2 * 2 * (size * 500 + 4000 * 2000)
    assert sample_count(suite) == 4


def test_later_turns_carry_the_conversation(tmp_path):
    program = ProgramEntry("p", "", ("ab{{target}}", "defg"))
    suite = replace(priced(tmp_path), programs=(program, replace(program, name="q", disqualified="late")))

    first = 5 + FRAME + 3 + FRAME
    second = first + 4000 + FRAME + 4 + FRAME
    assert cost_bound_nano(suite) == 2 * 2 * ((first + second) * 500 + 2 * 4000 * 2000)
    assert sample_count(suite) == 4


def test_extra_prompt_counts(tmp_path):
    suite = priced(tmp_path)
    longer = replace(suite, models=(replace(suite.models[0], extra_prompt="12345"),))

    assert cost_bound_nano(longer) - cost_bound_nano(suite) == 4 * (5 + FRAME) * 500


def test_bound_is_unknown_without_a_price(tmp_path):
    assert cost_bound_nano(load_suite(write_suite(tmp_path))) is None


def test_free_providers_cost_nothing(tmp_path):
    suite = load_suite(write_suite(tmp_path))

    assert cost_bound_nano(suite, free={"openrouter", "ollama"}) == 0
    assert cost_bound_nano(suite, free={"ollama"}) is None


def test_bounds_of_models_add_up_to_the_bound_of_the_run(tmp_path):
    suite = priced(tmp_path)

    bounds = bounds_by_model(suite)

    assert sum(bounds.values()) * suite.generation.attempts_per_prompt == cost_bound_nano(suite)
