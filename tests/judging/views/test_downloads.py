"""Votes, skips and grades as files from the curator's page."""

from __future__ import annotations

import csv
import json

import pytest
from django.urls import reverse

from judging.grades.sheets import next_item
from judging.models import Matchup
from judging.pairs.serving import take_seat
from judging.pairs.skipping import skip_matchup
from judging.pairs.voting import Ballot, cast_vote
from tests.judging.graded import grade, make_rubric_run, seat_with_list
from tests.judging.make import make_curator, make_run, make_seat

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def lines(client, run, kind, format):
    answer = client.get(reverse("judging:download", args=[run.code, kind, format]))
    assert f"{run.suite}-{run.code}-{kind}.{format}" in answer["Content-Disposition"]
    text = b"".join(answer.streaming_content).decode()
    if format == "csv":
        return list(csv.DictReader(text.splitlines()))
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_votes_and_skips_come_apart(client, format):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    cast_vote(judge=seat.judge, code=Matchup.objects.get(state="open").code, ballot=Ballot("tie"))
    skip_matchup(judge=seat.judge, code=Matchup.objects.get(state="open").code)
    client.force_login(make_curator())

    (vote,), (skip,) = (lines(client, seat.run, kind, format) for kind in ("votes", "skips"))

    assert (vote["outcome"], vote["judge"]) == ("tie", seat.pseudonym)
    assert "outcome" not in skip and skip["judge"] == seat.pseudonym


def test_grades_come_as_a_file_too(client):
    run = make_rubric_run()
    seat = seat_with_list(run)
    grade(seat, next_item(seat))
    client.force_login(make_curator())

    rows = lines(client, run, "grades", "csv")

    assert len(rows) == run.grades.count() > 0


def test_the_page_links_to_its_files_and_counts_skips_apart(client):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    skip_matchup(judge=seat.judge, code=Matchup.objects.get(state="open").code)
    client.force_login(make_curator())

    page = client.get(reverse("judging:overview", args=[seat.run.code]))

    for kind in ("votes", "skips"):
        for format in ("jsonl", "csv"):
            assert reverse("judging:download", args=[seat.run.code, kind, format]) in page.text
    assert page.context["judges"][0][1]["skip"] == 1
    assert page.context["votes"] == 0
