"""`export`, archives and the API have their votes and grades from the same rows."""

from __future__ import annotations

import gc
import io
import tracemalloc

import pytest
from django.core.management import call_command
from django.db.models import F, Value
from django.db.models.functions import Concat

from generation.models import Prompt, Sample
from judging.files import exports
from judging.files.exports import GRADE_FIELDS, VOTE_FIELDS, grade_records, grade_rows, vote_records, vote_rows
from ranking.api.pushing import push_votes
from tests.ranking.archive_run import make_judged_run
from tests.ranking.graded_run import make_graded_run

pytestmark = pytest.mark.django_db


def test_the_file_of_votes_has_what_the_archive_has():
    run = make_judged_run()
    Sample.objects.filter(pk=run.samples.judgeable().first().pk).update(excluded_reason="offensive")

    rows, records = list(vote_rows(run)), list(vote_records(run))

    assert len(rows) == len(records) == run.votes.count()
    for row, record in zip(rows, records, strict=True):
        row |= {"voted_at": row["voted_at"].isoformat(), "category": row["category"] or ""}
        assert record == {name: row[name] for name in VOTE_FIELDS}
    counting = {record["withdrawn"] for record in records}
    assert counting == {False, True}
    assert sum(record["withdrawn"] for record in records) > run.votes.exclude(withdrawn_at=None).count()


def test_votes_are_read_in_as_many_statements_however_many_there_are(django_assert_num_queries):
    run = make_judged_run()

    with django_assert_num_queries(7):  # votes, the names that they share, and the seats that are marked
        list(vote_rows(run))


def test_the_file_of_grades_has_the_standing_grades_of_the_archive():
    run = make_graded_run()
    withdrawn = run.grades.first()
    run.grades.filter(pk=withdrawn.pk).update(withdrawn_at=withdrawn.graded_at)

    rows = [row for row in grade_rows(run) if row["withdrawn_at"] is None]
    records = list(grade_records(run))

    assert len(records) == run.grades.count() - 1
    for row, record in zip(rows, records, strict=True):
        row |= {"graded_at": row["graded_at"].isoformat(), "run": run.code, "suite": run.suite}
        assert record == {name: row[name] for name in GRADE_FIELDS}


def test_grades_of_a_prompt_without_a_subject_name_its_key_in_every_file():
    run = make_graded_run()
    Prompt.objects.filter(run=run).update(subject="")

    keys = set(run.prompts.values_list("key", flat=True))

    assert {row["subject"] for row in grade_rows(run)} <= keys
    assert {record["subject"] for record in grade_records(run)} <= keys


class Counted(io.StringIO):
    """Keeps nothing of what is written, but its length."""

    length = 0

    def write(self, text):
        self.length += len(text)
        return len(text)


@pytest.fixture
def held(monkeypatch):
    """The most memory that an export held, over the size of what it wrote."""

    def share(*arguments):
        stream = Counted()
        monkeypatch.setattr("sys.stdout", stream)
        call_command("export", *arguments, stdout=stream)  # whatever is loaded once
        stream.length = 0
        gc.collect()
        tracemalloc.start()
        try:
            call_command("export", *arguments, stdout=stream)
            return tracemalloc.get_traced_memory()[1] / stream.length
        finally:
            tracemalloc.stop()

    return share


def test_votes_are_written_as_they_are_read_however_many_there_are(held, monkeypatch):
    run = make_judged_run()
    run.judging_state = "closed"
    run.save()
    left, right = run.entrants.values_list("name", flat=True)[:2]
    line = f'{{"id": "%d", "left_model": "{left}", "right_model": "{right}", "outcome": "left", "judge": "lab"}}'
    push_votes(((line % number).encode() for number in range(3000)), run=run, reason="many", by=None)
    monkeypatch.setattr(exports, "PORTION", 50)

    assert held("votes", run.code) < 0.6


def test_samples_are_written_as_they_are_read_however_many_there_are(held):
    run = make_judged_run(prompts=10, attempts=40, votes=0)
    long = Value("\n" + "o" * 5000)
    run.samples.filter(verdict="valid").update(answer=Concat(F("answer"), long), drawing=Concat(F("drawing"), long))

    assert held("samples", run.code) < 0.6
