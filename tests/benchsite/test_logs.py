"""Logs: one event a line, named by request, without secrets."""

from __future__ import annotations

import io
import json
import logging

import pytest
import structlog

from benchsite.logs import logging_config, redact

KEY = "sk-or-v1-0123456789abcdef"


@pytest.fixture
def lines():
    """What the site's own formatter makes of every event, as JSON objects."""
    root, before, level = logging.root, logging.root.handlers[:], logging.root.level
    logging_config(level="INFO", as_json=True)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(root.handlers[0].formatter)
    root.handlers[:] = [handler]
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:] = before
    root.setLevel(level)


def test_key_of_the_environment_never_reaches_a_log(monkeypatch, lines):
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    log = structlog.get_logger("x")
    log.info("asked", header=f"Bearer {KEY}", facts={"deep": [{"er": KEY}]}, odd=ValueError(KEY))
    logging.getLogger("y").warning("tried %s", KEY)
    try:
        raise RuntimeError(f"refused {KEY}")
    except RuntimeError:
        log.exception("failed")
    text = json.dumps(lines())
    assert KEY not in text
    assert text.count("[hidden]") >= 5


def test_key_in_a_file_and_password_in_an_address_are_hidden(monkeypatch, tmp_path, lines):
    path = tmp_path / "key"
    path.write_text(KEY + "\n")
    monkeypatch.setenv("SOME_API_KEY_FILE", str(path))
    structlog.get_logger("x").info("went", url="redis://:hunter22@10.0.0.1:6379/0", said=KEY, db="postgres://u:pw@h/d")
    text = json.dumps(lines())
    assert KEY not in text and "hunter22" not in text and "u:pw@" not in text
    assert "10.0.0.1" in text


def test_bearer_of_any_kind_is_hidden():
    assert redact(None, "", {"event": "Authorization: Bearer abcdefgh12345"})["event"].endswith("Bearer [hidden]")


def test_control_characters_are_shown_and_not_obeyed():
    assert redact(None, "", {"event": "a\x1b[2Jb\u202e"})["event"] == "a\\x1b[2Jb\\x202e"


def test_numbers_stay_numbers():
    assert redact(None, "", {"event": "x", "ms": 3, "ok": True, "none": None}) == {
        "event": "x",
        "ms": 3,
        "ok": True,
        "none": None,
    }


def test_each_answer_names_its_request_and_so_does_its_line(client, lines):
    first, second = client.get("/healthz"), client.get("/nowhere/", headers={"X-Request-ID": "chosen-by-a-stranger"})
    assert first["X-Request-ID"] != second["X-Request-ID"] != "chosen-by-a-stranger"
    requests = [line for line in lines() if line["event"] == "request"]
    assert [(line["request_id"], line["status"], line["route"]) for line in requests] == [
        (second["X-Request-ID"], 404, "none")
    ]


def test_name_given_by_a_proxy_is_kept_where_one_stands_in_front(client, settings):
    settings.PROXIES = 1
    assert client.get("/healthz", headers={"X-Request-ID": "from-the-proxy-1"})["X-Request-ID"] == "from-the-proxy-1"
    assert client.get("/healthz", headers={"X-Request-ID": "x\ny"})["X-Request-ID"] != "x\ny"


@pytest.mark.parametrize(
    "line",
    [
        "Internal Server Error: /join/very-secret_token/",
        "Error handling request /reset/MQ/abc123-very-secret_token/",
        "Referer: https://bench.example.org/join/very-secret_token/?x=1",
        "/login/?next=%2Fjoin%2Fvery-secret_token%2F",
    ],
)
def test_the_secret_of_a_link_reaches_no_line_whoever_writes_it(lines, line):
    logging.getLogger("django.request").error(line)

    assert "very-secret_token" not in json.dumps(lines())
    assert "[hidden]" in json.dumps(lines())


def test_the_web_server_s_own_lines_are_written_by_our_rules(lines):
    for name in ("gunicorn.error", "gunicorn.access"):
        logger = logging.getLogger(name)
        ours = [handler for handler in logger.handlers if type(handler) is logging.StreamHandler]
        assert [type(handler.formatter).__name__ for handler in ours] == ["ProcessorFormatter"]
        assert not logger.propagate


@pytest.mark.django_db
def test_path_with_a_secret_is_not_logged(client, lines):
    client.get("/join/very-secret-invitation/")
    assert "very-secret-invitation" not in json.dumps([line for line in lines() if line["event"] == "request"])
