"""Two tabs of one participant: none waits for the other for good, and the later one comes to the present step."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.test import Client

from judging.models import StepRecord
from judging.studies.steps import JUDGE
from judging.studies.walking import _locked, note_step
from tests.judging.studies.make import Guest, make_study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


def test_a_tab_notes_its_step_while_another_holds_the_participation(no_waiting):
    if connection.vendor != "postgresql":
        return  # SQLite has one writer at a time, who is soon done
    guest = Guest(make_study(instructions="Look."))
    guest.enter()
    mine = guest.participation()

    def other_tab():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '10s'")
            note_step(mine, JUDGE)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as tab, transaction.atomic():
        _locked(mine)
        tab.submit(other_tab).result()
        note_step(mine, JUDGE)

    assert StepRecord.objects.filter(participation=mine, step=JUDGE).count() == 1


def test_a_second_tab_that_starts_later_comes_to_the_present_step():
    guest = Guest(make_study(instructions="Look."), client=Client(enforce_csrf_checks=True))
    tabs = [guest.client.get(guest.door).content.decode() for _ in range(2)]
    forms = [dict(re.findall(r'name="(entry|csrfmiddlewaretoken)" value="([^"]+)"', tab)) for tab in tabs]

    answers = [guest.client.post(guest.door, form) for form in forms]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert guest.client.get(answers[1].url, follow=True).redirect_chain == [(guest.here, 302)]
    assert guest.study.participations.count() == 1


def test_a_form_without_the_sites_cookie_meets_a_page_that_says_what_to_do():
    guest = Guest(make_study(), client=Client(enforce_csrf_checks=True))

    answer = guest.client.post(guest.door, {"entry": "forged"})

    assert answer.status_code == 403
    assert "This page is out of date" in answer.content.decode()
    assert guest.study.participations.count() == 0
