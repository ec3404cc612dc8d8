"""Whole runs and grades that a curator uploads: all or nothing, and what is wrong is said on the page."""

from __future__ import annotations

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from generation.models import Event, Run
from judging.models import Seat
from ranking.archive.writing import archive_chunks
from tests.judging.make import close_judging
from tests.ranking.archive_run import leaderboard, make_judged_run, rewrite
from tests.ranking.graded_run import make_graded_run

pytestmark = pytest.mark.django_db
ARCHIVE = "/runs/import/archive/"


@pytest.fixture(scope="module")
def judged(module_rows):
    run = make_judged_run(votes=40, prompts=3, attempts=1)
    return run.pk, b"".join(archive_chunks(run))


@pytest.fixture
def run(judged):
    return Run.objects.get(pk=judged[0])


@pytest.fixture
def file(judged, tmp_path):
    path = tmp_path / "run.zip"
    path.write_bytes(judged[1])
    return path


def upload(client, url: str, data: bytes, name: str, **more):
    return client.post(url, {"file": SimpleUploadedFile(name, data), "reason": "a pilot", **more}, follow=True)


def test_a_curator_uploads_a_whole_run(client, curator, run, file):
    before, code = leaderboard(run), run.code
    run.delete()

    page = upload(client, ARCHIVE, file.read_bytes(), "run.zip")

    run = Run.objects.get(code=code)
    assert page.redirect_chain == [(reverse("generation:run", args=[code]), 302)]
    assert f"{run.samples.count()} samples, {run.votes.count()} votes" in page.text
    assert leaderboard(run) == before
    event = run.events.get(verb="import_run")
    assert (event.actor, event.facts["file"]) == (curator, "run.zip")


def test_the_list_of_runs_leads_to_the_upload(client, curator):
    assert ARCHIVE in client.get("/runs/").text


def test_a_run_that_is_here_already_comes_in_as_a_copy_only(client, curator, run, file):
    before = Run.objects.count()

    page = upload(client, ARCHIVE, file.read_bytes(), "run.zip")

    assert f"is run {run.code}, which is here already" in page.text
    assert Run.objects.count() == before

    upload(client, ARCHIVE, file.read_bytes(), "run.zip", copy="on")

    assert Run.objects.count() == before + 1


def cut(path):
    path.write_bytes(path.read_bytes()[:-200])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(b"no zip at all"), "run.zip: is not a whole zip"),
        (cut, "run.zip: is not a whole zip; it may be cut short or damaged."),
        (lambda path: rewrite(path, manifest={"format": "benchsite-backup"}), "does not say that this is a run"),
        (lambda path: rewrite(path, manifest={"schema": 99}), "manifest.json: has schema 99 and this release reads 1"),
        (lambda path: rewrite(path, votes_jsonl=b'{"vote": 1}\n'), "votes.jsonl:1: "),
    ],
)
def test_what_is_wrong_with_an_archive_is_said_and_nothing_is_imported(client, curator, file, damage, message):
    damage(file)
    before = Run.objects.count(), Event.objects.count(), Seat.objects.count()

    page = upload(client, ARCHIVE, file.read_bytes(), "run.zip", copy="on")

    assert "Nothing was imported." in page.text and message in page.text
    assert (Run.objects.count(), Event.objects.count(), Seat.objects.count()) == before


@pytest.fixture(scope="module")
def emptied(module_rows, tmp_path_factory):
    run, path = make_graded_run(subjects=1), tmp_path_factory.mktemp("grades") / "grades.jsonl"
    call_command("export", "grades", run.code, out=path, stdout=io.StringIO())
    run.grades.all().delete()
    run.seats.all().delete()
    return close_judging(run).pk, path.read_text()


@pytest.fixture
def graded(emptied):
    """A run whose grades are in a file and no longer in the database."""
    pk, text = emptied
    return Run.objects.get(pk=pk), text


def send(client, run, text):
    return upload(client, reverse("ranking:import_grades", args=[run.code]), text.encode(), "grades.jsonl")


def test_a_curator_uploads_grades_and_twice_is_as_once(client, curator, graded):
    run, text = graded
    count = len(text.splitlines())

    first, second = send(client, run, text), send(client, run, text)

    assert first.redirect_chain[-1][0] == reverse("judging:grade_overview", args=[run.code])
    assert f"{count} new grades imported." in first.text and "0 new grades imported." in second.text
    assert run.grades.count() == count
    assert {event.actor for event in run.events.filter(verb="import grades")} == {curator}


def test_the_grading_page_leads_to_the_upload(client, curator, graded):
    run, _ = graded

    page = client.get(reverse("judging:grade_overview", args=[run.code])).text

    assert reverse("ranking:import_grades", args=[run.code]) in page
    assert reverse("judging:import_votes", args=[run.code]) not in page


def test_a_bad_grade_is_named_and_nothing_is_imported(client, curator, graded):
    run, text = graded
    first, second, *rest = text.splitlines()
    bad = json.dumps({**json.loads(second), "value": 11})

    page = send(client, run, "\n".join([first, bad, *rest]))

    assert "Nothing was imported. grades.jsonl, line 2, value: 11 is not a number from 0 to 10." in page.text
    assert (run.grades.count(), run.seats.count()) == (0, 0)


def test_a_grade_given_twice_is_named_and_nothing_is_imported(client, curator, graded):
    run, text = graded

    page = send(client, run, text + text)

    assert f"line {len(text.splitlines()) + 1}, dimension: this judge graded it already in line 1." in page.text
    assert not run.grades.exists()
