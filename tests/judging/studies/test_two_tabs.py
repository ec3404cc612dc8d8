"""Two requests of one participant at the same moment, on PostgreSQL: neither waits for the other's rows for good."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

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
