"""Runs on a local Ollama: refused by name where a window is too small, drawn and described where it is not."""

from __future__ import annotations

import pytest

from generation.models import ProviderCall, Run, Sample
from generation.runs.checking import check_suite
from generation.runs.errors import RunError
from generation.runs.extending import extend_run
from generation.runs.facts import fill_facts
from generation.runs.lifecycle import start_run
from generation.suites.profiles import Profile
from generation.suites.suite import ModelEntry
from tests.generation.drawing_room import draw_some, make_suite
from tests.generation.providers.fakes import Ollama, serving

pytestmark = pytest.mark.django_db
DRAWER = ModelEntry("drawer", "Drawer", provider="ollama")


@pytest.fixture
def ollama(monkeypatch):
    with serving(Ollama()) as fake:
        monkeypatch.setenv("OLLAMA_URL", fake.url)
        yield fake


def test_run_is_drawn_at_no_cost_with_a_seed_for_each_attempt(ollama):
    run = start_run(make_suite(models=[DRAWER], prompts=1, attempts=3))
    draw_some(run)

    run.refresh_from_db()
    seeds = [body["options"]["seed"] for body in ollama.bodies("/api/chat")]
    assert run.samples.filter(state=Sample.State.DRAWN).count() == 3
    assert (run.spent_nano, run.reserved_nano) == (0, 0)
    assert len(set(seeds)) == 3
    assert ProviderCall.objects.first().prompt_tokens > 0


def test_small_window_is_refused_by_name_before_the_run(ollama):
    ollama.context = 1024

    with pytest.raises(RunError, match="drawer has a window of 1024 tokens"):
        start_run(make_suite(models=[DRAWER]))
    assert not Run.objects.exists()
    assert not ollama.bodies("/api/chat")


def test_small_window_cannot_join(ollama, demo):
    demo()
    run = start_run(make_suite())
    ollama.context = 1024

    with pytest.raises(RunError, match="drawer has a window"):
        extend_run(run, models=[DRAWER])


def test_server_that_was_down_is_asked_again_before_the_first_call(ollama, monkeypatch):
    monkeypatch.setenv("OLLAMA_URL", "http://127.0.0.1:9")
    run = start_run(make_suite(models=[DRAWER], prompts=1, attempts=1))
    model = run.models.get()
    model.profile = {**model.profile, "base_url": ollama.url}
    model.save()
    ollama.context = 1024

    draw_some(run)

    model.refresh_from_db()
    assert "drawer has a window of 1024 tokens" in model.refused_reason
    assert not ollama.bodies("/api/chat")


def test_check_names_digest_and_window_and_no_key(ollama):
    suite = make_suite(models=[DRAWER])
    profiles = {"ollama": Profile("ollama", ollama.url, kind="ollama")}

    fine = check_suite(suite, profiles=profiles)
    ollama.context = 1024
    small = check_suite(suite, profiles=profiles)

    assert fine.faults == []
    assert "ollama: reachable; it needs no key." in fine.sentences
    assert "  drawer: offered, Q4_K_M, window of 32768 tokens, digest 8eeb52dfb3bb" in fine.sentences
    assert "drawer has a window of 1024 tokens" in small.faults[0]


def test_facts_are_frozen_with_the_run(ollama):
    run = start_run(make_suite(models=[DRAWER]))

    assert fill_facts(run) == ["drawer"]
    facts = run.models.get().facts
    assert (facts["context"], facts["quantisation"], facts["weights"]) == (32_768, "Q4_K_M", "open")
