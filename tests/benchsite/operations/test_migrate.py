"""Two `migrate` at once: the second waits for the first. A migration may take its time."""

from __future__ import annotations

from threading import Event, Thread

import pytest
from django.core.management import call_command
from django.core.management.commands import migrate
from django.db import connection

from benchsite.management.commands.migrate import one_at_a_time

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_second_waits_until_the_first_is_done(tmp_path, settings):
    settings.VAR_DIR = tmp_path
    order, waiting = [], Event()

    def second():
        waiting.set()
        with one_at_a_time("default"):
            order.append("second")

    thread = Thread(target=second)
    with one_at_a_time("default"):
        thread.start()
        waiting.wait()
        thread.join(timeout=0.2)
        order.append("first")
    thread.join()

    assert order == ["first", "second"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite ends no idle transaction")
def test_a_migration_may_compute_for_longer_than_a_transaction_may_be_idle(monkeypatch):
    limits = []

    def handle(*args, **options):
        with connection.cursor() as cursor:
            limits.append(cursor.execute("SHOW idle_in_transaction_session_timeout").fetchone()[0])

    handle()
    monkeypatch.setattr(migrate.Command, "handle", handle)
    call_command("migrate", verbosity=0)
    connection.close()

    assert limits[0] != "0" and limits[1] == "0"
