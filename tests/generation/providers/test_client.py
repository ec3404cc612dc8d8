"""Every hostile HTTP reply through the real client, over a real socket."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import socket
import threading
import tracemalloc

import pytest

from generation.providers.client import BODY_LIMIT, Client, _spelt
from generation.providers.errors import ProviderError
from generation.providers.replies import Reply
from generation.providers.requests import Request, payload_of
from generation.suites.profiles import Profile
from tests.hostile import serve

KEY = "sk-or-v1-0123456789abcdef-secret"
CASES = serve.CASES
SLOW = {"http-slow-drip.script", "http-never-answers.script"}
CAT = "```\n /\\_/\\\n( o.o )\n > ^ <\n```\n"


def profile_at(base_url, *, kind="openrouter", key_env="TEST_PROVIDER_KEY"):
    return Profile("stub", base_url, key_env, {"X-Title": "Benchsite"}, kind)


REQUEST = Request("acme/drawer-1", ({"role": "user", "content": "Draw a cat in ASCII art"},), 0.0, 1000)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_PROVIDER_KEY", KEY)


@pytest.fixture(scope="module")
def hostile_port():
    server, port = serve.start()
    yield port
    server.close()


def ask(profile, request=REQUEST, *, deadline=5.0):
    async def once() -> Reply | ProviderError:
        async with Client() as client:
            try:
                return await client.ask(profile, request, deadline=deadline)
            except ProviderError as error:
                return error

    return asyncio.run(once())


def ask_case(case_id, port, **options):
    deadline = 0.6 if case_id in SLOW else 10.0
    return ask(profile_at(f"http://127.0.0.1:{port}/{case_id}/api/v1", **options), deadline=deadline)


def once_server(response: bytes):
    """A server for one connection: it answers with these bytes and remembers what it was sent."""
    listener = socket.create_server(("127.0.0.1", 0))
    received = bytearray()

    def serve_once():
        connection, _ = listener.accept()
        with connection:
            while b"\r\n\r\n" not in received:
                received.extend(connection.recv(65536))
            connection.sendall(response)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        listener.close()

    threading.Thread(target=serve_once, daemon=True).start()
    return listener.getsockname()[1], received


def http(body: str | bytes, *, status="200 OK", headers="") -> bytes:
    raw = body.encode() if isinstance(body, str) else body
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(raw)}\r\nConnection: close\r\n{headers}\r\n".encode() + raw


def completion(content):
    return {"choices": [{"finish_reason": "stop", "message": {"content": content}}]}


def test_it_works(hostile_port):
    reply = ask_case("http-200-ok", hostile_port)

    assert reply.text == CAT
    assert (reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == ("stop", 30, 20)
    assert reply.cost_nano == 1_230_000
    assert reply.generation_id == "gen-1700000000-AAAA"
    assert (reply.served_model, reply.served_provider, reply.flags) == ("acme/drawer-1", "Acme", ())
    assert json.loads(reply.raw_bytes)["object"] == "chat.completion"


@pytest.mark.parametrize("case_id", sorted(CASES))
def test_hostile_case_ends_as_the_index_says(case_id, hostile_port, caplog):
    caplog.set_level(logging.DEBUG)
    case = CASES[case_id]

    outcome = ask_case(case_id, hostile_port)

    if case["verdict"] in ("accept", "accept_flagged", "invalid"):
        assert isinstance(outcome, Reply), outcome
        assert outcome.flags == ((case["reason"],) if case["reason"] else ())
        outcome.text.encode()
    else:
        assert isinstance(outcome, ProviderError)
        assert (outcome.kind, outcome.code) == (case["verdict"], case["reason"])
        assert len(outcome.detail) <= 500
        assert outcome.detail.isprintable()
    assert (case_id, True) in serve.SEEN
    assert KEY not in repr(outcome) + str(vars(outcome) if isinstance(outcome, ProviderError) else "") + caplog.text


@pytest.mark.parametrize(
    ("case_id", "wait"),
    [
        ("http-429-retry-after", 7.0),
        ("http-429-retry-after-date-absurd", 900.0),
        ("http-402-in-flight", 12.0),
        ("http-503-html-body", 3.0),
        ("http-500-transient", None),
    ],
)
def test_retry_after_is_read_and_capped(case_id, wait, hostile_port):
    assert ask_case(case_id, hostile_port).retry_after == wait


@pytest.mark.parametrize(
    ("case_id", "cost", "generation_id"),
    [
        ("http-429-retry-after", 0, ""),
        ("http-200-reasoning-only", 50_000_000, "gen-1700000000-AAAA"),
        ("http-200-null-content", 1_230_000, "gen-1700000000-AAAA"),
        ("http-200-truncated-json", None, "gen-1700000000-AAAA"),
        ("http-200-truncated-chunked", None, "gen-1700000000-AAAA"),
        ("http-200-error-body", None, "gen-1700000000-AAAA"),
        ("http-never-answers.script", None, ""),
        ("http-huge-body.script", None, ""),
    ],
)
def test_failed_call_says_what_it_cost_or_that_nobody_knows(case_id, cost, generation_id, hostile_port):
    error = ask_case(case_id, hostile_port)

    assert (error.cost_nano, error.generation_id) == (cost, generation_id)


def test_partial_answer_is_kept_for_audit(hostile_port):
    assert b"/\\\\_" in ask_case("http-200-error-in-choice", hostile_port).partial
    assert ask_case("http-200-truncated-json", hostile_port).partial.startswith(b'{"id": "gen-')


@pytest.mark.parametrize("case_id", ["http-redirect-loop.script", "http-redirect-metadata.script"])
def test_redirect_is_one_request_and_no_more(case_id, hostile_port):
    before = len(serve.SEEN)

    ask_case(case_id, hostile_port)

    assert serve.SEEN[before:] == [(case_id, True)]


def test_redirect_never_carries_the_key_to_another_host():
    thief_port, stolen = once_server(http("{}"))
    port, _ = once_server(http("", status="307 X", headers=f"Location: http://127.0.0.1:{thief_port}/x\r\n"))

    error = ask(profile_at(f"http://127.0.0.1:{port}/v1"))

    assert (error.code, bytes(stolen)) == ("unexpected_redirect", b"")


@pytest.mark.parametrize("case_id", ["http-huge-body.script", "http-200-gzip-bomb"])
def test_body_is_never_held_beyond_the_cap(case_id, hostile_port):
    tracemalloc.start()
    error = ask_case(case_id, hostile_port)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert error.code == "response_too_large"
    assert peak < 2 * BODY_LIMIT
    assert len(error.partial) <= 4096


def test_gzip_within_the_cap_is_read():
    port, _ = once_server(
        http(gzip.compress(json.dumps(completion(CAT)).encode()), headers="Content-Encoding: gzip\r\n")
    )

    assert ask(profile_at(f"http://127.0.0.1:{port}/v1")).text == CAT


def test_key_echoed_by_a_provider_is_taken_out():
    echo = json.dumps({"error": {"code": 400, "message": f"Bad header Authorization: Bearer {KEY}"}})
    port, received = once_server(http(echo, status="400 Bad", headers=f"X-Generation-Id: {KEY}\r\n"))

    error = ask(profile_at(f"http://127.0.0.1:{port}/v1"))

    assert f"Bearer {KEY}".encode() in received  # it was there to leak
    assert KEY not in str(vars(error)) + str(error)
    assert error.code == "bad_request"


def escaped(text):
    return "".join(f"\\u{ord(c):04x}" for c in text)


def test_key_spelt_with_escapes_is_taken_out_of_errors_and_answers():
    failing, _ = once_server(http(f'{{"error": {{"message": "{escaped(KEY)}"}}}}', status="400 Bad"))
    answering, _ = once_server(http(f'{{"choices": [{{"message": {{"content": "see {escaped(KEY)}"}}}}]}}'))

    error = ask(profile_at(f"http://127.0.0.1:{failing}/v1"))
    reply = ask(profile_at(f"http://127.0.0.1:{answering}/v1"))

    assert (error.detail, str(error)) == ("HTTP 400: [key]", "bad_request: HTTP 400: [key]")
    assert reply.text == "see [key]"


def test_a_key_with_a_slash_is_found_however_it_is_spelt():
    body = rb'{"a": "k/9", "b": "k\/9", "c": "\u006B\u002f9", "d": "k9"}'

    assert _spelt("k/9").sub(b"[key]", body) == b'{"a": "[key]", "b": "[key]", "c": "[key]", "d": "k9"}'


@pytest.mark.parametrize("value", ["", "sk-line\nbreak-secret", "sk-ключ"])
def test_unusable_key_pauses_the_run_before_anything_is_sent(value, monkeypatch):
    monkeypatch.setenv("TEST_PROVIDER_KEY", value)
    port, received = once_server(http("{}"))

    error = ask(profile_at(f"http://127.0.0.1:{port}/v1"))

    assert (error.kind, error.code, bytes(received)) == ("pause_run", "bad_credentials", b"")
    assert "TEST_PROVIDER_KEY" in error.detail
    assert "secret" not in str(error)


def test_profile_without_key_sends_no_authorization():
    port, received = once_server(http(json.dumps(completion(CAT))))

    reply = ask(profile_at(f"http://127.0.0.1:{port}/v1", key_env="", kind="ollama"))

    assert b"authorization" not in received.lower()
    assert b"accept-encoding: identity" in received.lower()
    assert (reply.cost_nano, reply.flags) == (0, ())


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/v1",
        "ftp://127.0.0.1/v1",
        "https://user:pass@example.org",
        "nonsense",
        "http://127.0.0.1.example.org/",
    ],
)
def test_insecure_base_url_is_refused(url):
    error = ask(profile_at(url))

    assert (error.kind, error.code) == ("pause_run", "bad_profile")


def test_nobody_listening_is_a_connection_error_that_cost_nothing():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    error = ask(profile_at(f"http://127.0.0.1:{port}/v1"))

    assert (error.kind, error.code, error.cost_nano) == ("retry", "connection_error", 0)


def test_proxy_of_the_environment_is_ignored(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    port, _ = once_server(http(json.dumps(completion(CAT))))

    assert ask(profile_at(f"http://127.0.0.1:{port}/v1")).text == CAT


def test_request_body_has_the_parameters_and_the_pinned_providers():
    request = Request(
        "m",
        ({"role": "user", "content": "x"},),
        0.0,
        10,
        {"top_p": 0.5, "max_tokens": None, "model": "other"},
        ("Acme",),
    )

    body = payload_of(profile_at("https://x"), request)

    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "x"}],
        "stream": False,
        "temperature": 0.0,
        "top_p": 0.5,
        "provider": {"order": ["Acme"], "allow_fallbacks": False},
    }
    assert "provider" not in payload_of(profile_at("https://x", kind="ollama"), request)


@pytest.mark.parametrize(
    ("kind", "expected"), [("demo", True), ("openrouter", False), ("openai", False), ("ollama", False)]
)
def test_demo_players_alone_are_told_the_format(kind, expected):
    request = Request("m", ({"role": "user", "content": "x"},), format="svg")

    body = payload_of(profile_at("https://x", kind=kind), request)

    assert ("format" in body) == expected
