"""The deployment of docs/operations.md on hosts of its own, cut apart while it works: the short form of `script/bench partitions`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NOT_HERE = 3  # the bench's exit where nobody may make networks, or a program cannot be had

pytestmark = [pytest.mark.processes, pytest.mark.long, pytest.mark.once]


def test_hosts_that_are_cut_off_say_so_and_lose_nothing(tmp_path):
    file = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks.hosts.partitions", "--patience", "180", "--json", file]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    if done.returncode == NOT_HERE:
        pytest.skip(done.stderr.strip())
    assert file.exists(), done.stdout + done.stderr
    figures = json.loads(file.read_text())
    assert all(figures["around"].values()), figures["around"]
    assert [row["fault"] for row in figures["rows"] if row["unseen"]] == [], figures["rows"]
    assert figures["held"], figures["after"]
    assert figures["after"]["votes"] and figures["slowest_health_s"] < 30
