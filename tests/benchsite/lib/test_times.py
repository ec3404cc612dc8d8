"""Times of files and options: what is taken, and in which zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from benchsite.lib.times import parse_stored_time, parse_time

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["2026-05-01T12:00:00Z", "2026-05-01T14:00+02:00", "2026-05-01 12:00:00 +0000", "2026-05-01 12:00"]
)
def test_parse_time_reads_a_time_without_a_zone_as_utc(text):
    assert parse_time(text) == NOON


@pytest.mark.parametrize("text", ["", "noon", "2026-13-01T12:00:00Z"])
def test_parse_time_refuses_what_is_no_time(text):
    with pytest.raises(ValueError, match=r"must be a time|month must be"):
        parse_time(text)


def test_stored_time_may_be_absent():
    assert parse_stored_time(None, "voted_at") is None


@pytest.mark.parametrize("value", ["noon", 7, True, [], "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_stored_time_names_its_field(value):
    with pytest.raises(ValueError, match=r"^voted_at must be a time such as 2026-05-01T12:00:00Z$"):
        parse_stored_time(value, "voted_at")
