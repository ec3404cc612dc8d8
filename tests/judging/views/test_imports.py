"""Votes that a curator uploads: into a run, or as a run of their own; what is wrong is said on the page."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from generation.models import Event, Run
from generation.runs.publishing import freeze_runs
from judging.models import Vote
from tests.judging.make import NAMES, close_judging, make_run

pytestmark = pytest.mark.django_db


def line(**more) -> str:
    return json.dumps({"left_model": NAMES[0], "right_model": NAMES[1], "outcome": "left", **more}) + "\n"


def upload(client, run: Run | None, text: str, *, name: str = "votes.jsonl", **more):
    url = reverse("judging:import_votes", args=[run.code]) if run else reverse("judging:import_run_of_votes")
    return client.post(url, {"file": SimpleUploadedFile(name, text.encode()), "reason": "a pilot", **more}, follow=True)


def test_a_curator_uploads_votes_into_a_run(client, curator):
    run = close_judging(make_run())

    page = upload(client, run, line(judge="ada") + line(outcome="tie"))

    assert page.redirect_chain[-1][0] == reverse("judging:overview", args=[run.code])
    assert "2 votes imported." in page.text and "ada" in page.text
    event = Event.objects.get(verb="import votes")
    assert (event.run, event.actor, event.subject, event.facts["votes"]) == (run, curator, "votes.jsonl", 2)


def test_the_judging_page_leads_to_the_upload(client, curator):
    run = close_judging(make_run())

    page = client.get(reverse("judging:overview", args=[run.code])).text

    assert reverse("judging:import_votes", args=[run.code]) in page
    assert reverse("judging:import_run_of_votes") in client.get(reverse("generation:runs")).text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            line() + line(outcome="won"),
            "votes.jsonl:2: outcome must be one of left, right, tie, fail, not &#x27;won&#x27;.",
        ),
        (line() + "{", "votes.jsonl:2: the line is not JSON ("),
        (line() + line(left_model="who"), "is not an entrant of this run"),
        (
            line(judge="ada", voted_at="2026-05-01T12:00:00Z") * 2,
            "votes.jsonl:2: this repeats the vote of votes.jsonl:1",
        ),
        ("\n", "votes.jsonl: it contains no votes."),
        (line(judge="\u202eada" * 30), "judge is longer than 100 characters"),
    ],
)
def test_a_bad_line_is_named_on_the_page_and_nothing_is_imported(client, curator, text, message):
    run = close_judging(make_run())

    page = upload(client, run, text)

    assert "Nothing was imported." in page.text and message in page.text
    assert (Vote.objects.count(), run.seats.count(), Event.objects.count()) == (0, 0, 0)


def test_a_file_counts_once(client, curator):
    run = close_judging(make_run())
    upload(client, run, line())

    page = upload(client, run, line(), name="again.jsonl")

    assert "again.jsonl: it has already been imported into this run." in page.text
    assert Vote.objects.count() == 1


def test_a_frozen_run_takes_no_votes(client, curator):
    run = close_judging(make_run())
    freeze_runs(Run.objects.all(), by=curator, reason="final")

    assert "is frozen" in upload(client, run, line()).text
    assert not Vote.objects.exists()


def test_votes_make_a_run_of_their_own(client, curator):
    page = upload(client, None, line(left_model="x", prompt_text="Draw a cat"), title="Of last year")

    run = Run.objects.get()
    assert page.redirect_chain[-1][0] == reverse("judging:overview", args=[run.code])
    assert (run.title, run.visibility, run.votes.count()) == ("Of last year", "private", 1)
    assert run.events.get().actor == curator


def test_a_bad_line_makes_no_run(client, curator):
    page = upload(client, None, line() + line(outcome=None))

    assert "votes.jsonl:2: outcome must be" in page.text
    assert not Run.objects.exists()


def test_a_large_upload_is_read_where_it_lies_and_under_its_own_name(client, curator, settings):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 0

    assert "1 vote imported." in upload(client, close_judging(make_run()), line()).text
    assert "ü.jsonl:1: the line is not JSON (" in upload(client, None, "{", name="ü" * 200 + ".jsonl").text


@pytest.mark.parametrize("data", [{}, {"file": ""}, {"file": SimpleUploadedFile("empty.jsonl", b"")}])
def test_a_form_without_a_file_says_so(client, curator, data):
    page = client.post(reverse("judging:import_run_of_votes"), {"title": "x", **data}).text

    assert 'class="errorlist"' in page
    assert not Run.objects.exists()
