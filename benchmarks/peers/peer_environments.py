"""Other annotation tools, each installed from PyPI in an environment of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LONGEST_SECONDS = 900  # Label Studio brings 150 packages
_DEPENDENCIES = """
import json
from importlib.metadata import requires
print(json.dumps([line for line in requires({name!r}) or [] if "extra ==" not in line]))
"""


class UnavailableError(Exception):
    """Why a tool could not be installed or started, in a sentence."""


@dataclass(frozen=True)
class Environment:
    """Where a tool is installed; `note` says what its version had to do without."""

    folder: Path
    version: str
    note: str = ""

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def program(self, name: str) -> str:
        return str(self.folder / "bin" / name)


def install(package: str, cache: Path, *, least_python: tuple[int, int] = (3, 11)) -> Environment:
    """The environment of a package, made where it is missing; `least_python` is what the package asks for."""
    folder = cache / package
    python = _find_python(least_python)
    note = "" if python else f"made for Python {least_python[0]}.{least_python[1]}, run on {sys.version.split()[0]}"
    environment = Environment(folder, "", note)
    if not _version(environment, package):
        folder.parent.mkdir(parents=True, exist_ok=True)
        _run([python or sys.executable, "-m", "venv", "--clear", str(folder)], f"No environment for {package}")
        if python:
            _pip(environment, package)
        else:
            _pip(environment, "--no-deps", "--ignore-requires-python", package)
            needed = _run([str(environment.python), "-c", _DEPENDENCIES.format(name=package)], package)
            _pip(environment, *json.loads(needed))
    return Environment(folder, _version(environment, package), note)


def _find_python(least: tuple[int, int]) -> str:
    """A Python of at least this version; this one where it will do."""
    if sys.version_info[:2] >= least:
        return sys.executable
    names = (f"python3.{minor}" for minor in range(least[1], least[1] + 4))
    paths = [path for name in names if (path := shutil.which(name))]
    return next((path for path in paths if _answers(path)), "")


def _answers(python: str) -> bool:
    """Whether it runs at all: a version manager leaves names behind for versions that it does not have."""
    return subprocess.run([python, "-c", "import venv"], capture_output=True, check=False).returncode == 0


def _version(environment: Environment, package: str) -> str:
    if not environment.python.exists():
        return ""
    script = f"from importlib.metadata import version; print(version({package!r}))"
    command = [str(environment.python), "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _pip(environment: Environment, *arguments: str) -> None:
    command = [str(environment.python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments]
    _run(command, f"{arguments[-1]} could not be installed")


def _run(command: list[str], failure: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{failure}: {error}") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR") or "rror:" in line]
        raise UnavailableError(f"{failure}: {(lines or done.stderr.splitlines() or ['no reason given'])[-1][:300]}")
    return done.stdout
