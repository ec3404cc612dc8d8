"""A key that the provider repeats wherever it can, searched for in all that the site keeps, shows, says and sends."""

from __future__ import annotations

import base64
import io
import json
import logging
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from threading import Lock

import pytest
import structlog
from django.contrib import admin
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import call_command
from django.urls import reverse
from django.utils.timezone import now

from benchsite.operations.backups import PAYLOAD, back_up
from generation.models import Event, Run
from generation.runs.checking import check_suite
from generation.runs.lifecycle import start_run
from generation.runs.notices import send_notices
from generation.suites.profiles import load_profiles
from generation.suites.suite import ModelEntry
from ranking.archive.writing import write_archive
from tests.generation.drawing_room import draw_some, make_suite
from tests.listening import Listening
from tests.site.secrets import SECRET, holds_secret, rows

pytestmark = pytest.mark.django_db(transaction=True)  # a backup is made by another process
MODEL = ModelEntry("any/model", "Any", provider="openai-compatible", price_in=1, price_out=1)
ART = "```\n(o_o) %s\n```"
ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in SECRET)


def answer(key: str, result: str) -> bytes:
    """A reply with the key in fields that nobody asked for, and where it says so, in the drawing."""
    message = {"role": "assistant", "content": ART % "SAID", "debug": key}
    body = {
        "id": key,
        "model": key,
        "provider": key,
        "key": key,
        "choices": [{"message": message, "finish_reason": "stop"}],
    }
    return json.dumps(body).replace("SAID", result).encode()


def replies(key: str) -> list[tuple[int, bytes]]:
    return [
        (500, json.dumps({"error": {"message": f"upstream refused {key}", "metadata": {"raw": key}}}).encode()),
        (200, answer(key, "")),
        (200, answer(key, SECRET)),
        (200, answer(key, ESCAPED)),
        (200, f'{{"cut short": "{key}'.encode()),
        (403, f"<html>{key} is not allowed</html>".encode()),
        (401, json.dumps({"error": {"message": f"no such key: {key}"}}).encode()),
    ]


