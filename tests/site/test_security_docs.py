"""docs/security.md names a test for each promise: each of them is there, its command runs it, and each promise has one."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text()
PROMISES = PAGE.partition("## Guarantees and their tests")[2].partition("\n## ")[0]
WHERE = {
    name: str(path.relative_to(ROOT))
    for path in ROOT.glob("tests/**/test_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
}


def test_every_file_and_every_test_it_names_is_there():
    named = set(re.findall(r"`([^`]+)`", PROMISES))
    files = {name for name in named if re.fullmatch(r"[a-z_]+(/[a-z_]+)+\.py|script/\w+", name)}
    tests = {name for name in named if name.startswith("test_")}

    assert {name for name in files if not (ROOT / name).exists()} == set()
    assert tests - set(WHERE) == set()
    assert len(files) > 10 and len(tests) > 10


def test_every_promise_names_a_test():
    rows = [line.strip("| ").split(" | ") for line in PROMISES.splitlines() if line.startswith("| ")][1:]

    assert [row[0] for row in rows if not re.search(r"test|script/lint|the same", row[-1])] == []
    assert len(rows) > 15


def test_its_command_runs_every_test_that_it_names():
    command = PAGE.partition("script/test ")[2].partition("```")[0].replace("\\", "").split()
    run = {path for part in command for path in ROOT.glob(part)}
    named = set(re.findall(r"`(tests/[^`]+\.py|test_\w+)`", PROMISES))

    wanted = {ROOT / WHERE.get(name, name) for name in named}
    assert {path for path in wanted if not run & {path, *path.parents}} - {ROOT / "tests/site/url_roles.py"} == set()
