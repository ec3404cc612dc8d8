"""A target is reached by votes that count."""

from __future__ import annotations

import json
from itertools import combinations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from generation.models import Run, Sample
from judging.files.import_votes import import_votes
from judging.models import Matchup, Seat, Vote
from judging.pairs import epochs, voting
from judging.pairs.epochs import counting_votes
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from tests.judging.make import close_judging, make_run, make_seat

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def judge_all(run, name):
    """Vote until the schedule has nothing more."""
    seat = make_seat(run, name)
    screen = take_seat(seat.pk)
    while screen.current is not None:
        screen = voting.cast_vote(judge=seat.judge, code=screen.current.code, ballot=voting.Ballot("left")).screen
    return seat


@pytest.fixture
def run():
    run = make_run(entrants=3, prompts=4, attempts=2, target=4, overlap=0, repeats=0)
    judge_all(run, "spammer")
    return run


def test_votes_of_a_judge_set_aside_do_not_reach_it(run):
    assert take_seat(make_seat(run, "early").pk).current is None

    Seat.objects.filter(pseudonym="judge spammer").update(weight=0, excluded_reason="always left")

    assert not counting_votes(run).total()
    late = judge_all(run, "late")
    assert Vote.objects.filter(seat=late).count() >= 4 * 3


def test_votes_on_an_excluded_drawing_do_not_reach_it(run):
    sample = Matchup.objects.filter(state="voted").first().left_sample
    met = Vote.objects.filter(matchup__left_sample=sample) | Vote.objects.filter(matchup__right_sample=sample)
    count, before = met.count(), counting_votes(run).total()

    Sample.objects.filter(pk=sample.pk).update(excluded_reason="offensive")

    assert count > 0
    assert counting_votes(run).total() == before - count


def test_a_vote_on_an_excluded_drawing_that_is_undone_is_taken_off_once(run):
    matchup = Matchup.objects.filter(state="voted").select_related("seat__judge").first()
    Sample.objects.filter(pk=matchup.left_sample_id).update(excluded_reason="offensive")
    excluded = counting_votes(run)

    voting.undo_vote(judge=matchup.seat.judge, code=matchup.code)

    assert counting_votes(run) == excluded
    Sample.objects.update(excluded_reason="")
    assert counting_votes(run).total() == Vote.objects.filter(withdrawn_at=None).count()
    assert differences(run) == 0


@pytest.mark.parametrize("batch", [1, 2])
def test_votes_on_two_excluded_drawings_are_taken_off_once_and_in_batches_of_any_size(run, batch):
    matchup, before = Matchup.objects.filter(state="voted").first(), counting_votes(run).total()
    samples = [matchup.left_sample_id, matchup.right_sample_id]
    either = Matchup.objects.filter(left_sample__in=samples) | Matchup.objects.filter(right_sample__in=samples)

    Sample.objects.filter(pk__in=samples).update(excluded_reason="offensive")
    with CaptureQueriesContext(connection) as context:
        after = counting_votes(run, batch=batch).total()

    assert after == before - either.filter(state="voted").count()
    assert len(context) == 2 + 2 // batch


USUAL = {"postgresql": 4, "sqlite": 11}  # of a vote with its next pair


def queries_of_votes(client, run, count):
    seat = make_seat(run, "counted")
    client.force_login(seat.judge)
    take_seat(seat.pk)
    counts = []
    for _ in range(count):
        data = {"code": Matchup.objects.get(seat=seat, state="open").code, "outcome": "left"}
        with CaptureQueriesContext(connection) as context:
            assert client.post(reverse("judging:vote"), data, headers={"accept": "application/json"}).status_code == 200
        counts.append(sum("SAVEPOINT" not in query["sql"] for query in context.captured_queries))
    # A judge whose number of votes reaches a power of two moves to another class of activity: one or two queries more.
    moves, more = {2**power for power in range(1, 10)}, 2 if connection.vendor == "postgresql" else 1
    return [n - more * (vote in moves) for vote, n in enumerate(counts, start=1)]


def test_far_from_the_target_every_fifth_vote_takes_one_query_more(client):
    run = make_run(entrants=3, prompts=8, attempts=2, target=100, overlap=0, repeats=0)

    counts = queries_of_votes(client, run, 15)

    usual = USUAL[connection.vendor]
    assert sorted(counts[5:]) == [usual] * 8 + [usual + 1] * 2


def test_near_the_target_every_fifth_vote_takes_four_queries_more_at_most(client, run):
    Seat.objects.filter(pseudonym="judge spammer").update(weight=0, excluded_reason="always left")
    Sample.objects.filter(pk=run.samples.first().pk).update(excluded_reason="offensive")
    epochs.refresh_epoch(run)

    counts = queries_of_votes(client, run, 11)

    usual = USUAL[connection.vendor]
    assert sorted(counts[1:]) == [usual] * 8 + [usual + 4] * 2


def test_imported_votes_without_a_prompt_reach_it(tmp_path):
    run = make_run(entrants=3, target=2)
    names = run.entrants.values_list("name", flat=True)
    votes = [{"left_model": one, "right_model": other, "outcome": "tie"} for one, other in combinations(names, 2)]
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(f"{json.dumps(vote)}\n" for vote in votes * 2))

    assert take_seat(make_seat(run, "early").pk).current is not None
    import_votes(path=path, run=close_judging(run), reason="a test")
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.OPEN)

    assert take_seat(make_seat(run, "late").pk).current is None
