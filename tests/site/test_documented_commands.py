"""Every command that a document tells a reader to type is one that exists and takes those arguments."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, get_commands, load_command_class

from tests.test_architecture import APPS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
OURS = {name for name, app in get_commands().items() if app in {*APPS, "benchsite"}}
NUMBERS = {"N", "M", "S"}  # as in --votes M


def typed(text: str) -> list[str]:
    """What stands between backticks or in an indented line and has arguments: `manage.py fit RUN` or `fit RUN`."""
    spans = re.findall(r"`([^`\n]+)`", text) + re.findall(r"^ {4,}(\S.*)$", text, re.M)
    parts = [part.strip() for span in spans for part in re.split(r"&&| # ", span.replace("\\|", "|"))]
    commands = []
    for part in parts:
        words = re.sub(r"^(\S*python3? )?(\./|deploy/)?manage(\.py)? ", "", part)
        name, _, rest = words.partition(" ")
        if words != part or (name in OURS and rest and "=" not in rest):  # `export KEY=…` is the shell's
            commands.append(words)
    return commands


def words_of(command: str) -> list[str]:
    """The longest form: what is [optional] is there, and the first of alternatives."""
    words = shlex.split(re.sub(r"[\[\]]", " ", command).replace("…", ""))
    return ["1" if word in NUMBERS else re.sub(r"\|.*", "", word) for word in words]


COMMANDS = [
    pytest.param(command, id=f"{page.name}: {command}")
    for page in PAGES
    for command in dict.fromkeys(typed(page.read_text()))
]


def test_documents_have_commands():
    assert len(COMMANDS) > 50


@pytest.mark.parametrize("command", COMMANDS)
def test_command_exists_and_takes_its_arguments(command):
    name, *arguments = words_of(command)
    if name == "help":
        return
    assert name in get_commands(), f"there is no command {name}"
    app = get_commands()[name]
    command = app if not isinstance(app, str) else load_command_class(app, name)
    parser = command.create_parser("manage.py", name)
    parser.called_from_command_line = False
    if arguments:  # a bare name only speaks of the command
        try:
            parser.parse_args(arguments)
        except CommandError as error:
            pytest.fail(f"manage.py {command}: {error}")


def test_commands_that_do_not_exist_are_found():
    assert typed("Use `manage.py fly RUN`, or\n\n    ./manage.py fit RUN --high   # up\n") == [
        "fly RUN",
        "fit RUN --high",
    ]
    assert typed("`rebuild_tallies [RUN] [--check]` and `fit`, `x y`") == ["rebuild_tallies [RUN] [--check]"]
    assert words_of("simulate_judges RUN --votes M [--format md|csv]") == (
        ["simulate_judges", "RUN", "--votes", "1", "--format", "md"]
    )


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_scripts_exist(path):
    for name in re.findall(r"script/(\w+)", path.read_text()):
        assert (ROOT / "script" / name).exists(), name
    for name in re.findall(r"script/bench ([a-z_]+)", path.read_text()):
        assert list((ROOT / "benchmarks").glob(f"*/{name}.py")), name


def test_manage_finds_its_own_python():
    """As a reader types it, without activating anything."""
    base = Path(sys.base_prefix) / "bin" / "python3"
    done = subprocess.run([base, "manage.py", "suites"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "ASCII art" in done.stdout, done.stderr
