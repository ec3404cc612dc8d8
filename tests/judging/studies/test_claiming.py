"""A guest who makes the seat an account keeps votes and pseudonym, and is a judge like any other from then on."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from judging.curating.invitations import accept_invitation, create_invitations
from judging.models import Participation, Seat
from judging.studies.privacy import erase_participant
from tests.judging.make import make_curator, make_run
from tests.judging.studies.make import Guest, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
FORM = {"name": "dora", "password": "a-long-enough-word-9"}


def done_guest(study):
    guest = Guest(study)
    guest.enter()
    guest.judge(3)
    return guest


def test_a_guest_becomes_an_account_with_the_same_seat_and_votes():
    study = make_study()
    guest = done_guest(study)
    address = f"/study/{study.code}/account/"
    seat = Seat.objects.get()

    offered = address in guest.page()
    answer = guest.client.post(address, FORM)
    again = guest.client.post(address, {**FORM, "name": "other"})

    mine = Seat.objects.get()
    assert offered and answer.status_code == 302 and again.status_code == 404
    assert mine.judge.check_password(FORM["password"])
    assert (mine.pk, mine.voted, mine.pseudonym, mine.judge.username) == (seat.pk, 3, seat.pseudonym, "dora")
    assert guest.client.get("/judge/").status_code == 200


def test_the_account_may_accept_invitations_which_a_guest_may_not():
    guest = done_guest(make_study())
    guest.client.post(f"/study/{guest.study.code}/account/", FORM)
    other = make_run()
    link = create_invitations(run=other, by=make_curator(), count=1, days=1)[0]

    seat = accept_invitation(invitation=link, judge=User.objects.get(username="dora"))

    assert seat.run == other


def test_a_taken_name_and_a_weak_password_are_refused_and_nothing_changes():
    User.objects.create_user("Dora")
    guest = done_guest(make_study())

    page = guest.client.post(f"/study/{guest.study.code}/account/", {"name": "dora", "password": "1"})

    assert page.status_code == 200 and "taken" in page.content.decode()
    assert Seat.objects.get().judge.username.startswith("guest-")


def test_nobody_claims_the_seat_of_a_platforms_id_or_without_having_been_there():
    study = make_study(platform="prolific")
    guest = Guest(study, "?PROLIFIC_PID=a1")
    guest.enter()
    guest.judge(3)
    address = f"/study/{study.code}/account/"

    assert guest.client.get(address).status_code == Client().get(address).status_code == 404


def test_erasing_a_person_leaves_the_account_and_takes_the_seat_from_it():
    guest = done_guest(make_study())
    guest.client.post(f"/study/{guest.study.code}/account/", FORM)

    erase_participant(participation=Participation.objects.get(), by=make_curator(), reason="asked")

    account = User.objects.get(username="dora")
    seat = Seat.objects.get()
    assert account.is_active and not account.seats.exists()
    assert (seat.voted, seat.judge.is_active, seat.judge.username.startswith("guest-")) == (3, False, True)
