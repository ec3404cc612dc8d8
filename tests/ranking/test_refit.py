"""Keeping leaderboards fresh: by what the database says, whatever became of the queue."""

from __future__ import annotations

import pytest
from django.db import DataError
from django.utils.timezone import now

from generation.models import Run
from ranking import fitting
from ranking.jobs import fit_past, refit
from ranking.management.commands.refit import Memory, look
from ranking.models import Fit
from tests.judging.make import make_run
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db


def kinds():
    return sorted(Fit.objects.values_list("kind", flat=True))


def test_a_look_makes_the_fast_fit_even_with_the_queue_away(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    make_voted_run(votes=30)

    look(Memory())
    look(Memory())

    assert kinds() == ["fast"]


def test_a_run_that_cannot_be_fitted_keeps_no_other_stale():
    broken = make_run(entrants=2)
    Run.objects.filter(pk=broken.pk).update(protocols=["rubric"], scores_changed_at=now())
    fine = make_voted_run(votes=30)
    memory = Memory()

    look(memory)

    assert list(Fit.objects.values_list("run", flat=True)) == [fine.pk]
    assert list(memory.failed) == [(broken.pk, "rubric")]
    Fit.objects.all().delete()
    look(memory)  # the broken one is left alone until its scores change again
    assert list(Fit.objects.values_list("run", flat=True)) == [fine.pk]


def test_a_full_fit_is_asked_for_once_in_a_while():
    run, memory = make_voted_run(votes=30), Memory()

    look(memory)
    asked = memory.rung[run.pk]
    look(memory)

    assert memory.rung[run.pk] == asked


def test_the_worker_makes_the_full_fit_once():
    run = make_voted_run(votes=30)

    refit(run.pk)
    refit(run.pk)
    refit(run.pk + 1)

    assert kinds() == ["full"]


def test_the_worker_makes_a_past_leaderboard():
    run = make_voted_run(votes=30)
    moment = run.votes.order_by("voted_at")[10].voted_at

    fit_past(run.pk, "pairwise", moment.isoformat())
    fit_past(run.pk + 1, "pairwise", moment.isoformat())

    fit = Fit.objects.get()
    assert fit.until == moment and fit.votes <= 11
    assert Fit.objects.newest(run, "pairwise") is None


def test_a_fit_that_no_row_can_hold_keeps_no_other_stale(monkeypatch):
    odd, fine = make_voted_run(votes=30), make_voted_run(votes=30)
    stored = fitting.store_fit

    def store(fit):
        if fit.run == odd:
            raise DataError("a number that is out of range")
        return stored(fit)

    monkeypatch.setattr(fitting, "store_fit", store)

    look(Memory())

    assert list(Fit.objects.values_list("run", flat=True)) == [fine.pk]
