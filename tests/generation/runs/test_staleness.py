"""The mark that says a ranking is stale: set after the commit, and never moved back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils.timezone import now

from generation.models import Run
from generation.runs.staleness import AHEAD, mark_stale, mark_stale_after_commit
from tests.judging.make import make_run


def mark(run):
    return Run.objects.values_list("scores_changed_at", flat=True).get(pk=run.pk)


@pytest.mark.django_db
def test_a_mark_that_lies_ahead_is_not_moved_back():
    run = make_run()
    ahead = now() + timedelta(minutes=1)
    Run.objects.filter(pk=run.pk).update(scores_changed_at=ahead)

    mark_stale(run.pk)

    assert mark(run) == ahead


@pytest.mark.django_db(transaction=True)
def test_the_mark_is_later_than_the_commit_of_what_changed():
    run = make_run()
    with transaction.atomic():
        mark_stale(run.pk)
        within = now()

    assert mark(run) > within


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("read", "writes"), [(None, True), (timedelta(seconds=-1), True), (timedelta(seconds=9), False)]
)
def test_a_vote_writes_the_mark_only_where_it_was_reached(read, writes, django_assert_num_queries):
    run = make_run()
    marked = None if read is None else now() + read
    Run.objects.filter(pk=run.pk).update(scores_changed_at=marked)
    began = now()

    with django_assert_num_queries(int(writes)):
        mark_stale_after_commit(run.pk, marked=marked)

    assert mark(run) >= began + AHEAD if writes else mark(run) == marked
