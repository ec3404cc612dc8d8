"""What `script/test` runs: all tests on PostgreSQL, then again on SQLite those that a database could make fail.

Browser tests have a run of their own: Playwright keeps an event loop in its thread, which no other test should meet.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.services import bubblewrap, chromium, postgres, valkey_server
from tests.test_architecture import PURE

# For two cores: tests of real workers mostly wait, browsers never do.
WORKERS, BROWSERS = 3, 2
TEMPLATE = "migrated"

# Where SQLite has nothing of its own to fail: rooms without a database, what is refused before a row is written, and pages,
# as tests/site/test_security_urls.py opens each of them. Every protocol is fitted by tests/ranking/archive/test_round_trip.py.
# `once` marks the same in other files.
NOT_ON_SQLITE = (
    *("tests/browser", "tests/benchmarks", "tests/script", "tests/best_of_four", "tests/generation/formats"),
    *("tests/generation/suites", "tests/generation/providers", "tests/generation/demo", "tests/ranking/statistics"),
    *("tests/ranking/charts", "tests/generation/views", "tests/judging/views", "tests/ranking/views"),
    *(
        "tests/judging/grades/test_views.py",
        "tests/judging/pairs/test_views.py",
        "tests/judging/pairs/test_blindness.py",
    ),
    *("tests/benchsite/front", "tests/seeds"),
    *("tests/ranking/pairwise", "tests/ranking/rubric", "tests/ranking/automatic", "tests/ranking/competition"),
    *("tests/site/admin", "tests/site/test_security_hostile.py", "tests/ranking/archive/test_damage.py"),
    *("tests/generation/drawing/test_hostile_http.py", "tests/site/test_documented_commands.py"),
)


def worker_count(usual: int) -> int:
    return int(os.environ.get("TEST_WORKERS", usual))


def pytest(environment: dict[str, str], *arguments: str, workers: int = BROWSERS, dist: str = "loadfile") -> int:
    """Tests of a file stay together, and files begin in the order that tests/conftest.py gives them."""
    count = worker_count(workers)
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(count), "--dist", dist, "--no-loadscope-reorder"]
    return subprocess.run([*command, *arguments], env=environment).returncode


def migrate(environment: dict[str, str], url: str) -> None:
    """Migrations take seconds and copies do not: every worker begins with a copy of this database."""
    settings = {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": url}
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env={**environment, **settings}, check=True)


def quick_paths() -> list[str]:
    """Where the tests of the pure rooms are, beside those of the house rules."""
    tests = [Path("tests", room) for room in PURE]
    files = [path.with_name(f"test_{path.name}") if path.suffix else path for path in tests]
    return ["tests/test_architecture.py", *(str(path) for place in files for path in sorted(Path().glob(str(place))))]


def main(arguments: list[str]) -> int:
    if "--quick" in arguments:
        paths = [] if any(not argument.startswith("-") for argument in arguments) else quick_paths()
        return pytest({**os.environ, "LOG_LEVEL": "WARNING"}, *arguments, *paths)
    bubblewrap()
    with ThreadPoolExecutor(1) as aside, valkey_server() as queue, postgres() as database:
        browser = aside.submit(chromium)  # where it has to be installed, other tests need not wait for it
        plain = {**os.environ, "LOG_LEVEL": "WARNING", "REDIS_URL": queue.url, "TEST_TEMPLATE": TEMPLATE}
        plain.pop("PYTHONDONTWRITEBYTECODE", None)  # or every worker of every run would compile every test anew
        real = {**plain, "DATABASE_URL": database.url}
        migrate(real, database.create(TEMPLATE))
        if arguments:
            return pytest({**real, "CHROMIUM": browser.result()}, *arguments)
        print("\nPostgreSQL and Valkey: all tests but the browser's", flush=True)
        codes = [pytest(real, "--ignore=tests/browser", workers=WORKERS)]
        print("\nPostgreSQL and Chromium: the browser's tests", flush=True)
        # They share nothing, and one file of them takes as long as many: whoever is done takes from the other.
        codes += [pytest({**real, "CHROMIUM": browser.result()}, "tests/browser", dist="worksteal")]
        print("\nSQLite: the tests it could fail", flush=True)
        codes += [run_on_sqlite(plain)]
    return max(codes)


def run_on_sqlite(environment: dict[str, str]) -> int:
    """Each worker finds its database where Django would make it, and `--reuse-db` takes it as it is."""
    with tempfile.TemporaryDirectory(prefix="benchsite-test-") as folder:
        template = Path(folder, TEMPLATE)
        plain = {**environment, "VAR_DIR": folder}
        plain.pop("DATABASE_URL", None)
        migrate(plain, f"sqlite:///{template}")
        for number in range(worker_count(WORKERS)):
            shutil.copy(template, f"{folder}/test.sqlite3_gw{number}")
        chosen = "(django_db or processes) and not once"
        left_out = [f"--ignore={place}" for place in NOT_ON_SQLITE]
        return pytest(plain, *left_out, "--reuse-db", "-m", chosen, workers=WORKERS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
