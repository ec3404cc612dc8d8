"""A drawing that a curator excludes takes its votes out of the leaderboard, and brings them back; no vote is touched."""

from __future__ import annotations

from collections import Counter
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from generation.runs.curating import exclude_samples, restore_samples
from judging.files.exports import write_votes
from judging.models import Matchup, Seat, Vote
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from judging.pairs.voting import Ballot, cast_vote
from ranking.automatic.against_people import liking
from ranking.fitting import fit_run
from ranking.pairwise.columns.fonts import font_marks
from ranking.pairwise.columns.tallies import tallies_of
from ranking.pairwise.columns.votes import votes_of
from ranking.pairwise.entrant_pages import category_records
from ranking.statistics.votes import standing_votes
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(no_waiting):
    """Three entrants, two judges, twelve votes each."""
    run = make_run(entrants=3, prompts=4, attempts=2, repeats=0.0)
    for name in ("alice", "bob"):
        seat = make_seat(run, name)
        for number in range(12):
            code = take_seat(seat.pk).current.code
            outcome = ("left", "right", "tie", "left")[number % 4]
            cast_vote(judge=seat.judge, code=code, ballot=Ballot(outcome, response_ms=900))
    return run


def counts(run) -> tuple[int, int, int]:
    """Votes that count: in the columns, in the judges' tallies, in the prompts' tallies."""
    tallies = tallies_of(run, weights={})
    return len(standing_votes(votes_of(run)).left), int(tallies.by_judge.n.sum()), int(tallies.by_prompt.n.sum())


def test_votes_on_an_excluded_drawing_leave_and_come_back(run):
    curator = User.objects.create_superuser("carol")
    vote = Vote.objects.filter(run=run).first()
    both = run.samples.filter(pk__in=[vote.matchup.left_sample_id, vote.matchup.right_sample_id])
    before = fit_run(run).result["overall"]
    gone = sum(
        {vote.matchup.left_sample_id, vote.matchup.right_sample_id} & {sample.pk for sample in both} != set()
        for vote in Vote.objects.filter(run=run).select_related("matchup")
    )

    exclude_samples(both, by=curator, reason="copies")

    assert counts(run) == (24 - gone,) * 3
    assert 0 < gone < 24
    assert differences(run) == 0
    fast, full = fit_run(run, full=False).result, fit_run(run).result
    rated = [(row["entrant"], pytest.approx(row["rating"])) for row in full["overall"]]
    assert [(row["entrant"], row["rating"]) for row in fast["overall"]] == rated
    stream = StringIO()
    write_votes(run, stream)
    assert stream.getvalue().count('"withdrawn": true') == gone

    restore_samples(both, by=curator, reason="no copies")

    assert counts(run) == (24,) * 3
    assert fit_run(run).result["overall"] == before


def test_two_entrants_are_compared_without_votes_on_excluded_drawings(run):
    curator = User.objects.create_superuser("carol")
    one, other = run.entrants.all()[:2]
    fit = fit_run(run)

    def votes(**among):
        both = Vote.objects.filter(run=run, matchup__left__in=[one, other], matchup__right__in=[one, other], **among)
        return both.exclude(seat__weight=0).values_list(
            "outcome", "matchup__left_sample_id", "matchup__right_sample_id"
        )

    drawing = votes(seat__pseudonym="judge alice")[0][1]
    standing = [outcome for outcome, *shown in votes() if drawing not in shown]
    exclude_samples(run.samples.filter(pk=drawing), by=curator, reason="copy")
    by_category = category_records(fit, one, other)
    assert sum(record["votes"] for record in by_category) == len(standing) < len(votes())
    assert sum(record["tie"] for record in by_category) == standing.count("tie")

    Seat.objects.filter(pseudonym="judge alice").update(weight=0, excluded_reason="clicks")
    standing = [outcome for outcome, *shown in votes() if drawing not in shown]
    assert sum(record["votes"] for record in category_records(fit, one, other)) == len(standing)

    exclude_samples(run.samples.filter(prompt__category="animal"), by=curator, reason="copies")
    assert {record["label"] for record in category_records(fit, one, other)} <= {"Object"}


def test_two_entrants_are_compared_whatever_is_excluded_of_others(run):
    curator = User.objects.create_superuser("carol")
    one, other, third = run.entrants.all()
    fit = fit_run(run)
    before = category_records(fit, one, other)
    with CaptureQueriesContext(connection) as plain:
        category_records(fit, one, other)

    exclude_samples(run.samples.filter(entrant=third), by=curator, reason="copies")
    with CaptureQueriesContext(connection) as queries:
        assert category_records(fit, one, other) == before
    assert len(queries) == len(plain)
    assert not [query for query in queries if "judging_vote" in query["sql"]]

    votes = Vote.objects.filter(run=run, matchup__left__in=[one, other], matchup__right__in=[one, other])
    shown = list(votes.values_list("matchup__left_sample_id", "matchup__right_sample_id"))
    drawings = sorted({pk for pair in shown for pk in pair})
    counts = []
    for gone in (drawings[:1], drawings[:3]):
        exclude_samples(run.samples.filter(pk__in=gone), by=curator, reason="copies")
        with CaptureQueriesContext(connection) as queries:
            records = category_records(fit, one, other)
        counts.append(len(queries))
        assert sum(record["votes"] for record in records) == sum(not {*gone} & {*pair} for pair in shown)
    assert counts[0] == counts[1] == len(plain) + 1


def test_marks_and_points_on_excluded_drawings_do_not_count(run):
    curator = User.objects.create_superuser("carol")
    Vote.objects.filter(run=run).update(left_breaks=0b001)
    first, *rest = Vote.objects.filter(run=run).select_related("matchup")
    Matchup.objects.filter(pk=first.matchup_id).update(left_sample=None, right_sample=None)  # as of a file
    drawing = rest[0].matchup.right_sample_id

    exclude_samples(run.samples.filter(pk=drawing), by=curator, reason="copy")

    shown = [(vote.matchup.left_sample_id, vote.matchup.right_sample_id) for vote in rest]
    standing = [pair for pair in shown if drawing not in pair]
    assert len(standing) < len(shown)
    assert sum(count for count, *_ in font_marks(run).values()) == len(standing) + 1
    assert {sample: n for sample, (_, n) in liking(run).items()} == Counter(pk for pair in standing for pk in pair)
