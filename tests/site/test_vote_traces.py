"""While people judge a run, every answer of the site is the same, byte for byte, whichever way somebody else's vote went.

Every address that can be made of what the run has is fetched, as a visitor, as another judge and as an analyst with a token.
"""

from __future__ import annotations

import re

import pytest
import time_machine
from django.db.models import F
from django.test import Client
from django.utils.timezone import now

from benchmarks.faults.site_reading import addresses_of
from generation.models import Run
from judging.models import Grade, Vote
from judging.pairs.serving import take_seat
from judging.pairs.tallies import rebuild_tallies
from judging.pairs.voting import Ballot, cast_vote, undo_vote
from ranking.fitting import fit_run, publish_fit
from ranking.public_states import take_public_states
from ranking.tokens import create_token
from tests.judging.make import make_seat
from tests.ranking.answered_run import make_answered_run
from tests.ranking.archive_run import add_votes
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.django_db, pytest.mark.long, pytest.mark.once, pytest.mark.usefixtures("no_waiting")]
# What differs between two answers to the same question.
CHANCE = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"|name="csrf-token" content="\w+"')
UNTOLD = {"Set-Cookie", "X-Request-ID", "Content-Security-Policy"}


def voted_run():
    return make_voted_run(votes=60, judges=4)


def measured_run():
    run = make_answered_run(models=["demo/master", "demo/beginner"], attempts=1, protocols=("automatic", "pairwise"))
    add_votes(run, judges=4, votes=60)
    return run


def graded_run():
    return make_graded_run()


def adaptive_run():
    run = voted_run()
    Run.objects.filter(pk=run.pk).update(adaptive_pairs=True, was_adaptive=True)
    return run


def opened(run):
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="open")
    run.refresh_from_db()
    fits = [fit_run(run, protocol=protocol) for protocol in run.protocols]
    publish_fit(fit=fits[-1], by=None, title="Midterm")
    take_public_states()
    return run


def eyes_on(run):
    """Who looks: a client each."""
    judge, analyst = Client(), Client(headers={"Authorization": f"Bearer {create_token(label='a', by=None)[1]}"})
    judge.force_login(make_seat(run, "eve").judge)
    return {"visitor": Client(), "judge": judge, "analyst": analyst}


def looked_up(eyes, addresses):
    """All that can be seen: everything as a visitor; the others look at pages, or at the API."""
    chosen = {
        "visitor": addresses,
        "judge": [address for address in addresses if "?" not in address],
        "analyst": [address for address in addresses if address.startswith("/api/") and "?" not in address],
    }
    return looked_again(eyes, ((who, address) for who in eyes for address in chosen[who]))


def looked_again(eyes, keys):
    answers = {(who, address): answer_of(eyes[who], address) for who, address in keys}
    return {key: answer for key, answer in answers.items() if answer[0] < 400}


def answer_of(client, address):
    answer = client.get(address)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    headers = {name: value for name, value in answer.headers.items() if name not in UNTOLD}
    return answer.status_code, headers, CHANCE.sub(b"", body)


def turn_a_vote(run):
    """As if one judge had said the contrary."""
    votes = Vote.objects.filter(run=run, outcome__in=("left", "right"))
    if votes.exists():
        last = votes.order_by("-id").first()
        Vote.objects.filter(pk=last.pk).update(outcome={"left": "right", "right": "left"}[last.outcome])
        rebuild_tallies(run)
    else:
        grades = Grade.objects.filter(sample=Grade.objects.filter(run=run).last().sample)
        assert grades.filter(value__gt=1).update(value=F("value") - 1)


def settle(run):
    """What workers do after a vote."""
    for protocol in run.protocols:
        fit_run(run, protocol=protocol, full=False)
        fit_run(run, protocol=protocol)
    take_public_states()


@pytest.mark.parametrize("make", [voted_run, measured_run, graded_run, adaptive_run])
def test_no_answer_depends_on_which_way_a_vote_went(make):
    run = opened(make())
    eyes, addresses = eyes_on(run), addresses_of(run)
    eyes = eyes if make is voted_run else {"visitor": eyes["visitor"]}

    with time_machine.travel(now(), tick=False):
        before = looked_up(eyes, addresses)
        turn_a_vote(run)
        settle(run)
        after = looked_again(eyes, before)

    assert [key for key in before if before[key] != after.get(key)] == []
    assert len(after) > 20
    assert make is not voted_run or ("analyst", f"/api/v1/runs/{run.code}/boards/pairwise") in after
    Run.objects.filter(pk=run.pk).update(judging_state="closed")
    board = f"/runs/{run.code}/leaderboard/{run.protocols[-1]}/?format=json"
    assert answer_of(eyes["visitor"], board) != after["visitor", board], "there is something that could be seen"


def test_a_new_vote_changes_nothing_but_how_many_votes_there_are():
    run = opened(voted_run())
    eyes, addresses = {"visitor": Client()}, addresses_of(run)
    seat = make_seat(run, "zoe")
    for _ in range(2):
        cast = cast_vote(judge=seat.judge, code=take_seat(seat.pk).current.code, ballot=Ballot("left")).vote
    votes = run.votes.count()

    with time_machine.travel(now(), tick=False):
        after = looked_up(eyes, addresses)
        undo_vote(judge=seat.judge, code=cast.matchup.code)
        settle(run)
        before = looked_again(eyes, after)

    changed = [address for address in before if before[address] != after[address]]
    counts = re.compile(rf"\b(?:{votes - 1}|{votes})\b".encode())
    masked = [[counts.sub(b"#", seen[address][-1]) for seen in (before, after)] for address in changed]
    assert changed, "some pages count votes"
    assert [address for address, (one, other) in zip(changed, masked, strict=True) if one != other] == []
