"""docs/analysis.md: its blocks run, one after the other, on a real archive."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ranking.archive.writing import write_archive
from tests.ranking.archive_run import make_judged_run

DOCS = Path(__file__).resolve().parents[3] / "docs" / "analysis.md"


@pytest.mark.django_db
def test_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    run = make_judged_run()
    write_archive(run, tmp_path / "run.zip")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.S)
    assert len(blocks) == 10
    space: dict = {}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"docs/analysis.md, block {number}", "exec"), space)
    output = capsys.readouterr().out
    assert f"{run.votes.count()} votes" in output and "demo/master" in output and "invalid_utf8" in output
    assert "answers are missing" in output and "state" in output
    assert (tmp_path / "votes.jsonl").exists()
    assert len(space["ratings"]) == 3
