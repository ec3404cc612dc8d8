"""How a participant comes in: one place for one id, and a clear page for every link and form that is not what it should be."""

from __future__ import annotations

import pytest
from django.test import Client

from judging.models import Participation, Seat
from tests.judging.make import make_curator
from tests.judging.studies.make import Guest, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def test_one_id_has_one_seat_in_whatever_browser():
    study = make_study(platform="prolific")
    first, second = (Guest(study, "?PROLIFIC_PID=5f1&STUDY_ID=s&SESSION_ID=t") for _ in range(2))
    first.enter()
    first.judge(2)

    assert "Welcome back" in second.client.get(second.door).content.decode()
    second.enter()
    second.judge(1)

    mine = study.participations.get()
    assert (mine.external_id, mine.parameters) == ("5f1", {"STUDY_ID": "s", "SESSION_ID": "t"})
    assert (mine.outcome, mine.seat.voted, Seat.objects.count()) == ("running", 3, 1)
    assert mine.completion_code is None
    assert Guest(study, "", second.client).page()
    assert study.participations.get().outcome == "done"


def test_what_no_database_stores_is_replaced_in_a_link():
    guest = Guest(make_study(platform="prolific"), "?PROLIFIC_PID=5f1&STUDY_ID=a%00b")

    guest.enter()

    assert guest.participation().parameters == {"STUDY_ID": "a\ufffdb"}


def test_a_form_sent_twice_makes_one_guest():
    guest = Guest(make_study())
    page = guest.client.get(guest.door).content.decode()
    entry = page.split('name="entry" value="')[1].split('"')[0]

    other = Client()
    for client in (guest.client, other):
        client.post(guest.door, {"entry": entry})

    assert Participation.objects.count() == 1


def test_the_link_wins_over_who_used_the_browser_before():
    study = make_study(platform="prolific")
    first = Guest(study, "?PROLIFIC_PID=one")
    first.enter()
    second = Guest(study, "?PROLIFIC_PID=two", first.client)

    page = second.client.get(second.door).content.decode()
    second.enter()

    assert "Someone else has used this browser for the study" in page
    assert second.participation().external_id == "two"
    assert sorted(study.participations.values_list("external_id", flat=True)) == ["one", "two"]


def test_a_curator_is_told_before_being_logged_out():
    study = make_study()
    guest = Guest(study)
    guest.client.force_login(make_curator())

    page = guest.client.get(guest.door).content.decode()

    assert "You are logged in as carol" in " ".join(page.split())


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("", "Your participant id is missing"),
        ("?PROLIFIC_PID=", "Your participant id is missing"),
        ("?PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D", "This link is damaged"),
        ("?PROLIFIC_PID=" + "a" * 81, "This link is damaged"),
        ("?PROLIFIC_PID=a%00b", "This link is damaged"),
        ("?PROLIFIC_PID=<script>", "This link is damaged"),
    ],
)
def test_a_bad_id_gets_a_clear_page_and_no_place(query, sentence):
    guest = Guest(make_study(platform="prolific"), query)

    answer = guest.client.get(guest.door)

    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not Participation.objects.exists()


def test_a_forged_form_is_refused():
    guest = Guest(make_study())

    answer = guest.client.post(guest.door, {"entry": "abc:def"})

    assert answer.status_code == 400
    assert not Participation.objects.exists()


def test_the_form_of_another_study_is_refused():
    used, guest = Guest(make_study()), Guest(make_study())
    page = used.client.get(used.door).content.decode()
    entry = page.split('name="entry" value="')[1].split('"')[0]
    used.client.post(used.door, {"entry": entry})

    answer = guest.client.post(guest.door, {"entry": entry})

    assert answer.status_code == 400
    assert not guest.study.participations.exists()


def test_an_unknown_browser_is_sent_back_to_its_link():
    guest = Guest(make_study())

    answer = guest.client.get(guest.here)

    assert answer.status_code == 403
    assert "We do not know this browser" in answer.content.decode()
