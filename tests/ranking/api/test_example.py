"""The program of docs/api.md runs as it is written, against a real server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ranking.tokens import create_token
from tests.judging.make import close_judging
from tests.ranking.archive_run import make_judged_run

DOCS = Path(__file__).resolve().parents[3] / "docs" / "api.md"


@pytest.mark.django_db(transaction=True)
def test_python_example_runs(live_server, monkeypatch, capsys):
    run = close_judging(make_judged_run())
    monkeypatch.setenv("BENCHSITE_URL", live_server.url)
    monkeypatch.setenv("BENCHSITE_TOKEN", create_token(label="x", by=None)[1])
    [code] = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.S)
    space = {}
    exec(compile(code, "docs/api.md", "exec"), space)
    space["site"].close()
    assert len(space["votes"]) == run.votes.count() and "left" in capsys.readouterr().out
