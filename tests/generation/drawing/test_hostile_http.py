"""Every hostile HTTP reply through claim, ask and settle: the sample always ends or is due, and no key is kept."""

from __future__ import annotations

import pytest
from django.core import serializers

from generation.formats.silence import FINISH_OF
from generation.models import Event, LanguageModel, ProviderCall, Run, Sample
from generation.runs.lifecycle import start_run
from tests.generation.drawing_room import MASTER, draw_some, make_suite
from tests.hostile import cases, serve

pytestmark = pytest.mark.django_db
KEY = "sk-or-v1-never-to-be-seen-again"
CASES = cases("http")
EXPECTED = {
    "accept": ("drawn", "open"),
    "accept_flagged": ("drawn", "open"),
    "invalid": ("drawn", "open"),
    "retry": ("pending", "open"),
    "fatal_attempt": ("failed", "open"),
    "fatal_model": ("failed", "open"),
    "pause_run": ("pending", "paused"),
}


def expected_states(case) -> tuple[str, str]:
    """Of the sample and its run: what the model withheld is its answer, an invalid one."""
    silent = case["verdict"] == "fatal_attempt" and case["reason"] in FINISH_OF
    return EXPECTED["invalid" if silent else case["verdict"]]


@pytest.fixture(scope="module")
def port():
    server, port = serve.start()
    yield port
    server.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_hostile_reply(case, port, monkeypatch, caplog):
    monkeypatch.setenv("TEST_KEY", KEY)
    run = start_run(make_suite(models=[MASTER], prompts=1, attempts=1))
    profile = {**serve.profile(case, port), "key_env": "TEST_KEY"}
    run.models.update(profile=profile, model_id="openai/gpt-4o")

    draw_some(run)

    run.refresh_from_db()
    sample, call = run.samples.get(), run.calls.get()
    assert (sample.state, run.drawing_state) == expected_states(case)
    assert (sample.token, sample.lease_until) == (None, None)
    assert call.outcome != "open"
    assert (call.cost_nano or 0) == run.spent_nano
    assert run.reserved_nano == (call.reserved_nano if call.cost_nano is None else 0)
    if sample.state != "drawn":
        assert sample.failure == case["reason"]
        assert len(sample.failure_detail) <= 500
    elif case["verdict"] == "accept_flagged":
        assert case["reason"] in sample.flags
    elif case["verdict"] in ("invalid", "fatal_attempt"):
        assert (sample.verdict, sample.reason) == ("invalid", case["reason"])
    assert bool(run.models.get().refused_reason) == (case["verdict"] == "fatal_model")
    assert KEY not in caplog.text
    for kept in (Run, LanguageModel, Sample, ProviderCall, Event):
        assert KEY not in serializers.serialize("json", kept.objects.all())
        assert KEY.encode() not in bytes(sample.raw or b"")
