"""What `script/test` runs: all tests on PostgreSQL, then again on SQLite those that touch a database."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.services import chromium, postgres, valkey_server

WORKERS = os.environ.get("TEST_WORKERS", "2")


def pytest(environment: dict[str, str], *arguments: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-n", WORKERS, "--dist", "loadfile", *arguments]
    return subprocess.run(command, env=environment).returncode


def main(arguments: list[str]) -> int:
    environment = {**os.environ, "CHROMIUM": chromium(), "LOG_LEVEL": "WARNING"}
    with valkey_server() as queue, postgres() as database:
        environment["REDIS_URL"] = queue.url
        print("\nPostgreSQL, Valkey and Chromium: all tests", flush=True)
        first = pytest({**environment, "DATABASE_URL": database.url}, *arguments)
        if arguments:
            return first
        environment.pop("DATABASE_URL", None)
        print("\nSQLite: the tests that touch a database", flush=True)
        second = pytest(environment, "-m", "(django_db or processes) and not browser")
    return first or second


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
