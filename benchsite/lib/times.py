"""Times as files and options write them."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime

EXPECTED = "must be a time such as 2026-05-01T12:00:00Z"


def parse_time(text: str) -> datetime:
    """An ISO 8601 time, or one as databases print it; without a zone it is UTC. Raises ValueError."""
    moment = parse_datetime(text)
    if moment is None:
        raise ValueError(EXPECTED)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_stored_time(value: object, field: str) -> datetime | None:
    """A field's time in UTC, as databases keep it, or None for null. ValueError names the field.

    The first and last hours of the calendar are refused where they do not exist in UTC.
    """
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return parse_time(value).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{field} {EXPECTED}")
