"""Another backend for an automatic run, chosen on its page: measured by a worker first, then switched to, or said why not."""

from __future__ import annotations

import pytest

from generation.formats import get_format
from generation.formats.science_birds import similarity
from generation.jobs import switch_backend
from generation.management.commands.sweep import sweep_and_enqueue
from generation.models import Event, Measurement, Run
from generation.reading.backends import enqueue_asked_backends
from generation.runs.publishing import freeze_runs
from tests.pages import collapsed
from tests.ranking.answered_run import make_answered_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return make_answered_run("science-birds", prompts=["A"], attempts=1)


@pytest.fixture
def vit(monkeypatch):
    """The backend that this machine has no weights for, played by the one that it has."""
    monkeypatch.setitem(similarity.BACKENDS, "vit", similarity.classify_glyphs)


def ask(client, run, **form):
    return client.post(f"/runs/{run.code}/measure/", {"backend": "vit", "reason": "as the seed has it", **form})


def test_a_curator_asks_and_a_worker_switches(client, curator, run, vit):
    assert f"/runs/{run.code}/measure/" in client.get(f"/runs/{run.code}/").text
    assert ask(client, run)["Location"] == f"/runs/{run.code}/"
    page = collapsed(client.get(f"/runs/{run.code}/progress/"))
    assert f"A worker is measuring the drawings with vit: 0 of {run.samples.count()}." in page
    assert 'data-done="false"' in page

    for _ in range(2):  # the job may be enqueued twice
        switch_backend(run.pk)

    run.refresh_from_db()
    assert run.measure_backend == "vit"
    assert Measurement.objects.filter(backend="vit").count() == run.samples.count()
    event = Event.objects.get(verb="use_backend")
    assert (event.actor, event.reason) == (curator, "as the seed has it")
    page = collapsed(client.get(f"/runs/{run.code}/progress/"))
    assert (
        "Measured by vit-base-uppercase-english-characters (vit)" in page
        and "A worker is measuring" not in page
        and 'data-done="true"' in page
    )


def test_a_backend_that_is_missing_leaves_the_run_as_it_is_and_says_why(client, curator, run, monkeypatch):
    monkeypatch.delenv("BENCHSITE_VIT_DIR", raising=False)
    ask(client, run)

    switch_backend(run.pk)

    run.refresh_from_db()
    assert run.measure_backend == "glyphs"
    page = collapsed(client.get(f"/runs/{run.code}/progress/"))
    assert "vit could not measure this run, which keeps glyphs." in page and "set BENCHSITE_VIT_DIR" in page
    assert 'data-done="true"' in page
    assert enqueue_asked_backends() == 0, "it was answered"
    ask(client, run)
    assert enqueue_asked_backends() == 1, "and can be asked again"


def test_a_wish_survives_a_queue_that_is_away(client, curator, run, vit, monkeypatch):
    jobs = []
    monkeypatch.setattr("generation.reading.backends.enqueue_if_idle", lambda *job: jobs.append(job))
    ask(client, run)

    sweep_and_enqueue()

    assert jobs == [("measure", "generation.jobs.switch_backend", run.pk)]


def test_a_frozen_run_keeps_its_backend(client, curator, run, vit):
    ask(client, run)
    freeze_runs([run], by=curator, reason="final")

    switch_backend(run.pk)
    page = ask(client, run)

    assert "is frozen: its leaderboard is final" in page.text
    assert enqueue_asked_backends() == 0
    assert Run.objects.get().measure_backend == "glyphs"


def test_only_another_backend_of_the_format_can_be_chosen(client, curator, run):
    assert get_format(run.format).measure_backends == ("glyphs", "vit")
    for name in ("glyphs", "guess", ""):
        assert "backend" in ask(client, run, backend=name).context["form"].errors
    assert not Event.objects.filter(verb="ask_backend").exists()


def test_a_run_without_a_choice_has_no_such_page(client, curator):
    run = make_answered_run("pixel-art-lite", say=lambda sample: None)

    assert client.get(f"/runs/{run.code}/measure/").status_code == 404
    assert "/measure/" not in client.get(f"/runs/{run.code}/").text
