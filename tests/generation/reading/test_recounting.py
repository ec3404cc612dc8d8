"""Failures of earlier releases: what the model caused becomes an invalid answer, once, and the command says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils.timezone import now

from generation.files.export_samples import sample_lines
from generation.models import Measurement, Run
from generation.reading.recounting import recount_run
from generation.runs.lifecycle import retry_failed, start_run
from tests.generation.drawing_room import make_suite

pytestmark = pytest.mark.django_db
ENDED = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def old_run():
    """Twelve samples as an earlier release left them: three failed by the model, two by the network."""
    run = start_run(make_suite())
    codes = ["content_filter", "reasoning_only", "no_content", "provider_error", "deadline"]
    for sample, code in zip(run.samples.order_by("pk"), codes, strict=False):
        run.samples.filter(pk=sample.pk).update(state="failed", failure=code, failure_detail="x", claims=1)
    first = run.samples.order_by("pk").first()
    first.calls.create(
        run=run, token=uuid4(), lease_until=ENDED + timedelta(minutes=5), ended_at=ENDED, outcome="refused"
    )
    Run.objects.filter(pk=run.pk).update(scores_changed_at=None)
    return run


def test_recount_makes_invalid_answers_of_what_the_model_caused(old_run):
    result = recount_run(old_run)

    assert result.changed == 3
    assert result.missing.total() == 2
    answers = old_run.samples.filter(state="drawn").order_by("pk")
    assert [row.reason for row in answers] == ["content_filter", "reasoning_only", "no_content"]
    assert {row.verdict for row in answers} == {"invalid"}
    assert answers[0].drawn_at == ENDED, "when the model said nothing, not when it was counted"
    old_run.refresh_from_db()
    assert old_run.scores_changed_at is not None
    event = old_run.events.get(verb="recount_run")
    assert event.facts == {"answers": 3, "missing": 2, "content_filter": 1, "reasoning_only": 1, "no_content": 1}
    lines = list(sample_lines(old_run))
    assert len(lines) == 3
    assert all('"valid": false' in line for line in lines)


def test_a_second_recount_changes_nothing(old_run):
    recount_run(old_run)
    Run.objects.filter(pk=old_run.pk).update(scores_changed_at=None)

    assert recount_run(old_run).changed == 0
    old_run.refresh_from_db()
    assert old_run.scores_changed_at is None
    assert old_run.events.filter(verb="recount_run").count() == 1


def test_retry_asks_again_for_missing_answers_alone(old_run):
    recount_run(old_run)

    assert retry_failed(old_run) == 2
    assert old_run.samples.filter(state="drawn").count() == 3


def test_dry_run_says_what_would_change_and_changes_nothing(old_run, capsys):
    call_command("recount", old_run.code, "--dry-run")

    printed = capsys.readouterr().out
    assert "3 failed samples would become invalid answers" in printed
    assert "content_filter 1" in printed
    assert "2 stay missing" in printed
    assert "deadline 1" in printed
    assert not old_run.samples.filter(state="drawn").exists()
    assert not old_run.events.filter(verb="recount_run").exists()


def test_all_passes_over_frozen_runs_and_says_so(old_run, capsys):
    other = start_run(make_suite())
    Run.objects.filter(pk=old_run.pk).update(frozen_at=now())

    call_command("recount", "--all")

    printed = capsys.readouterr().out
    assert f"Run {old_run.code}: left as it is." in printed
    assert f"Run {other.code}: 0 failed samples became invalid answers; 0 stay missing." in printed
    with pytest.raises(CommandError, match="frozen"):
        call_command("recount", old_run.code)
    with pytest.raises(CommandError, match="Name a run"):
        call_command("recount")


def test_a_recounted_answer_is_measured_like_any_other(pixel_run):
    recount_run(pixel_run)

    values = Measurement.objects.get(sample__run=pixel_run).values
    assert values["score"] == 0


@pytest.fixture
def pixel_run():
    run = start_run(make_suite(format="pixel_art", protocols=["automatic"]))
    pk = run.samples.order_by("pk").values_list("pk", flat=True)[0]
    run.samples.filter(pk=pk).update(state="failed", failure="reasoning_only")
    return run
