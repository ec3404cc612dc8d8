"""What `script/test` runs: all tests on PostgreSQL, then again on SQLite those that a database could make fail.

Browser tests have a run of their own: Playwright keeps an event loop in its thread, which no other test should meet.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.services import chromium, postgres, valkey_server
from tests.test_architecture import PURE

# For two cores: tests of real workers mostly wait, browsers never do.
WORKERS, BROWSERS = 3, 2


def pytest(environment: dict[str, str], *arguments: str, workers: int = BROWSERS, dist: str = "loadfile") -> int:
    """Tests of a file stay together, and files begin in the order that tests/conftest.py gives them."""
    count = os.environ.get("TEST_WORKERS", str(workers))
    command = [sys.executable, "-m", "pytest", "-q", "-n", count, "--dist", dist, "--no-loadscope-reorder"]
    return subprocess.run([*command, *arguments], env=environment).returncode


def quick_paths() -> list[str]:
    """Where the tests of the pure rooms are, beside those of the house rules."""
    tests = [Path("tests", room) for room in PURE]
    files = [path.with_name(f"test_{path.name}") if path.suffix else path for path in tests]
    return ["tests/test_architecture.py", *(str(path) for place in files for path in sorted(Path().glob(str(place))))]


def main(arguments: list[str]) -> int:
    if "--quick" in arguments:
        paths = [] if any(not argument.startswith("-") for argument in arguments) else quick_paths()
        return pytest({**os.environ, "LOG_LEVEL": "WARNING"}, *arguments, *paths)
    with ThreadPoolExecutor(1) as aside, valkey_server() as queue, postgres() as database:
        browser = aside.submit(chromium)  # where it has to be installed, other tests need not wait for it
        plain = {**os.environ, "LOG_LEVEL": "WARNING", "REDIS_URL": queue.url}
        plain.pop("PYTHONDONTWRITEBYTECODE", None)  # or every worker of every run would compile every test anew
        real = {**plain, "DATABASE_URL": database.url}
        if arguments:
            return pytest({**real, "CHROMIUM": browser.result()}, *arguments)
        print("\nPostgreSQL and Valkey: all tests but the browser's", flush=True)
        codes = [pytest(real, "--ignore=tests/browser", workers=WORKERS)]
        print("\nPostgreSQL and Chromium: the browser's tests", flush=True)
        # They share nothing, and one file of them takes as long as many: whoever is done takes from the other.
        codes += [pytest({**real, "CHROMIUM": browser.result()}, "tests/browser", dist="worksteal")]
        print("\nSQLite: the tests it could fail", flush=True)
        plain.pop("DATABASE_URL", None)
        chosen = "(django_db or processes) and not once"
        codes += [pytest(plain, "--ignore=tests/browser", "-m", chosen, workers=WORKERS)]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
