"""Ollama by its own API, against a server that cuts prompts as silently as the real one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.providers.requests import Request
from generation.suites.profiles import Profile
from tests.generation.providers.fakes import DRAWING, Ollama, serving

QUESTION = Request("drawer", ({"role": "user", "content": "Draw a cat"},), 0.7, 1000, seed=42)
LONG = replace(QUESTION, messages=({"role": "user", "content": "word " * 5000},))


def with_client(fake, work):
    async def once():
        async with Client() as client:
            try:
                return await work(client, Profile("ollama", fake.url, kind="ollama"))
            except ProviderError as error:
                return error

    return asyncio.run(once())


def ask(fake, question=QUESTION):
    return with_client(fake, lambda client, profile: client.ask(profile, question, deadline=5))


def test_it_works():
    with serving(Ollama()) as fake:
        reply = ask(fake)

    assert (reply.text, reply.finish_reason, reply.cost_nano) == (DRAWING, "stop", 0)
    assert (reply.prompt_tokens, reply.completion_tokens) == (7, 20)


def test_window_seed_and_length_go_with_the_call():
    with serving(Ollama()) as fake:
        ask(fake)

    (body,) = fake.bodies("/api/chat")
    assert body["options"] == {"seed": 42, "temperature": 0.7, "num_predict": 1000, "num_ctx": 2048}
    assert (body["truncate"], body["shift"], body["stream"], body["keep_alive"]) == (False, False, False, "10m")


def test_window_grows_with_the_prompt():
    with serving(Ollama()) as fake:
        reply = ask(fake, LONG)

    (body,) = fake.bodies("/api/chat")
    assert body["options"]["num_ctx"] >= 25_000 + 1000
    assert reply.prompt_tokens == 5004


def test_parameters_go_by_their_usual_names():
    parameters = {
        "top_p": 0.9,
        "reasoning_effort": "high",
        "keep_alive": -1,
        "options": {"num_ctx": 512, "mirostat": 1},
    }
    with serving(Ollama()) as fake:
        ask(fake, replace(QUESTION, parameters=parameters))

    (body,) = fake.bodies("/api/chat")
    assert (body["think"], body["keep_alive"]) == ("high", -1)
    assert (body["options"]["top_p"], body["options"]["mirostat"], body["options"]["num_ctx"]) == (0.9, 1, 2048)


def test_model_with_a_small_window_is_refused_by_name_before_anything_is_asked():
    with serving(Ollama(context=4096)) as fake:
        error = ask(fake, LONG)

    assert (error.kind, error.code) == ("fatal_model", "window_too_small")
    assert "drawer has a window of 4096 tokens" in error.detail
    assert fake.bodies("/api/chat") == []


@pytest.mark.parametrize("old", [True, False])
def test_server_that_loads_a_smaller_window_never_goes_unnoticed(old):
    with serving(Ollama(ceiling=4096, old=old)) as fake:
        error = ask(fake, LONG)

    assert isinstance(error, ProviderError)
    assert error.code == ("prompt_cut" if old else "window_too_small")


def test_a_cut_of_a_few_words_is_noticed_where_a_server_does_not_say_its_window():
    asked = replace(QUESTION, messages=({"role": "user", "content": "pneumonia, " * 600},), max_tokens=100)
    with serving(Ollama(ceiling=1_300, old=True)) as fake:
        fake.tokens_a_word = 3  # so that what is left of the prompt still has more tokens than the prompt has words
        error = ask(fake, asked)

    assert (error.kind, error.code) == ("fatal_model", "prompt_cut")
    assert "whose halves have" in error.detail


def test_a_prompt_that_was_not_cut_is_halved_once():
    async def twice(client, profile):
        await client.ask(profile, QUESTION, deadline=5)
        return await client.ask(profile, QUESTION, deadline=5)

    with serving(Ollama(old=True)) as fake:
        answer = with_client(fake, twice)

    assert answer.text == DRAWING
    assert len(fake.bodies("/api/chat")) == 2 + 3


def test_smaller_window_is_noticed_even_where_this_prompt_still_fits():
    with serving(Ollama(ceiling=1024)) as fake:
        error = ask(fake)

    assert (error.kind, error.code) == ("fatal_model", "window_too_small")
    assert "with a window of 1024 tokens instead of 2048" in error.detail


@pytest.mark.parametrize(("version", "code"), [("0.1.48", None), ("0.2.0", "prompt_cut")])
def test_server_that_does_not_count_what_it_kept_of_a_prompt_has_not_cut_it(version, code):
    async def twice(client, profile):
        await client.ask(profile, QUESTION, deadline=5)
        return await client.ask(profile, QUESTION, deadline=5)

    with serving(Ollama(old=True, version=version)) as fake:
        fake.counts_kept = False
        answer = with_client(fake, twice)

    assert getattr(answer, "code", None) == code


def test_all_that_is_asked_for_one_answer_ends_with_its_deadline():
    with serving(Ollama(pause=0.6)) as fake:
        error = with_client(fake, lambda client, profile: client.ask(profile, QUESTION, deadline=0.5))

    assert (error.kind, error.code, error.cost_nano) == ("retry", "timeout", 0)
    assert fake.bodies("/api/chat") == []


def test_silence_after_all_tokens_is_reasoning_only():
    with serving(Ollama()) as fake:
        fake.answer_text, fake.done_reason = "", "length"
        error = ask(fake)

    assert (error.kind, error.code) == ("fatal_attempt", "reasoning_only")


def test_model_that_was_not_pulled_is_not_served():
    with serving(Ollama()) as fake:
        error = ask(fake, replace(QUESTION, model_id="nobody"))

    assert (error.kind, error.code) == ("fatal_model", "model_unavailable")


def test_server_says_digest_quantisation_and_context():
    with serving(Ollama()) as fake:
        models = with_client(fake, lambda client, profile: client.describe_models(profile, ["drawer", "nobody"]))

    facts = models["drawer"].facts
    assert list(models) == ["drawer"]
    assert (facts.context, facts.quantisation, facts.digest[:12]) == (32_768, "Q4_K_M", "8eeb52dfb3bb")


def test_address_with_v1_is_the_openai_door():
    with serving(Ollama()) as fake:
        fake.url += "/v1"
        ask(fake)

    assert [path for _, path, _, _ in fake.requests] == ["/v1/chat/completions"]
