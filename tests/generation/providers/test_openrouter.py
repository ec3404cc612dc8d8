"""OpenRouter's conventions, against a server that speaks its protocol."""

from __future__ import annotations

import asyncio

import pytest
from django.conf import settings

from generation.providers.client import Client
from generation.providers.requests import Request
from generation.suites.profiles import load_profiles
from tests.generation.providers.fakes import OpenRouter, serving

QUESTION = Request("acme/drawer-1", ({"role": "user", "content": "Draw a cat"},), 0.0, 1000)
SHIPPED = settings.SUITES_DIR / "providers.yaml"


@pytest.fixture
def router(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-v1-of-a-test")
    with serving(OpenRouter()) as fake:
        yield fake


def profile_of(router, **environ):
    return load_profiles(SHIPPED, environ={"OPENROUTER_BASE_URL": router.url, **environ})["openrouter"]


def with_client(work):
    async def once():
        async with Client() as client:
            return await work(client)

    return asyncio.run(once())


def ask(profile, question=QUESTION):
    return with_client(lambda client: client.ask(profile, question, deadline=5))


def test_calls_name_the_site_and_its_title(router):
    ask(profile_of(router, SITE_URL="https://bench.example.org"))

    _, path, headers, _ = router.requests[0]
    assert path == "/chat/completions"
    assert headers["http-referer"] == "https://bench.example.org"
    assert headers["x-openrouter-title"] == "Benchsite"
    assert headers["authorization"] == "Bearer sk-or-v1-of-a-test"


def test_site_without_an_address_stays_unnamed(router):
    ask(profile_of(router))

    assert "http-referer" not in router.requests[0][2]


def test_reasoning_effort_is_sent_as_the_router_takes_it(router):
    parameters = {"reasoning_effort": "high", "reasoning": {"exclude": True}}

    ask(profile_of(router), Request("acme/drawer-1", QUESTION.messages, 0.0, 1000, parameters))

    (body,) = router.bodies("/chat/completions")
    assert body["reasoning"] == {"effort": "high", "exclude": True}
    assert "reasoning_effort" not in body


def test_answer_says_who_served_it_and_what_it_used(router):
    reply = ask(profile_of(router))

    assert (reply.reasoning_tokens, reply.cached_tokens) == (40, 128)
    assert (reply.served_provider, reply.fingerprint) == ("Acme Cloud", "fp_44709d6fcb")
    assert (reply.cost_nano, reply.own_key_nano) == (950_000, None)


@pytest.mark.parametrize(
    "said", [{"is_byok": True}, {"is_byok": None}], ids=["said", "as the router's own example has it"]
)
def test_cost_behind_an_own_key_counts_with_the_routers_fee(router, said):
    router.usage = {"cost": 0.00005, "cost_details": {"upstream_inference_cost": 0.001}, **said}

    reply = ask(profile_of(router))

    assert (reply.cost_nano, reply.own_key_nano) == (1_050_000, 1_000_000)


def test_own_key_without_an_upstream_cost_is_looked_up(router):
    router.usage = {"cost": 0.00005, "is_byok": True, "cost_details": {"upstream_inference_cost": None}}
    router.generations["gen-1"] = {"total_cost": 0.00005, "is_byok": True, "upstream_inference_cost": 0.002}
    profile = profile_of(router)

    reply = ask(profile)
    cost = with_client(lambda client: client.lookup_cost(profile, reply.generation_id))

    assert (reply.cost_nano, reply.flags) == (None, ("cost_unknown",))
    assert cost == 2_050_000


def test_catalogue_says_names_prices_facts_and_who_sees(router):
    models = with_client(lambda client: client.list_models(profile_of(router)))

    vision, free = models["acme/drawer-2-vision"], models["blocks/cubist:free"]
    assert (vision.name, vision.sees, vision.facts.organisation) == ("Acme: Drawer 2 Vision", True, "Acme")
    assert (vision.price.input, vision.price.output) == (3, 15)
    assert (free.sees, free.facts.weights, free.facts.context) == (False, "open", 131_072)
