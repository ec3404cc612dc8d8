"""Very large runs: a page writes the first samples, a worker the others, and nothing is drawn before all are there."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from generation import jobs
from generation.drawing import sweeping
from generation.drawing.due import runs_to_draw, seconds_to_due
from generation.drawing.sweeping import sweep
from generation.management.commands.sweep import sweep_and_enqueue
from generation.models import Run, Sample
from generation.runs import expansion
from generation.runs.extending import extend_run
from generation.runs.lifecycle import cancel_run, start_run
from tests.generation.drawing_room import MASTER, claim, make_program, make_suite

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(expansion, "SAMPLES_A_PAGE", 5)
    monkeypatch.setattr(expansion, "SAMPLES_AT_ONCE", 2)


@pytest.fixture
def large():
    """A run of twelve samples, of which its page wrote five."""
    return start_run(make_suite(), wait=False)


def codes_of(run):
    return set(run.samples.values_list("entrant", "prompt", "attempt"))


def test_a_page_writes_the_first_samples_and_a_worker_the_others(large):
    assert (large.setting_up, large.samples.count()) == (True, 5)
    assert large.events.get().facts == {"samples": 12}

    jobs.set_up(large.pk)

    large.refresh_from_db()
    assert (large.setting_up, large.samples.count(), len(codes_of(large))) == (False, 12, 12)
    assert large.samples.order_by("id").values_list("attempt", flat=True)[0] == 1


def test_nothing_is_drawn_or_finished_before_all_samples_are_there(large):
    assert claim(large) == []
    assert (runs_to_draw(), seconds_to_due(large.pk)) == ([], None)
    large.samples.update(state=Sample.State.FAILED)
    assert (sweep().finished_runs, Run.objects.get().finished_at) == (0, None)

    jobs.set_up(large.pk)

    assert runs_to_draw() == [large.pk]
    assert len(claim(Run.objects.get(), 100)) == 7


def test_a_worker_that_was_lost_is_made_up_for(large, monkeypatch):
    written = iter([True, True])

    def insert_two_parts(*arguments, real=expansion.insert_alike):
        if next(written, None) is None:
            raise KeyboardInterrupt
        real(*arguments)

    asked = []
    with monkeypatch.context() as lost:
        lost.setattr(expansion, "insert_alike", insert_two_parts)
        with pytest.raises(KeyboardInterrupt):
            jobs.set_up(large.pk)
    monkeypatch.setattr(expansion, "enqueue_if_idle", lambda *job: asked.append(job))
    assert Run.objects.get().setting_up

    sweep_and_enqueue()

    assert asked == [("measure", "generation.jobs.set_up", large.pk)]
    for _ in range(2):  # the job may be enqueued twice
        jobs.set_up(large.pk)
    assert (Run.objects.get().setting_up, large.samples.count(), len(codes_of(large))) == (False, 12, 12)


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_write_each_sample_once(large):
    gate, failures = threading.Barrier(3), []

    def work():
        try:
            gate.wait()
            expansion.finish_expansion(Run.objects.get(pk=large.pk))
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert (Run.objects.get().setting_up, large.samples.count(), len(codes_of(large))) == (False, 12, 12)


def test_an_extension_is_written_by_a_worker_too():
    run = start_run(make_suite(attempts=1))

    assert extend_run(run, attempts=3, wait=False) == 12
    assert (run.setting_up, run.samples.count()) == (True, 6), "the page came no further than what was there"
    assert run.events.filter(verb="extend_run").get().facts["samples"] == 12
    jobs.set_up(run.pk)

    assert (Run.objects.get().setting_up, run.samples.count()) == (False, 18)


def test_an_extension_of_a_finished_run_is_not_done_before_it_is_written(admin_client):
    run = start_run(make_suite(attempts=1))
    run.samples.update(state=Sample.State.FAILED)
    extend_run(run, attempts=3, wait=False)

    page = admin_client.get(f"/runs/{run.code}/").content.decode()

    assert "A worker is writing" in page and "Done." not in page
    assert ">Pause<" in page and "/cancel/" in page


def test_a_run_that_is_extended_while_it_is_swept_is_not_finished(monkeypatch):
    run = start_run(make_suite(attempts=1))
    run.samples.update(state=Sample.State.FAILED)

    def extend_first(pk, real=sweeping._finish):
        extend_run(run, attempts=3)
        return real(pk)

    monkeypatch.setattr(sweeping, "_finish", extend_first)

    assert sweeping.finish_runs() == 0
    assert Run.objects.get().finished_at is None


def test_a_run_that_is_extended_while_it_is_set_up_waits_for_all_of_it(large, monkeypatch):
    before = Run.objects.get()  # as a worker read it
    extend_run(large, attempts=3, wait=False)

    expansion.finish_expansion(before)
    assert Run.objects.get().setting_up, "its worker knew of two attempts"
    jobs.set_up(large.pk)

    assert (Run.objects.get().setting_up, large.samples.count()) == (False, 18)


def test_a_run_that_was_cancelled_meanwhile_draws_nothing(large):
    cancel_run(large)

    jobs.set_up(large.pk)
    sweep()

    assert set(large.samples.values_list("state", flat=True)) == {"cancelled"}
    assert Run.objects.get().finished_at is not None


def test_a_model_that_was_disqualified_meanwhile_is_not_asked(large):
    large.entrants.filter(name=MASTER.id).update(disqualified="Copied.")

    jobs.set_up(large.pk)

    states = set(large.samples.filter(entrant__name=MASTER.id).values_list("state", flat=True))
    assert states == {"cancelled"}


def test_programs_are_set_up_at_once():
    """Whether one was approved decides about its samples, and that may change at any time."""
    run = start_run(make_suite(programs=[make_program()]), wait=False)

    assert (run.setting_up, run.samples.count()) == (False, 12)


def test_a_page_says_that_samples_are_being_written(large, admin_client):
    page = admin_client.get(f"/runs/{large.code}/").content.decode()

    assert "A worker is writing this run’s samples:\n    5 so far." in page
    assert 'data-done="false"' in page
    jobs.set_up(large.pk)
    assert "A worker is writing" not in admin_client.get(f"/runs/{large.code}/").content.decode()
