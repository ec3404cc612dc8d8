"""Models from a provider's catalogue: searched on the start page, frozen with the run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from generation.models import Run
from generation.runs import catalogue
from generation.suites.profiles import Profile
from tests.generation.providers.fakes import OpenRouter, serving

pytestmark = pytest.mark.django_db
START = "/suites/ascii/start/"
KEY = "sk-or-v1-of-a-test"


@pytest.fixture
def router(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    monkeypatch.setattr(catalogue, "_kept", {})
    with serving(OpenRouter()) as fake:
        monkeypatch.setenv("OPENROUTER_BASE_URL", fake.url)
        yield fake


def search(client, text, **more):
    return client.get("/suites/ascii/models/", {"provider": "openrouter", "find": text, **more}).text


def form(**changes):
    return {"key": "abc", "attempts": 1, "budget": "5", "provider": "openrouter", **changes}


def test_search_works_without_telling_the_key(client, curator, router):
    page = search(client, "acme DRAWER")

    assert 'value="openrouter|acme/drawer-1"' in page
    assert "acme/drawer-2-vision" in page
    assert "cubist" not in page
    assert "takes images" in " ".join(page.split())
    assert "US$3 in and US$15 out per million tokens" in page
    assert KEY not in page


def test_catalogue_is_asked_for_once(client, curator, router):
    search(client, "drawer")
    search(client, "cubist")

    assert len(router.requests) == 1


def test_a_search_that_takes_too_long_ends_and_says_what_to_do(client, curator, router, settings):
    settings.CATALOGUE_SECONDS = 0.1
    router.pause = 0.5

    page = search(client, "acme/drawer-1")

    assert "openrouter did not send its list of models within 0.1 s. Type an exact id, or try again." in page
    assert 'value="openrouter|acme/drawer-1"' in page


def test_requests_at_the_same_time_ask_the_provider_once(router):
    router.pause = 0.3
    profile = Profile("openrouter", router.url, key_env="OPENROUTER_API_KEY", kind="openrouter")

    with ThreadPoolExecutor(6) as pool:
        listed = list(pool.map(lambda _: catalogue.catalogue_of(profile), range(6)))

    assert [len(models) for models in listed] == [3] * 6
    assert len(router.requests) == 1


def test_search_says_that_nothing_matches(client, curator, router):
    assert "No model of openrouter matches “zebra”" in search(client, "zebra")


def test_search_says_why_the_provider_cannot_be_searched_and_takes_what_was_typed(client, curator, router):
    router.status = 503

    page = search(client, "acme/secret-model")

    assert "openrouter cannot be searched: HTTP 503: The router is down." in page
    assert 'value="openrouter|acme/secret-model"' in page
    search(client, "acme/secret-models")
    assert len(router.requests) == 1, "it is not asked again at every letter"


def test_search_without_a_key_names_the_variable(client, curator, router, monkeypatch):
    monkeypatch.delenv("OPENROUTER_API_KEY")

    assert "set OPENROUTER_API_KEY" in search(client, "drawer")


def test_only_curators_search(client, router):
    assert client.get("/suites/ascii/models/", {"find": "drawer"}).status_code == 302
    assert not router.requests


def test_search_by_button_keeps_what_was_filled_in_and_starts_nothing(client, curator, router):
    page = client.post(START, form(label="final", find="cubist", search="yes", more=["openrouter|acme/drawer-1"])).text

    assert 'value="final"' in page
    assert 'value="openrouter|blocks/cubist:free"' in page
    assert page.count('value="openrouter|acme/drawer-1"') == 1
    assert not Run.objects.exists()


def test_chosen_models_join_with_price_and_facts_frozen(client, curator, router):
    client.post(START, form(more=["openrouter|acme/drawer-2-vision"]))

    model = Run.objects.get().models.get()
    assert (model.model_id, model.label) == ("acme/drawer-2-vision", "Drawer 2 Vision")
    assert (model.price_in_nano, model.price_out_nano) == (3 * 10**9, 15 * 10**9)
    assert model.facts["organisation"] == "Acme"
    assert Run.objects.get().uploaded


def test_prices_by_request_and_by_picture_are_shown_and_frozen_with_the_run(client, curator, router):
    router.catalogue[1]["pricing"] |= {"request": "0.005", "image": "0.001"}
    page = search(client, "vision")

    client.post(START, form(more=["openrouter|acme/drawer-2-vision"]))

    model = Run.objects.get().models.get()
    assert (model.price_request_nano, model.price_image_nano) == (5_000_000, 1_000_000)
    assert "US$0.005 per request, US$0.001 per picture" in page


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"budget": "", "more": ["openrouter|acme/drawer-1"]}, "needs one"),
        ({"more": ["openrouter|acme/nobody"]}, "openrouter does not offer acme/nobody."),
        ({"more": ["nowhere|acme/drawer-1"]}, "There is no provider"),
        ({"more": ["openrouter|../etc"]}, "is not a model id"),
        ({}, "Choose at least one model"),
    ],
)
def test_start_refuses_what_it_cannot_price_or_find(changes, fault, client, curator, router):
    page = client.post(START, form(**changes)).text

    assert fault in page
    assert not Run.objects.exists()
