"""What belongs to no app: settings from the environment, first logins, words for numbers, health."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.utils.timezone import now

from benchsite import environment, logs
from benchsite.operations.accounts import create_first_logins
from benchsite.templatetags import wording


def test_a_wrong_boolean_fails_loudly(monkeypatch):
    monkeypatch.setenv("DEBUG", "yes")

    with pytest.raises(ImproperlyConfigured, match="Unexpected value DEBUG=yes, use 'True' or 'False'"):
        environment.env_bool("DEBUG", False)


def test_a_wrong_number_fails_loudly(monkeypatch):
    monkeypatch.setenv("PROXIES", "one")

    with pytest.raises(ImproperlyConfigured, match="PROXIES=one"):
        environment.env_int("PROXIES", 0)


def test_a_secret_may_be_in_a_file(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("s3cret\n")
    monkeypatch.setenv("SOME_KEY_FILE", str(tmp_path / "key"))

    assert environment.env_str("SOME_KEY") == "s3cret"


def test_the_secret_key_is_made_once_and_private(monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET_KEY", raising=False)

    first = environment.secret_key(tmp_path)

    assert environment.secret_key(tmp_path) == first
    assert len(first) > 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_logs_hide_secrets_and_show_control_characters(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-12345678")

    event = logs.redact(None, "info", {"event": "key sk-or-12345678 \x1b[2J", "count": 3})

    assert event == {"event": "key [hidden] \\x1b[2J", "count": 3}


@pytest.mark.django_db
def test_first_logins_are_made_once_and_kept_private(tmp_path, client):
    path = tmp_path / "logins.txt"

    logins = create_first_logins(path)

    assert [role for _, _, role in logins] == ["superuser", "curator", "judge", "judge", "judge"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert all(User.objects.get(username=name).check_password(password) for name, password, _ in logins)
    assert create_first_logins(path) == []
    curator = User.objects.get(username="curator")
    assert curator.has_perm("generation.view_run")
    held = {permission.split(".")[1].split("_")[0] for permission in curator.get_all_permissions()}
    assert held == {"view"}


@pytest.mark.django_db
def test_first_passwords_are_in_the_file_and_on_no_terminal(tmp_path, settings):
    settings.VAR_DIR, terminal = tmp_path, io.StringIO()

    call_command("first_logins", stdout=terminal)

    lines = (tmp_path / "logins.txt").read_text().splitlines()
    passwords = [line.split()[1] for line in lines]
    assert len(passwords) == 5
    assert [password for password in passwords if password in terminal.getvalue()] == []
    assert f"{tmp_path / 'logins.txt'}" in terminal.getvalue()


@pytest.mark.parametrize(
    ("filter_", "value", "words"),
    [
        (wording.thousands, 1234567, "1,234,567"),
        (wording.thousands, None, "–"),
        (wording.dollars, 1_500_000_000, "US$1.50"),
        (wording.dollars, 123_400, "US$0.0001"),
        (wording.dollars, None, "unknown"),
        (wording.percent, 0.256, "26%"),
        (wording.duration, 45, "45\u202fs"),
        (wording.took, 850, "850\u202fms"),
        (wording.took, 4_210, "4.2\u202fs"),
        (wording.took, 75_000, "75\u202fs"),
        (wording.took, None, "–"),
        (wording.duration, 600, "10\u202fmin"),
        (wording.duration, 12_000, "3\u202fh 20\u202fmin"),
    ],
)
def test_numbers_are_written_as_people_read_them(filter_, value, words):
    assert filter_(value) == words


def test_a_time_is_relative_with_the_exact_one_on_hover():
    moment = now() - timedelta(minutes=5)

    assert wording.ago(moment) == (
        f'<time datetime="{moment.isoformat()}" title="{moment:%Y-%m-%d %H:%M:%S} UTC">5\u202fmin ago</time>'
    )


@pytest.mark.django_db
def test_health_needs_nothing_and_readiness_needs_the_queue(client, settings):
    assert client.get("/healthz").content == b"ok\n"

    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    response = client.get("/readyz")

    assert response.status_code == 503 and b"(ConnectionError)" in response.content
