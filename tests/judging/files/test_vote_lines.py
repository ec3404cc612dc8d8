"""What a line of votes.jsonl may hold: the same for the import of votes and for `analyse`."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from benchsite.lib.file_errors import BadLine
from judging.files.vote_files import read_vote_lines
from judging.files.vote_lines import KINDS, OPTIONAL, OUTCOMES, REQUIRED, vote_fault
from judging.models import Kind, Outcome
from ranking.pairwise.files.vote_columns import NameNumbers, columns_of
from ranking.statistics import votes as statistics

GOOD = {"left_model": "a", "right_model": "b", "outcome": "left"}
VALUES = some.one_of(
    some.sampled_from(
        [None, "", " ", "a", "b", *OUTCOMES, *KINDS, "true", "False", True, False, 0, 1, -1, 2**31 - 1, 2**31, 10**30]
    ),
    some.sampled_from([0.0, 0.5, -0.5, 1e12, 1.1e12, [], {}, [1], "\ud800", "x" * 10_001]),
    some.sampled_from(["2026-05-01", "2026-05-01T12:00:00Z", "2026-05-01 12:00", "12:00", "2026-13-01T00:00Z", "now"]),
    some.sampled_from(["0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00"]),
    some.text(max_size=3),
    some.integers(),
    some.floats(allow_nan=False),
)
ROWS = some.fixed_dictionaries(
    {}, optional={name: some.sampled_from([GOOD.get(name)]) | VALUES for name in (*REQUIRED, *OPTIONAL)}
)


def read_line(tmp_path, **fields):
    path = tmp_path / "votes.jsonl"
    path.write_text(json.dumps(GOOD | fields))
    return read_vote_lines(path)[0][0]


def test_outcomes_and_kinds_are_the_same_everywhere():
    assert [*OUTCOMES] == Outcome.values == [*statistics.OUTCOMES]
    assert [*KINDS] == [kind for kind in Kind.values if kind != Kind.GOLD] == [*statistics.KINDS]


@settings(max_examples=400, deadline=None)
@given(ROWS)
def test_columns_refuse_exactly_the_rows_in_which_a_fault_is_named(row):
    tables = {
        name: NameNumbers(optional=name != "left_model") for name in ("left_model", "judge", "prompt_text", "category")
    }

    try:
        columns_of([row], tables)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        assert vote_fault(row) is not None
    else:
        assert vote_fault(row) is None


@pytest.mark.parametrize(
    ("given", "withdrawn"),
    [
        (None, False),
        (False, False),
        ("False", False),
        ("", False),
        (True, True),
        ("true", True),
        ("2026-05-01T12:00:00+02:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_vote_is_withdrawn_or_has_the_time_of_it(tmp_path, given, withdrawn):
    assert read_line(tmp_path, withdrawn=given).withdrawn == withdrawn


def test_unknown_fields_and_fields_left_empty_are_unknown(tmp_path):
    line = read_line(tmp_path, judge="", kind=None, voted_at="", category=None, note={"any": "thing"})

    assert (line.judge, line.kind, line.voted_at, line.category) == (None, "regular", None, "")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("left_model", "x" * 201, "left_model is longer than 200 characters."),
        ("right_model", "  ", "right_model is empty."),
        ("judge", "\ud800", "judge is not valid UTF-8."),
        ("response_ms", 2**31, "response_ms must be a whole number below 2147483648."),
        ("voted_at", [], "voted_at must be a time such as 2026-05-01T12:00:00Z, not '[]'."),
        ("withdrawn", "9999-12-31T23:59-14:00", "withdrawn must be a time such as 2026-05-01T12:00:00Z."),
    ],
)
def test_what_no_database_can_hold_is_named_by_field(tmp_path, field, value, words):
    with pytest.raises(BadLine) as refused:
        read_line(tmp_path, **{field: value})

    assert str(refused.value) == f"votes.jsonl:1: {words}"


def test_a_character_that_no_database_can_hold_is_replaced(tmp_path):
    assert read_line(tmp_path, right_model="a\0").right_model == "a\ufffd"


def test_names_that_become_one_in_the_database_are_refused(tmp_path):
    with pytest.raises(BadLine, match=r"votes.jsonl:1: right_model is left_model, once"):
        read_line(tmp_path, left_model="a\0", right_model="a\ufffd")
