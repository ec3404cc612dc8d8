from __future__ import annotations

from uuid import uuid4

import pytest
from django.utils.timezone import now

from generation.models import ProviderCall, Sample
from ranking.effort import effort_of
from ranking.fitting import fit_run
from tests.judging.make import make_run

pytestmark = pytest.mark.django_db


def make_call(sample, milliseconds, nano, outcome="answered"):
    moment = now()
    ProviderCall.objects.create(
        sample=sample,
        run=sample.run,
        token=uuid4(),
        lease_until=moment,
        started_at=moment,
        ended_at=moment,
        outcome=outcome,
        latency_ms=milliseconds,
        cost_nano=nano,
    )


def test_medians_are_of_answers_with_a_retrys_cost_but_not_its_time():
    run = make_run(entrants=2, prompts=3, attempts=1)
    one, other = run.entrants.all()
    for sample, (milliseconds, nano, tokens) in zip(
        run.samples.filter(entrant=one), [(1000, 10, 5), (3000, 30, 7), (9000, 90, 90)], strict=True
    ):
        Sample.objects.filter(pk=sample.pk).update(completion_tokens=tokens)
        make_call(sample, milliseconds, nano)
    make_call(run.samples.filter(entrant=one)[1], 60_000, 5, outcome="retry")
    make_call(run.samples.filter(entrant=other)[0], 500, None)

    effort = effort_of(run)

    assert effort[one.name] == {"seconds": 3.0, "tokens": 7, "cost_nano": 35, "answers": 3}
    assert effort[other.name] == {"seconds": 0.5, "tokens": None, "cost_nano": None, "answers": 1}


def test_a_finished_runs_medians_are_taken_over_from_the_fit_before():
    run = make_run(entrants=2, prompts=1, attempts=1)
    run.finished_at = now()
    run.save()
    make_call(run.samples.first(), 1000, 10)
    before = fit_run(run)
    before.result["run"]["effort"] = {"kept": {}}

    assert effort_of(run, before=before) == {"kept": {}}
