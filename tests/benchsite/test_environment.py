"""Settings from the environment: what is unset, empty or wrong."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from benchsite.environment import env_database, env_folder, postgresql_options


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_database_url_the_default_is_used(monkeypatch, value):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    if value is not None:
        monkeypatch.setenv("DATABASE_URL", value)

    assert env_database("sqlite:////tmp/bench.sqlite3")["NAME"] == "/tmp/bench.sqlite3"


@pytest.mark.parametrize(
    "value", ["postgress://bench:hunter2@db/bench", "bench", "postgres://bench:hunter2@db:x/bench"]
)
def test_a_wrong_database_url_is_a_sentence_without_the_password(monkeypatch, value):
    monkeypatch.setenv("DATABASE_URL", value)

    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL cannot be read") as refused:
        env_database("sqlite://")

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("left", [None, "http://127.0.0.1:9999/v1"])
def test_an_empty_address_of_the_demo_provider_is_none(tmp_path, left):
    if left:
        (tmp_path / "demo_url").write_text(left)
    asked = "import os, benchsite.settings; print(os.environ['DEMO_PROVIDER_URL'])"
    environment = {**os.environ, "VAR_DIR": str(tmp_path), "DEMO_PROVIDER_URL": ""}

    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True)

    assert done.stdout.strip() == (left or "http://127.0.0.1:8765/v1"), done.stderr


def test_a_command_says_which_value_is_wrong_in_one_sentence():
    environment = {**os.environ, "PYTHON_PROGRAMS": "1"}

    done = subprocess.run([sys.executable, "manage.py", "check"], env=environment, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (1, "Unexpected value PYTHON_PROGRAMS=1, use 'True' or 'False'.\n")


def test_a_folder_that_cannot_be_made_is_a_sentence(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VAR_DIR", str(tmp_path / "file" / "var"))

    with pytest.raises(ImproperlyConfigured, match="cannot be created: Not a directory"):
        env_folder("VAR_DIR", tmp_path)


def test_connections_to_postgresql_have_limits_that_the_address_can_change(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://bench@db/bench?connect_timeout=2")

    options = postgresql_options(env_database("")["OPTIONS"])

    assert (int(options["connect_timeout"]), options["tcp_user_timeout"]) == (2, 4_000)
    assert "idle_in_transaction" in options["options"]


def test_behind_a_pooler_no_options_are_asked_for_at_the_start(monkeypatch):
    monkeypatch.setenv("DATABASE_POOLER", "True")

    assert "options" not in postgresql_options({})
