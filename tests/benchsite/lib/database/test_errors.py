"""Errors of the database by what the server said, not by the class that a driver chose."""

from __future__ import annotations

from secrets import token_hex

import pytest
from django.db import (
    DatabaseError,
    DataError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
    connection,
)

from benchsite.lib.database.errors import is_away, server_words
from generation.models import Event


def failed(error, state=None):
    """The error as Django raises it, with the driver's own behind it."""
    cause = Exception("what the server said")
    cause.sqlstate = state
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (failed(OperationalError()), True),  # a lost connection has no state
        (failed(InterfaceError()), True),
        (failed(OperationalError(), "57P01"), True),  # ended by the administrator
        (failed(OperationalError(), "53300"), True),  # no connection left
        (failed(OperationalError(), "53100"), True),  # the disk is full
        (failed(OperationalError(), "40P01"), True),  # deadlock
        (failed(InternalError(), "25006"), True),  # read-only
        (failed(InternalError(), "25P03"), True),  # idle for too long
        (failed(OperationalError(), "54000"), False),  # this very row is too large
        (failed(InternalError(), "25P02"), False),
        (failed(DataError(), "22021"), False),
        (failed(ProgrammingError(), "42P01"), False),
        (ValueError("ours"), False),
    ],
)
def test_what_may_pass_is_told_from_what_will_not(error, away):
    assert is_away(error) is away


READ_ONLY = {
    "postgresql": (
        "SET default_transaction_read_only = on",
        "cannot execute INSERT in a read-only transaction (ReadOnlySqlTransaction 25006)",
    ),
    "sqlite": ("PRAGMA query_only = 1", "attempt to write a readonly database (OperationalError)"),
}


@pytest.fixture
def crowded():
    """A role that may not connect once more."""
    role = f"crowded_{token_hex(4)}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'x' CONNECTION LIMIT 0")
        yield role
        cursor.execute(f"DROP ROLE {role}")


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no connections to run out of")
def test_a_server_with_no_connection_left_is_quoted_with_its_state_and_names_nobody(crowded):
    refused = connection.copy()
    refused.settings_dict = refused.settings_dict | {"USER": crowded, "PASSWORD": "x"}

    with pytest.raises(OperationalError) as raised:
        refused.ensure_connection()

    assert server_words(raised.value) == "too many connections for role (OperationalError 53300)"
    assert is_away(raised.value)


@pytest.mark.django_db(transaction=True)
def test_a_server_that_turned_read_only_is_away_and_quoted():
    setting, words = READ_ONLY[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(setting)
    try:
        with pytest.raises(DatabaseError) as raised:
            Event.objects.create(verb=Event.Verb.PAUSE_RUN)
    finally:
        connection.close()

    assert is_away(raised.value)
    assert server_words(raised.value) == words


def test_words_name_neither_host_nor_user():
    error = failed(OperationalError('connection to server at "10.0.0.5" failed: no password for user "benchsite"'))
    error.__cause__.diag = None

    assert server_words(error) == "no connection (Exception)"
