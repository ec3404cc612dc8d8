"""What a judge sees when pairs come back by undoing, or a drawing is taken out while it is on the screen."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse
from django.utils.timezone import now

from generation.models import Run, Sample
from generation.runs.curating import clear_identity_leak
from judging.models import Matchup, Report, Seat, Vote
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from tests.judging.make import make_curator, make_run, make_seat

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
JSON = {"accept": "application/json"}


@pytest.fixture
def alice(client):
    """A judge whose first eight pairs ask eight prompts, so that a drawing held back takes no other pair with it."""
    seat = make_seat(make_run(prompts=8, overlap=0, repeats=0))
    client.force_login(seat.judge)
    take_seat(seat.pk)
    return seat


def on_screen(seat):
    return Matchup.objects.get(seat=seat, state="open")


def vote(client, seat, times=1):
    codes = []
    for _ in range(times):
        codes.append(on_screen(seat).code)
        client.post(reverse("judging:vote"), {"code": codes[-1], "outcome": "left"})
    return codes


def test_old_votes_undone_from_the_oldest_on_leave_a_pair_on_the_screen(alice, client):
    codes = vote(client, alice, times=3)

    for code in codes:
        client.post(reverse("judging:undo"), {"code": code})
    page = client.get(reverse("judging:judge", args=[alice.run.code]))

    assert page.context["pair"].code == codes[2]
    again = vote(client, alice, times=3)
    assert again == [codes[2], codes[0], codes[1]]


def hold(*matchups):
    Sample.objects.filter(pk__in=[matchup.left_sample_id for matchup in matchups]).update(held=True)


def test_a_vote_on_a_drawing_held_back_meanwhile_is_not_counted_and_the_next_pair_comes(alice, client):
    shown, behind = on_screen(alice), Matchup.objects.get(seat=alice, state="queued")
    hold(shown)
    data = {"code": shown.code, "outcome": "left"}

    answer = client.post(reverse("judging:vote"), data, headers=JSON)
    page = client.post(reverse("judging:vote"), data, follow=True)

    assert (answer.status_code, answer.json()["error"]) == (409, "gone")
    assert page.context["pair"].code == behind.code == on_screen(alice).code
    assert not Vote.objects.exists()
    assert Matchup.objects.get(pk=shown.pk).state == "void"
    assert (Seat.objects.get().void, Seat.objects.get().voted) == (1, 0)
    vote(client, alice)
    assert differences(alice.run) == 0


def test_without_its_script_the_page_says_why_the_vote_was_not_counted(alice, client):
    hold(shown := on_screen(alice))

    page = client.post(reverse("judging:vote"), {"code": shown.code, "outcome": "left"}, follow=True)

    assert "removed while you looked" in page.text
    assert page.context["pair"].code != shown.code


@pytest.mark.parametrize("headers", [{}, JSON])
@pytest.mark.parametrize("taken_out", [{"held": True}, {"excluded_reason": "offensive"}])
def test_a_vote_on_a_drawing_taken_out_since_is_withdrawn_and_the_pair_stays_away(alice, client, headers, taken_out):
    old = on_screen(alice)
    vote(client, alice, times=2)
    Sample.objects.filter(pk=old.left_sample_id).update(**taken_out)
    present = on_screen(alice)

    answer = client.post(reverse("judging:undo"), {"code": old.code}, headers=headers, follow=True)

    assert answer.status_code == 200
    assert ("This is another pair" in answer.text) is not bool(headers)
    assert Vote.objects.get(matchup=old).withdrawn_by == alice.judge
    assert Matchup.objects.get(pk=old.pk).state == "void"
    assert on_screen(alice) == present
    assert (Seat.objects.get().void, Seat.objects.get().voted) == (1, 1)
    assert differences(alice.run) == 0


def test_a_drawing_that_signs_itself_is_not_shown_till_a_curator_lets_it_in(client):
    run = make_run(entrants=2, prompts=1, attempts=1, categories=("animal",), overlap=0, repeats=0)
    signed = run.samples.first()
    Sample.objects.filter(pk=signed.pk).update(held=True, flags=["identity_leak"])
    seat = make_seat(run)
    client.force_login(seat.judge)
    start = reverse("judging:start", args=[run.code])

    held = client.post(start, follow=True)
    clear_identity_leak(Sample.objects.filter(pk=signed.pk), by=make_curator(), reason="it is only a cat")
    with time_machine.travel(now() + timedelta(seconds=61)):  # samples are looked at again once a minute
        released = client.post(start, follow=True)

    assert "no pair to judge in this run yet" in held.text
    assert released.context["pair"].code == on_screen(seat).code
    assert signed.pk in (on_screen(seat).left_sample_id, on_screen(seat).right_sample_id)


@pytest.mark.parametrize(("name", "state"), [("vote", "voted"), ("report", "void"), ("undo", "void")])
def test_what_is_sent_again_opens_the_next_pair_where_those_in_line_are_held_back(alice, client, name, state):
    sent, *_ = vote(client, alice)
    shown, behind = on_screen(alice), Matchup.objects.get(seat=alice, state="queued")
    Report.objects.create(matchup=Matchup.objects.get(code=sent), side="left", reason="signed")
    Matchup.objects.filter(code=sent).update(state=state)
    hold(shown, behind)

    data = {"code": sent, "outcome": "left", "side": "left", "reason": "signed"}
    answer = client.post(reverse(f"judging:{name}"), data, headers=JSON).json()

    assert answer["current"]["code"] == on_screen(alice).code
    assert answer["next"] is not None
    assert not {shown.code, behind.code} & {answer["current"]["code"], answer["next"]["code"]}
    assert {Matchup.objects.get(pk=matchup.pk).state for matchup in (shown, behind)} == {"void"}


def test_a_pair_held_back_behind_the_one_undone_is_not_sent(alice, client):
    voted, *_ = vote(client, alice)
    hold(on_screen(alice), Matchup.objects.get(seat=alice, state="queued"))

    answer = client.post(reverse("judging:undo"), {"code": voted}, headers=JSON).json()

    assert (answer["current"]["code"], answer["next"]) == (voted, None)


def test_a_vote_sent_again_opens_nothing_while_judging_is_not_open(alice, client):
    sent, *_ = vote(client, alice)
    hold(shown := on_screen(alice))
    Run.objects.update(judging_state="paused")

    answer = client.post(reverse("judging:vote"), {"code": sent, "outcome": "left"}, headers=JSON)

    assert (answer.status_code, answer.json()["current"]) == (200, None)
    assert on_screen(alice) == shown


def test_a_stale_undo_does_not_say_that_a_vote_is_withdrawn(alice, client):
    old, _ = vote(client, alice, times=2)
    Matchup.objects.filter(code=old).update(state="void")

    page = client.post(reverse("judging:undo"), {"code": old}, follow=True)

    assert page.context["pair"].code == on_screen(alice).code
    assert "withdrawn" not in page.text
    assert not Vote.objects.exclude(withdrawn_at=None).exists()


def test_where_no_pair_is_left_the_judge_still_reads_that_the_vote_is_withdrawn(alice, client):
    voted, *_ = vote(client, alice)
    Sample.objects.update(held=True)

    page = client.post(reverse("judging:undo"), {"code": voted}, follow=True)

    assert "Vote withdrawn. Its pair cannot be shown now." in page.text
    assert Vote.objects.get().withdrawn_by == alice.judge
