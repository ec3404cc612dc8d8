"""One reader of JSON from outside: what it refuses, and why."""

from __future__ import annotations

import time

import pytest

from benchsite.lib.json_lines import FAST, JsonError, Limits, nests_deeper, read_json, read_object

LIMITS = Limits(characters=1_000, depth=4, digits=6)


@pytest.mark.parametrize(
    ("text", "reason", "message"),
    [
        ("{", "invalid_json", "is not JSON (Expecting property name enclosed in double quotes at character 2)"),
        ("NaN", "invalid_json", "is not JSON (NaN is not a number)"),
        ('{"a": 1, "a": 2}', "duplicate_key", "names the same field twice"),
        ("[" * 100_000, "too_deep", "is not JSON that can be read (it nests too deep)"),
        ("9" * 9_999, "number_too_large", "is not JSON that can be read (a number is too long)"),
    ],
)
def test_refused_text_has_a_reason_and_a_sentence(text, reason, message):
    with pytest.raises(JsonError) as error:
        read_json(text)

    assert (error.value.reason, str(error.value)) == (reason, message)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('"' + "a" * 1_000 + '"', "too_large"),
        ("[[[[[1]]]]]", "too_deep"),
        ("[1234567]", "number_too_large"),
        ('"\\u0000"', "invalid_text"),
        ('{"\\ud800": 1}', "invalid_text"),
        ("[1, 1234567", "number_too_large"),
        ('{"a": 1234567890, "a": 1}', "number_too_large"),
    ],
)
def test_limits_refuse_what_may_be_read_without_them(text, reason):
    with pytest.raises(JsonError) as error:
        read_json(text, limits=LIMITS)

    assert error.value.reason == reason


def test_text_within_the_limits_is_read():
    assert read_json('{"a": [-123456, "é"]}', limits=LIMITS) == {"a": [-123456, "é"]}


def test_fast_decoder_takes_the_last_of_two_values():
    assert read_object('{"a": 1, "a": 2}', decoder=FAST) == {"a": 2}


def test_only_an_object_is_an_object():
    with pytest.raises(JsonError, match="is a list, not a JSON object"):
        read_object("[]")


def test_nests_deeper_counts_brackets_outside_strings():
    text = '{"a": [[1], "[[[["]}'

    assert nests_deeper(text, 2)
    assert not nests_deeper(text, 3)


@pytest.mark.parametrize("piece", ["{", '{"', '\\"', "[", "\n"])
def test_looking_for_depth_takes_linear_time(piece):
    def seconds(n: int) -> float:
        start = time.process_time()
        nests_deeper('{"' + piece * n, 10**9)
        return time.process_time() - start

    small, large = (min(seconds(n) for _ in range(3)) for n in (5_000, 40_000))

    # Eight times the text: linear is 8, quadratic 64.
    assert large < 24 * small + 0.01
