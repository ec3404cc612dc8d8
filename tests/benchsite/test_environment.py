"""Settings from the environment: what is unset, empty or wrong."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from benchsite.environment import env_database


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
