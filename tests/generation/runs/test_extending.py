"""More of a run: models that join it, more attempts, prices, another budget."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from generation.models import Run
from generation.runs.errors import RunError
from generation.runs.extending import extend_run
from generation.runs.lifecycle import pause_run, resume_run, start_run
from generation.suites.loading import load_suite
from generation.suites.suite import Suite
from tests.generation.drawing_room import BEGINNER, MASTER, make_suite
from tests.generation.suites.suite_files import write_suite

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return User.objects.create_user("alice", is_staff=True)


def test_extend_run_adds_models_and_attempts_once(alice):
    run = start_run(make_suite(models=[MASTER], attempts=1))

    assert extend_run(run, models=[BEGINNER], attempts=2, budget=3, by=alice) == 9
    assert extend_run(run, models=[BEGINNER], attempts=2) == 0
    run.refresh_from_db()
    assert run.samples.count() == 12
    assert run.budget_nano == 3_000_000_000
    assert [entry.id for entry in Suite.from_dict(run.config).models] == ["demo/master", "demo/beginner"]
    assert run.events.filter(verb="extend_run", actor=alice).get().facts["samples"] == 9


def test_extend_run_does_not_undo_what_another_curator_added():
    run = start_run(make_suite(models=[MASTER], attempts=1))
    seen_before = Run.objects.get(pk=run.pk)
    extend_run(run, models=[BEGINNER])

    with pytest.raises(RunError, match="in the meantime"):
        extend_run(seen_before, attempts=2)

    run.refresh_from_db()
    assert len(Suite.from_dict(run.config).models) == 2
    assert run.samples.filter(attempt=2).count() == 0


@pytest.fixture
def unpriced(settings, tmp_path):
    """A run of the suite `letters` in which nobody knows a price, and the suite's folder."""
    settings.SUITES_DIR = tmp_path
    folder = write_suite(tmp_path, programs=None)
    suite = load_suite(folder)
    models = (replace(suite.models[0], price_in=0.25), replace(suite.models[1], price_in=None, price_out=None))
    return start_run(replace(suite, models=models)), folder


def test_extend_run_fills_in_prices_that_nobody_knew(unpriced, alice):
    run, folder = unpriced
    (folder / "models.yaml").write_text(
        "models:\n  - {id: plain/model, label: New, price_in: 9, price_out: 3}\n"
        "  - {id: other/model:free, provider: ollama, price_in: 0.5, price_out: 2}\n"
    )
    config = run.config

    extend_run(run, by=alice)
    extend_run(run)

    prices = run.models.order_by("pk").values_list("label", "price_in_nano", "price_out_nano")
    assert list(prices) == [("plain/model", 250_000_000, 3_000_000_000), ("Other", 500_000_000, 2_000_000_000)]
    assert run.config == config, "a run stays a frozen copy of its suite"
    events = run.events.filter(verb="extend_run").order_by("pk")
    assert [event.facts["priced"] for event in events] == [["plain/model", "other/model:free"], []]


def test_a_price_at_another_provider_is_not_taken(unpriced):
    run, folder = unpriced
    (folder / "models.yaml").write_text("models:\n  - {id: other/model:free, price_in: 0.5, price_out: 2}\n")

    extend_run(run)

    assert run.models.get(model_id="other/model:free").price_out_nano is None


def test_extend_run_names_the_fault_in_a_suite_that_should_give_prices(unpriced):
    run, folder = unpriced
    (folder / "models.yaml").write_text("models:\n  - {id: plain/model, price_inn: 9}\n")

    with pytest.raises(RunError, match=r"models\.yaml, line 2, .*did you mean 'price_in'"):
        extend_run(run, attempts=3)

    assert not run.events.filter(verb="extend_run").exists()


def test_a_budget_can_be_taken_away():
    run = start_run(make_suite(), budget=1)

    extend_run(run, budget=None)
    assert (run.budget_nano, run.events.get(verb="extend_run").facts["budget_nano"]) == (None, None)

    extend_run(run, budget=2)
    pause_run(run)
    resume_run(run, budget=None)
    assert (run.budget_nano, run.events.get(verb="resume_run").facts) == (None, {"budget_nano": None})


def test_a_model_joins_only_within_the_runs_limit_of_tokens():
    run = start_run(make_suite(models=[MASTER]))
    limits = [{"max_tokens": None, "max_completion_tokens": most} for most in (1001, 1000)]

    with pytest.raises(RunError, match="demo/beginner has max_completion_tokens above 1000, the run's max_tokens"):
        extend_run(run, models=[replace(BEGINNER, parameters=limits[0])])

    assert extend_run(run, models=[replace(BEGINNER, parameters=limits[1])]) == 6


def test_extend_run_never_takes_away():
    run = start_run(make_suite(attempts=2))

    with pytest.raises(RunError, match="attempts can only grow"):
        extend_run(run, attempts=1)
