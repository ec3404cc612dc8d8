"""Promises of docs/security.md that hold for the whole site: logins, sessions, cookies, hosts, headers, secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.apps import apps
from django.conf import settings as site
from django.contrib.auth.models import User
from django.core import serializers
from django.test import Client
from django.utils.timezone import now

from generation.config import ModelEntry
from generation.dumps import sample_lines
from generation.runs import start_run
from tests.generation.drawing_room import draw_some, make_suite

PASSWORD = "four-wise-owls-hoot"


@pytest.fixture
def alice(db):
    return User.objects.create_user("alice", password=PASSWORD)


def log_in(client: Client, password: str = PASSWORD, page: str = "/login/", **extra: str):
    return client.post(page, {"username": "alice", "password": password}, **extra)


@pytest.mark.parametrize("page", ["/login/", "/admin/login/"])
def test_guessing_a_password_is_stopped_and_the_right_one_too(client, alice, page):
    for _ in range(site.AXES_FAILURE_LIMIT):
        answer = log_in(client, "wrong", page)

    assert answer.status_code == 429
    assert log_in(client, PASSWORD, page).status_code == 429
    assert "_auth_user_id" not in client.session


def test_a_lock_is_for_one_name_from_one_address(client, alice):
    for _ in range(site.AXES_FAILURE_LIMIT):
        log_in(client, "wrong")

    assert log_in(Client(), REMOTE_ADDR="10.0.0.9").status_code == 302


def test_a_forwarded_address_is_not_believed_without_a_proxy(client, alice):
    for number in range(site.AXES_FAILURE_LIMIT):
        answer = log_in(client, "wrong", HTTP_X_FORWARDED_FOR=f"10.0.0.{number}")

    assert answer.status_code == 429


def test_logging_in_changes_the_session_and_logging_out_ends_it(client, alice):
    client.get("/login/")
    session = client.session
    session["planted"] = "by an attacker"
    session.save()
    before = session.session_key
    client.cookies["sessionid"] = before

    log_in(client)
    after = client.session.session_key

    assert after != before
    stolen = Client()
    stolen.cookies["sessionid"] = after
    assert stolen.get("/judge/").status_code == 200
    client.post("/logout/")
    assert stolen.get("/judge/").status_code == 302


def test_a_new_password_ends_the_other_sessions(client, alice):
    other = Client()
    other.force_login(alice)
    log_in(client)
    form = {"old_password": PASSWORD, "new_password1": "nine-blue-cranes", "new_password2": "nine-blue-cranes"}

    assert client.post("/password/", form).status_code == 302

    assert client.get("/judge/").status_code == 200
    assert other.get("/judge/").status_code == 302


def test_login_does_not_send_people_elsewhere(client, alice):
    answer = client.post("/login/?next=https://evil.example/", {"username": "alice", "password": PASSWORD})

    assert answer["Location"] == "/"


def test_there_is_no_sign_up_without_an_invitation(client, db):
    assert client.get("/join/not-a-token/").status_code == 404


def test_an_unknown_host_is_refused(client, db):
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/login/", "/admin/login/", "/nowhere/"])
def test_every_page_carries_the_policies(client, path):
    headers = client.get(path).headers

    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"


def test_cookies_are_kept_from_scripts_and_other_sites(client, alice):
    client.get("/login/")
    log_in(client)

    for name in ("sessionid", "csrftoken"):
        cookie = client.cookies[name]
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax"), name


PRODUCTION = """
import django; django.setup()
from django.conf import settings as s
from django.core.management import call_command
call_command("check", deploy=True, fail_level="WARNING")
print(s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, s.SECURE_SSL_REDIRECT, s.SECURE_HSTS_SECONDS > 10**7, s.DEBUG)
"""


def test_a_site_on_https_has_secure_cookies_and_no_warnings(tmp_path):
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "benchsite.settings",
        "VAR_DIR": str(tmp_path),
        "SITE_URL": "https://bench.example.org",
        "ALLOWED_HOSTS": "bench.example.org",
    }

    done = subprocess.run([sys.executable, "-c", PRODUCTION], capture_output=True, text=True, env=environment)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-2] == "True True True True False"
    assert "WARNING" not in done.stderr


SECRET = "sk-or-v1-0123456789abcdef0123456789abcdef"


class Echo(BaseHTTPRequestHandler):
    """A gateway that tells everybody the key it was sent: in an error first, in an answer's extra fields then."""

    seen: list[str] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers["Authorization"]
        self.seen.append(key)
        if len(self.seen) == 1:
            self.say(500, {"error": {"message": f"upstream refused {key}", "metadata": {"raw": key}}})
        else:
            message = {"role": "assistant", "content": "```\n(o_o)\n```", "debug": key}
            self.say(
                200, {"id": "1", "choices": [{"message": message, "finish_reason": "stop"}], "model": "m", "key": key}
            )

    def say(self, status: int, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("X-Echo", self.headers["Authorization"])
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def gateway(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    Echo.seen.clear()
    yield Echo
    server.shutdown()
    server.server_close()


@pytest.mark.django_db
def test_a_key_is_in_no_row_no_log_no_error_and_no_dump(gateway, capfd):
    model = ModelEntry("any/model", "Any", provider="openai-compatible", price_in=1, price_out=1)
    run = start_run(make_suite(models=(model,), prompts=1, attempts=1))
    draw_some(run)
    run.samples.update(next_at=now())
    draw_some(run)

    assert gateway.seen == [f"Bearer {SECRET}"] * 2
    assert [call.outcome for call in run.calls.all()] == ["retry", "answered"]
    models = [model for app in ("generation", "judging", "ranking") for model in apps.get_app_config(app).get_models()]
    rows = "".join(serializers.serialize("json", model.objects.all()) for model in models)
    raw = bytes(run.samples.get().raw)
    dump = "".join(line if isinstance(line, str) else line.decode() for line in sample_lines(run))
    logged = "".join(capfd.readouterr())
    assert "upstream refused" in rows  # what could have leaked is there
    assert [SECRET in text for text in (rows, raw.decode(), dump, logged)] == [False] * 4
