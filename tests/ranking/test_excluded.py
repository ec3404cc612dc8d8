"""A drawing that a curator excludes takes its votes out of the leaderboard, and brings them back; no vote is touched."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User

from generation.curating import exclude_samples, restore_samples
from judging.dumps import write_votes
from judging.models import Vote
from judging.serving import take_seat
from judging.tallies import differences
from judging.voting import Ballot, cast_vote
from ranking.fitting import fit_run
from ranking.frames import tallies_of, votes_of
from ranking.votes import standing_votes
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(monkeypatch):
    """Three entrants, two judges, twelve votes each."""
    monkeypatch.setattr("judging.voting.MIN_INTERVAL", timedelta(0))
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
