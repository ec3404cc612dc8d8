"""A PostgreSQL connection is checked before a request uses it, unless it was used a moment ago."""

from __future__ import annotations

import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.once,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no connection to lose"),
]


@pytest.fixture
def checks(monkeypatch):
    """Counts the checks of the request that begins now."""
    made = []
    database = connections[DEFAULT_DB_ALIAS]
    monkeypatch.setattr(database, "is_usable", lambda: made.append(1) or True)
    monkeypatch.setattr(database, "health_check_enabled", True)
    monkeypatch.setattr(database, "health_check_done", False)
    return made


def ask():
    with connection.cursor() as cursor:
        cursor.execute("SELECT 2")


def test_a_connection_that_rested_is_checked_once(checks, monkeypatch):
    monkeypatch.setattr(connections[DEFAULT_DB_ALIAS], "used_at", float("-inf"))

    ask()
    ask()

    assert len(checks) == 1


def test_a_connection_that_was_just_used_is_not_checked(checks, monkeypatch):
    monkeypatch.setattr(connections[DEFAULT_DB_ALIAS], "used_at", float("inf"))

    ask()

    assert not checks


def test_a_connection_that_met_an_error_is_checked(checks, monkeypatch):
    monkeypatch.setattr(connections[DEFAULT_DB_ALIAS], "used_at", float("inf"))
    monkeypatch.setattr(connections[DEFAULT_DB_ALIAS], "errors_occurred", True)

    ask()

    assert len(checks) == 1
