"""Promises of docs/security.md that hold for the whole site: logins, sessions, cookies, hosts, headers."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta

import pytest
import time_machine
from django.conf import settings as site
from django.contrib.auth.models import User
from django.test import Client
from django.utils.timezone import now

from benchsite.addresses import client_address

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


def test_an_address_that_tries_many_names_is_stopped_whatever_the_next_one(client, alice, settings):
    settings.LOGIN_FAILURES_PER_ADDRESS = 12
    for number in range(12):
        client.post("/login/", {"username": f"name-{number}", "password": "guess"}, REMOTE_ADDR="10.0.0.7")

    assert log_in(client, REMOTE_ADDR="10.0.0.7").status_code == 429
    assert log_in(Client(), REMOTE_ADDR="10.0.0.8").status_code == 302


def test_a_locked_address_may_try_again_after_a_quarter_of_an_hour(client, alice, settings):
    settings.LOGIN_FAILURES_PER_ADDRESS = 3
    with time_machine.travel(now() - timedelta(minutes=16), tick=False):
        for number in range(3):
            client.post("/login/", {"username": f"name-{number}", "password": "guess"})

    assert log_in(client).status_code == 302


def test_a_forwarded_address_is_not_believed_without_a_proxy(client, alice):
    for number in range(site.AXES_FAILURE_LIMIT):
        answer = log_in(client, "wrong", HTTP_X_FORWARDED_FOR=f"10.0.0.{number}")

    assert answer.status_code == 429


def test_behind_a_proxy_a_lock_is_for_the_address_it_saw(client, alice, settings):
    """Every request has the proxy's own address: without the header's, a stranger would lock everybody out."""
    settings.PROXIES = 1
    for number in range(site.AXES_FAILURE_LIMIT):  # the left-most address is the stranger's own claim
        answer = log_in(client, "wrong", HTTP_X_FORWARDED_FOR=f"198.51.100.{number}, 192.0.2.1")

    assert answer.status_code == 429
    assert log_in(Client(), HTTP_X_FORWARDED_FOR="192.0.2.7, 192.0.2.1").status_code == 429
    assert log_in(Client(), HTTP_X_FORWARDED_FOR="192.0.2.7").status_code == 302


@pytest.mark.parametrize(
    ("proxies", "message", "address"),
    [
        (0, "192.0.2.1", "127.0.0.1"),
        (1, "192.0.2.1", "192.0.2.1"),
        (1, "203.0.113.5, 192.0.2.1", "192.0.2.1"),
        (2, "203.0.113.5, 192.0.2.1,192.0.2.2", "192.0.2.1"),
        (2, "192.0.2.2", "127.0.0.1"),
        (1, "2001:DB8:0::1", "2001:db8::1"),
        (1, "fe80::1%eth0", "127.0.0.1"),
        (1, "203.0.113.5, unknown", "127.0.0.1"),
        (1, "203.0.113.5,", "127.0.0.1"),
        (1, "", "127.0.0.1"),
    ],
)
def test_a_client_is_where_the_counted_proxies_saw_it(rf, settings, proxies, message, address):
    settings.PROXIES = proxies

    assert client_address(rf.get("/", HTTP_X_FORWARDED_FOR=message)) == address


def test_a_proxy_that_says_nothing_is_itself_the_client(rf, settings):
    settings.PROXIES = 1

    assert client_address(rf.get("/")) == "127.0.0.1"


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

    assert answer["Location"] == "/judge/"


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
