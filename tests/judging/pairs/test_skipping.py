"""A skip is an answer of its own: no vote, no place in the quota, within a limit, and taken back like a vote."""

from __future__ import annotations

import io
import json

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.timezone import now

from judging.files.exports import write_skips
from judging.models import Matchup, Seat, Vote
from judging.pairs.own.answers import last_answer
from judging.pairs.serving import take_seat
from judging.pairs.skipping import skip_matchup, skips_left
from judging.pairs.tallies import differences
from judging.pairs.voting import Ballot, cast_vote, undo_vote
from judging.seats import RefusedError
from tests.judging.make import make_run, make_seat

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
JSON = {"accept": "application/json"}


@pytest.fixture
def seat():
    seat = make_seat(make_run(), quota=4)
    take_seat(seat.pk)
    return seat


def open_code(seat):
    return Matchup.objects.get(seat=seat, state="open").code


def skip(seat, code=None):
    return skip_matchup(judge=seat.judge, code=code or open_code(seat))


def vote(seat, outcome="left", **ballot):
    return cast_vote(judge=seat.judge, code=open_code(seat), ballot=Ballot(outcome, **ballot))


def test_a_skipped_pair_leaves_no_vote_and_no_gap_in_the_quota(seat):
    skipped, screen = skip(seat)

    for _ in range(4):
        last = vote(seat)

    assert screen.current.code != skipped.code
    assert last.screen.current is None  # the quota is four votes, whatever was skipped
    assert Vote.objects.count() == 4
    assert not Vote.objects.filter(matchup=skipped).exists()
    assert differences(seat.run) == 0
    seat.refresh_from_db()
    assert (seat.voted, seat.made, seat.void) == (4, 5, 1)


def test_a_skip_sent_twice_is_one(seat):
    code = open_code(seat)

    skip(seat, code)
    _, screen = skip(seat, code)

    assert Matchup.objects.filter(state="skipped").count() == 1
    assert screen.current.code == open_code(seat)


def test_undo_takes_answers_back_in_their_order(seat):
    first = vote(seat, "tie").matchup.code
    second = skip(seat)[0].code
    third = vote(seat).matchup.code

    order = []
    while code := last_answer(seat, None).code:
        order.append(code)
        undo_vote(judge=seat.judge, code=code)

    assert order == [third, second, first]
    assert open_code(seat) == first
    assert not Matchup.objects.filter(state="skipped").exists()
    seat.refresh_from_db()
    assert (seat.voted, seat.void) == (0, 0)


def test_there_is_a_limit_that_votes_raise(seat):
    Seat.objects.update(quota=None)
    for _ in range(5):
        skip(seat)
    assert skips_left(Seat.objects.get()) == 0

    with pytest.raises(RefusedError) as refused:
        skip(seat)

    assert refused.value.code == "skips"
    for _ in range(5):
        vote(seat)
    skip(seat)
    assert Matchup.objects.filter(state="skipped").count() == 6


def test_a_skip_that_comes_too_soon_is_refused(seat, settings):
    settings.MIN_VOTE_SECONDS = 5

    with time_machine.travel(now(), tick=False), pytest.raises(RefusedError) as refused:
        skip(seat)

    assert refused.value.code == "too_fast"


def test_a_skipped_pair_takes_no_vote_until_the_skip_is_taken_back(seat):
    code = skip(seat)[0].code
    with pytest.raises(RefusedError) as refused:
        cast_vote(judge=seat.judge, code=code, ballot=Ballot("left"))

    undone = undo_vote(judge=seat.judge, code=code)
    cast = cast_vote(judge=seat.judge, code=code, ballot=Ballot("left"))

    assert refused.value.code == "skipped"
    assert (undone.skip, undone.screen.current.code) == (True, code)
    assert cast.vote.outcome == "left"


def test_a_pair_voted_on_cannot_be_skipped(seat):
    code = vote(seat).matchup.code

    with pytest.raises(RefusedError) as refused:
        skip(seat, code)

    assert refused.value.code == "recorded"


def test_a_skipped_pair_with_a_drawing_taken_out_does_not_come_back(seat):
    skipped, _ = skip(seat)
    skipped.left_sample.excluded_reason = "offensive"
    skipped.left_sample.save()

    undone = undo_vote(judge=seat.judge, code=skipped.code)

    assert undone.put_away
    assert undone.screen.current.code != skipped.code
    assert Matchup.objects.get(pk=skipped.pk).state == "skipped"


def test_where_names_are_told_after_a_vote_only_a_skip_is_taken_back():
    seat = make_seat(make_run(reveal="after_vote"))
    take_seat(seat.pk)
    vote(seat)
    assert last_answer(seat, None).code == ""

    code = skip(seat)[0].code

    assert last_answer(seat, None).code == code
    assert undo_vote(judge=seat.judge, code=code).screen.current.code == code


def test_skips_are_exported_apart_from_votes(seat):
    skipped, _ = skip(seat)
    vote(seat)
    stream = io.StringIO()

    count = write_skips(seat.run, stream)

    row = json.loads(stream.getvalue())
    assert count == 1
    assert (row["left_model"], row["right_model"]) == (skipped.left.name, skipped.right.name)
    assert (row["judge"], row["prompt_text"]) == (seat.pseudonym, skipped.prompt.text)
    assert row["response_ms"] >= 0


def test_the_database_knows_no_skip_without_its_time(seat):
    with pytest.raises(IntegrityError), transaction.atomic():
        Matchup.objects.filter(seat=seat, state="open").update(state="skipped")


def test_a_skip_by_form_and_by_script(seat, client):
    client.force_login(seat.judge)
    code = open_code(seat)

    answer = client.post(reverse("judging:skip"), {"code": code}, headers=JSON).json()
    page = client.post(reverse("judging:skip"), {"code": open_code(seat)}, follow=True)

    assert (answer["undo"], answer["said"]) == (code, "Skipped the last pair.")
    assert "Skipped the last pair." in page.text
    assert Matchup.objects.filter(state="skipped").count() == 2


def test_font_marks_survive_undo(seat, client):
    client.force_login(seat.judge)
    code = vote(seat, left_breaks=0b101, right_breaks=0b010).matchup.code

    answer = client.post(reverse("judging:undo"), {"code": code}, headers=JSON).json()
    page = client.get(reverse("judging:judge", args=[seat.run.code])).text

    assert answer["marks"] == {"left": [1, 3], "right": [2]}
    assert page.count(" checked>") == 3


def test_the_last_answer_takes_one_statement(seat, django_assert_num_queries):
    vote(seat)
    skip(seat)
    with django_assert_num_queries(1):
        last_answer(seat, None)
