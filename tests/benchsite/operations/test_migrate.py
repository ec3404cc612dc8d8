"""Two `migrate` at once: the second waits for the first."""

from __future__ import annotations

from threading import Event, Thread

import pytest

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
