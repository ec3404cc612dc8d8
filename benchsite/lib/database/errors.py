"""Which database errors mean that the database is away for now, and what the server itself said.

PostgreSQL's SQLSTATE decides where there is one: exception classes do not tell. A server that turned read-only raises
Django's `InternalError`, while an `OperationalError` may be about the very row that is written.
"""

from __future__ import annotations

from django.db import Error, InterfaceError, OperationalError

# Classes of SQLSTATE that pass without any change of ours: lost connections, rolled-back transactions, exhausted
# resources, locks, an operator's intervention, failing disks.
AWAY_CLASSES = ("08", "40", "53", "55", "57", "58")
NO_CONNECTION = "no connection"
AWAY_STATES = (
    "25006",  # read-only: a standby, or a primary that was told to refuse writes
    "25P03",  # our transaction stood idle for too long
)
# The driver drops the SQLSTATE of a connection that is refused; an English server's words tell it. None names who was refused.
REFUSED_CONNECTIONS = {
    "sorry, too many clients already": "53300",
    "remaining connection slots are reserved": "53300",
    "too many connections for role": "53300",
    "too many connections for database": "53300",
    "no more connections allowed": "08P01",  # PgBouncer
    "query_wait_timeout": "08P01",
    "the database system is starting up": "57P03",
    "the database system is shutting down": "57P03",
    "the database system is in recovery mode": "57P03",
    "the database system is not yet accepting connections": "57P03",
}


def sqlstate(error: BaseException) -> str:
    """The SQLSTATE that the server gave, or nothing: SQLite has none, nor has a connection that was lost."""
    return getattr(error.__cause__ or error, "sqlstate", None) or REFUSED_CONNECTIONS.get(_refusal(error), "")


def _refusal(error: BaseException) -> str:
    """Why the server refused a connection, if it said so in words that are known."""
    message = str(error.__cause__ or error)
    return next((words for words in REFUSED_CONNECTIONS if words in message), "") if "FATAL" in message else ""


def is_away(error: BaseException) -> bool:
    """Whether the same statement may succeed later, so that what it writes must be kept until then."""
    state = sqlstate(error)
    if state:
        return state in AWAY_STATES or state.startswith(AWAY_CLASSES)
    return isinstance(error, (OperationalError, InterfaceError))


def server_words(error: BaseException) -> str:
    """The server's own words and its SQLSTATE, on one line; never where it is or who we are there."""
    cause = error.__cause__ or error
    words = getattr(getattr(cause, "diag", None), "message_primary", None) or _refusal(error)
    if not words and isinstance(error, Error) and not hasattr(cause, "diag"):
        words = str(cause)  # SQLite's, which name no host and no user
    state = sqlstate(error)
    named = f"{type(cause).__name__} {state}".strip()
    return f"{' '.join(words.split())} ({named})" if words else f"{NO_CONNECTION} ({named})"
