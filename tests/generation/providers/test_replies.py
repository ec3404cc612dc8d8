"""Reading a reply: any status, headers and body end as a `Reply` or a `ProviderError`."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from generation.money import price_of
from generation.providers.errors import ProviderError, printable, wait_of
from generation.providers.replies import Exchange, read_reply, same_model


def exchange(payload, *, status=200, headers=None, **options):
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return Exchange(status=status, headers=headers or {}, body=body, asked_model="acme/drawer-1", **options)


def completion(content="hi", finish="stop", **extra):
    return {"choices": [{"finish_reason": finish, "message": {"content": content}}], **extra}


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1, "0.1", True, None, [], 1e300])
def test_unbelievable_cost_is_unknown(cost):
    reply = read_reply(
        exchange(completion(usage={"cost": cost, "prompt_tokens": 3, "completion_tokens": 4}), price=price_of(1, 1))
    )

    assert (reply.cost_nano, reply.flags) == (None, ("cost_unknown",))


def test_price_table_fills_in_where_no_cost_is_named():
    usage = {"prompt_tokens": 1000, "completion_tokens": 500}

    assert read_reply(exchange(completion(usage=usage), price=price_of(2, 10))).cost_nano == 7_000_000
    assert read_reply(exchange(completion(usage=usage))).cost_nano is None


@pytest.mark.parametrize(
    ("status", "error", "kind", "code"),
    [
        (400, {"message": "x/y is not a valid model ID"}, "fatal_model", "model_unavailable"),
        (400, {"message": "temperature"}, "fatal_attempt", "bad_request"),
        (400, {"code": "content_filter", "message": "no"}, "fatal_attempt", "content_filter"),
        (403, {"message": "Key limit exceeded"}, "pause_run", "out_of_credits"),
        (403, {"message": "no access to model"}, "fatal_model", "forbidden"),
        (404, {"message": "busy", "availability": {"retryable": True}}, "retry", "model_unavailable"),
        (404, {"message": "No endpoints found that support image input"}, "fatal_model", "no_pictures"),
        (400, {"message": "image_url is only supported by certain models"}, "fatal_model", "no_pictures"),
        (400, {"message": "At most 0 image(s) may be provided in one request."}, "fatal_model", "no_pictures"),
        (500, "this model is missing data required for image input", "fatal_model", "no_pictures"),
        (400, {"message": "Could not process image"}, "fatal_attempt", "bad_request"),
        (429, {"code": "insufficient_quota", "message": "quota"}, "pause_run", "out_of_credits"),
        (529, "overloaded", "retry", "provider_error"),
        (200, {"code": 401, "message": "no"}, "pause_run", "bad_credentials"),
        (200, "odd", "retry", "provider_error"),
        (204, None, "retry", "bad_response"),
    ],
)
def test_status_and_error_say_what_to_do(status, error, kind, code):
    with pytest.raises(ProviderError) as caught:
        read_reply(exchange({"error": error}, status=status))

    assert (caught.value.kind, caught.value.code) == (kind, code)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"7",
        b"{" * 100_000,
        b"[" * 100_000,
        b'{"choices":' + b"9" * 5000 + b"}",
        b"\xff\xfe",
        b"{}",
    ],
)
def test_any_body_gives_a_reply_or_an_error_of_ours(body):
    with pytest.raises(ProviderError) as caught:
        read_reply(exchange(body))

    assert caught.value.code == "bad_response"


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        (7, "bad_response"),
        ({}, "bad_response"),
        ({"message": {"content": 7}}, "bad_response"),
        ({"message": {"content": {}}}, "bad_response"),
        ({"message": {"content": " \n"}}, "no_content"),
        ({"message": {"content": []}}, "no_content"),
    ],
)
def test_choice_of_another_shape_is_an_error_of_ours(choice, code):
    with pytest.raises(ProviderError) as caught:
        read_reply(exchange({"choices": [choice]}))

    assert caught.value.code == code


def test_finished_stream_is_folded_into_one_answer():
    events = [{"choices": [{"delta": {"content": part}}]} for part in ("a", "b")]
    stream = ": hello\n\n" + "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    headers = {"content-type": "text/event-stream; charset=utf-8"}

    assert read_reply(exchange((stream + "data: [DONE]\n\n").encode(), headers=headers)).text == "ab"
    with pytest.raises(ProviderError, match="incomplete_body"):
        read_reply(exchange(stream.encode(), headers=headers))


def test_refusal_is_an_answer_with_a_flag():
    message = {"content": None, "refusal": "I'd rather not."}

    reply = read_reply(exchange({"choices": [{"finish_reason": "stop", "message": message}]}, kind="ollama"))

    assert (reply.text, reply.flags) == ("I'd rather not.", ("refusal",))


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("gpt-x", "gpt-x-2024-08-06", True),
        ("acme/a:free", "acme/a", True),
        ("llama3.2", "llama3.2:latest", True),
        ("gpt-x", "gpt-x-mini", False),
        ("gpt-4", "gpt-4.1", False),
    ],
)
def test_dated_name_is_the_same_model(asked, served, same):
    assert same_model(asked, served) is same


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("99999", 900.0),
        ("nan", None),
        ("soon", None),
        ("", None),
        ("Mon, 01 Jan 2024 00:01:00 GMT", 60.0),
        ("Mon, 01 Jan 2024 00:01:00", None),
    ],
)
def test_retry_after_forms(header, seconds):
    assert wait_of(header, now=datetime(2024, 1, 1, tzinfo=UTC)) == seconds


def test_detail_is_one_printable_line():
    assert printable("a\x1b[31m\n\u202e\ud800") == "a\\x1b[31m\\n\\u202e\\ud800"
    assert len(printable("\n" * 600)) == 500