class Echo(BaseHTTPRequestHandler):
    """A gateway that tells everybody the key it was sent; each request gets the next of its replies."""

    seen: list[str] = []
    lock = Lock()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def do_GET(self) -> None:
        key = self.headers["Authorization"]
        with self.lock:
            status, body = replies(key)[len(self.seen) % 7] if self.command == "POST" else (500, key.encode())
            self.seen.append(key)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name in ("X-Echo", "X-Generation-Id"):
            self.send_header(name, key)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Receiver(BaseHTTPRequestHandler):
    """A webhook's receiver that keeps what it receives."""

    received: list[bytes] = []

    def do_POST(self) -> None:
        self.received.append(self.rfile.read(int(self.headers["Content-Length"])) + str(self.headers).encode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def gateway(monkeypatch):
    Echo.seen.clear()
    with Listening(Echo) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        yield Echo


@pytest.fixture
def receiver(settings):
    Receiver.received.clear()
    with Listening(Receiver) as server:
        settings.NOTIFY_WEBHOOK, settings.NOTIFY_EMAIL = server.url, ["operator@example.org"]
        yield Receiver


@pytest.fixture
def logged():
    """All that is logged at the finest level, as it is written."""
    root, stream = logging.getLogger(), io.StringIO()
    written = next(h for h in root.handlers if isinstance(h.formatter, structlog.stdlib.ProcessorFormatter))
    handler, level = logging.StreamHandler(stream), root.level
    handler.setFormatter(written.formatter)
    loggers = {name: logging.getLogger(name).level for name in ("", "httpx", "django.request")}
    root.addHandler(handler)
    for name in loggers:
        logging.getLogger(name).setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    for name, level in loggers.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def run(gateway):
    """Drawn until every one of the gateway's replies has come; the last one pauses the run."""
    run = start_run(make_suite(models=(MODEL,), prompts=1, attempts=7))
    draw_some(run)
    assert gateway.seen == [f"Bearer {SECRET}"] * 7
    return Run.objects.get(pk=run.pk)


def pages(client, run: Run) -> dict[str, bytes]:
    """What a superuser may open that shows anything of the run: its pages, the admin's, the numbers, what is missing."""
    client.force_login(User.objects.create_superuser("root"))
    urls = [f"/runs/{run.code}/", f"/runs/{run.code}/samples/", "/runs/", "/metrics", "/nowhere/", "/readyz"]
    urls += [reverse("generation:sample", args=[sample.code]) for sample in run.samples.all()]
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        urls.append(reverse(f"{name}_changelist"))
        urls += [reverse(f"{name}_change", args=[pk]) for pk in model._base_manager.values_list("pk", flat=True)[:9]]
    return {url: client.get(url).content for url in urls}


def members(path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            yield name, archive.read(name)


def backup_text(path, tmp_path) -> bytes:
    """A backup's members; PostgreSQL's own form is compressed, so its tool writes it out."""
    contents = dict(members(path))
    if PAYLOAD["postgresql"] in contents:
        dump = tmp_path / "dump"
        dump.write_bytes(contents.pop(PAYLOAD["postgresql"]))
        command = [shutil.which("pg_restore"), "--file=-", str(dump)]
        contents["sql"] = subprocess.run(command, capture_output=True, check=True).stdout
    return b"\n".join(contents.values())


def test_the_search_finds_a_secret_however_it_is_written():
    for text in (SECRET, ESCAPED, SECRET.encode().hex(), json.dumps({"a": f"x {SECRET}"})):
        assert holds_secret(text.encode())
    for before in ("", "a", "ab", "abc"):
        assert holds_secret(base64.b64encode(f"{before}Bearer {SECRET}.".encode())), before
    assert not holds_secret(b"sk-or-v1-another")


def test_a_key_is_in_no_row_and_no_page(run, client):
    kept = rows()

    assert b"upstream refused" in kept and b"(o_o)" in kept and b"[key]" in kept  # what could have leaked is there
    assert not holds_secret(kept)
    opened = pages(client, run)
    assert b"benchsite_calls_total" in opened["/metrics"] and len(opened) > 40
    assert [url for url, content in opened.items() if holds_secret(content)] == []


def test_a_key_is_in_no_log_and_no_error_page(logged, run, client, monkeypatch):
    def fall(*_: object, **__: object) -> None:
        raise RuntimeError(f"tripped over {SECRET}")

    monkeypatch.setattr("generation.views.runs.visible", fall)
    client.raise_request_exception = False
    client.force_login(User.objects.create_superuser("root"))
    page = client.get(reverse("generation:sample", args=[run.samples.first().code]))

    assert page.status_code == 500
    assert not holds_secret(page.content)
    assert "tripped over" in logged.getvalue() and "level='debug'" in logged.getvalue()
    assert not holds_secret(logged.getvalue().encode())


def test_a_key_is_in_no_dump_and_no_backup(run, tmp_path):
    write_archive(run, tmp_path / "run.zip")
    back_up(tmp_path / "site.zip")
    call_command("export", "samples", run.code, "--out", str(tmp_path / "samples.jsonl"))

    archived = dict(members(tmp_path / "run.zip"))
    assert {"database.jsonl", "calls.jsonl", "undrawn.jsonl"} <= set(archived)
    assert [name for name, data in archived.items() if holds_secret(data)] == []
    saved = backup_text(tmp_path / "site.zip", tmp_path)
    assert b"upstream refused" in saved
    assert not holds_secret(saved)
    assert not holds_secret((tmp_path / "samples.jsonl").read_bytes())


def test_a_key_is_in_no_message_and_no_commands_words(run, receiver, capfd, settings):
    assert run.drawing_state == Run.Drawing.PAUSED and Event.objects.filter(run=run, verb="pause_run", at__lte=now())
    with pytest.raises(SystemExit):
        call_command("doctor")
    check = check_suite(make_suite(models=(MODEL,)), profiles=load_profiles(settings.SUITES_DIR / "providers.yaml"))
    send_notices()

    output = "".join((*capfd.readouterr(), *check.sentences, *check.faults))
    assert check.faults and "checks failed" in output
    assert (len(receiver.received), len(mail.outbox)) == (1, 1)
    assert not holds_secret(output.encode() + b"".join(receiver.received) + mail.outbox[0].message().as_bytes())
