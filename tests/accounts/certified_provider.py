"""A certified OpenID Provider of other people's making (npm's oidc-provider, run by Node.js), on this machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

FILES = Path(__file__).with_name("certified")
CLIENT = "benchsite"
SECRET = "50%+a secret/&:="  # RFC 6749 has it encoded before it is sent


def program() -> Path:
    """The provider with the packages of its lock, fetched once beside our own; the test is skipped where they cannot be had."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("Node.js with npm is not installed")
    mark = sha256((FILES / "package-lock.json").read_bytes()).hexdigest()[:12]
    home = Path(sys.prefix, "servers", f"oidc-provider-{mark}")
    if not home.exists():
        with tempfile.TemporaryDirectory() as name:
            folder = shutil.copytree(FILES, Path(name, "provider"))
            done = subprocess.run(
                ["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True, timeout=300
            )
            if done.returncode:
                pytest.skip(f"npm does not offer oidc-provider: {done.stderr.strip()[-200:]}")
            home.parent.mkdir(exist_ok=True)
            with suppress(FileExistsError):  # somebody else was faster
                shutil.copytree(folder, home)
    shutil.copy(FILES / "provider.mjs", home)
    return home / "provider.mjs"


@contextmanager
def certified_provider(*, site: str, people: dict[str, dict[str, Any]], method: str) -> Iterator[str]:
    """Its issuer. It knows the site at this address, which sends its secret by `method`, and these people with their claims."""
    request = {"site": site, "client": CLIENT, "secret": SECRET, "method": method, "people": people}
    command = ["node", str(program()), json.dumps(request)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            issuer = process.stdout.readline().strip()
            assert issuer, "the provider did not start"
            yield issuer
        finally:
            process.kill()
