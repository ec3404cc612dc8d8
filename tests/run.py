"""What `script/test` runs: all tests on PostgreSQL, then again on SQLite those that touch a database.

Browser tests have a run of their own: Playwright keeps an event loop in its thread, which no other test should meet.
"""

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
        real = {**environment, "DATABASE_URL": database.url}
        if arguments:
            return pytest(real, *arguments)
        environment.pop("DATABASE_URL", None)
        codes = []
        for title, where, chosen in (
            ("PostgreSQL and Valkey: all tests but the browser's", real, "not browser"),
            ("PostgreSQL and Chromium: the browser's tests", real, "browser"),
            ("SQLite: the tests that touch a database", environment, "(django_db or processes) and not browser"),
        ):
            print(f"\n{title}", flush=True)
            codes.append(pytest(where, "-m", chosen))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
