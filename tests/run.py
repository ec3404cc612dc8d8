"""What `script/test` runs: all tests on PostgreSQL, and again on SQLite those that a database could make fail.

Browser tests have a run of their own: Playwright keeps an event loop in its thread, which no other test should meet.
It goes on beside the others', and SQLite's after it, so that no core waits where tests of real workers do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO

from tests.services import bubblewrap, chromium, postgres, valkey_server
from tests.test_architecture import PURE

WORKERS, BROWSERS, BESIDE = 3, 3, 2  # for two cores: tests of real workers, and of browsers, wait half of the time
TEMPLATE = "migrated"

# What a database could make fail. All else is plain queries of Django's, and one of each page and list is here too.
ON_SQLITE = (
    "tests/benchsite/lib/database",  # statements and snapshots in each database's own words
    "tests/benchsite/operations",  # migrations, backups, health: each database's own
    "tests/benchsite/test_sessions.py",  # a statement of our own
    "tests/accounts",  # constraints
    "tests/generation/runs",
    "tests/generation/reading",  # rows written again
    "tests/generation/drawing/test_turns.py",  # claims and leases
    "tests/generation/drawing/test_crew.py",  # threads that write at the same time
    "tests/generation/drawing/test_faults.py",  # processes that do, and are killed
    "tests/generation/drawing/test_restore_at_work.py",
    "tests/generation/files/test_import_samples.py",  # many rows in one statement
    "tests/judging/files/test_votes.py",
    "tests/judging/pairs/test_voting.py",  # locks, tallies and counted statements of votes
    "tests/judging/pairs/test_changes.py",
    "tests/judging/pairs/test_skipping.py",
    "tests/judging/pairs/test_taken_out.py",
    "tests/judging/pairs/test_query_plans.py",
    "tests/judging/pairs/adaptive/test_focus.py",  # counted statements
    "tests/judging/pairs/picked",  # the schedule's statements, and constraints
    "tests/judging/gold",  # statements of our own, and constraints
    "tests/judging/curating",  # tallies again
    "tests/judging/grades/test_grading.py",
    "tests/judging/model_judges/test_asking.py",
    "tests/judging/model_judges/test_grading.py",
    "tests/judging/model_judges/test_faults.py",  # processes that write at the same time, and are killed
    "tests/judging/studies/test_storm.py",
    "tests/judging/studies/test_second_places.py",
    "tests/judging/studies/test_entering.py",
    "tests/judging/studies/test_arms.py",
    "tests/judging/views/test_own_answers.py",  # searches
    "tests/ranking/rubric/test_model_judges.py",  # a file whole or not at all
    "tests/ranking/archive/test_round_trip.py",  # every table out and in, every protocol fitted
    "tests/ranking/dataset/test_round_trip.py",
    "tests/ranking/api/test_writing.py",  # all or nothing
    "tests/ranking/api/test_pushes_at_once.py",  # threads and processes that write at the same time
    "tests/ranking/webhooks",  # claims
    "tests/ranking/test_fitting.py",  # sums by the database
    "tests/site/test_security_urls.py",  # each page and each list of the admin
)


def worker_count(usual: int) -> int:
    return int(os.environ.get("TEST_WORKERS", usual))


def pytest(environment: dict[str, str], *arguments: str, workers: int = 2, output: IO[str] | None = None) -> int:
    """Tests of a file stay together unless told otherwise, and begin in the order that tests/conftest.py gives them."""
    count = str(worker_count(workers))
    command = [sys.executable, "-m", "pytest", "-q", "-n", count, "--dist", "loadfile", "--no-loadscope-reorder"]
    return subprocess.run([*command, *arguments], env=environment, stdout=output, stderr=output).returncode


def migrate(environment: dict[str, str], url: str) -> None:
    """Migrations take seconds and copies do not: every worker begins with a copy of this database.

    A third of these seconds would go to looking for garbage among the thousands of models that migrations make.
    """
    settings = {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": url}
    command = [sys.executable, "-c", "import gc, manage; gc.disable(); manage.main()", "migrate", "-v0"]
    subprocess.run(command, env={**environment, **settings}, check=True)


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
        print("\nPostgreSQL and Valkey: all tests but the browser's. The others go on beside them", flush=True)
        apart = {"DATABASE_URL": database.create("browsers"), "REDIS_URL": queue.url.rpartition("/")[0] + "/1"}
        with tempfile.TemporaryFile("w+") as output:
            beside = aside.submit(run_beside, {**plain, **apart}, browser, output)
            codes = [pytest(real, "--ignore=tests/browser", workers=WORKERS), *beside.result()]
            output.seek(0)
            print(f"\n{output.read()}", flush=True)
    return next((abs(code) for code in codes if code), 0)  # a run that was killed has a negative one


def run_beside(environment: dict[str, str], browser: Future[str], output: IO[str]) -> list[int]:
    """What has databases of its own, and a queue: the browser's tests, then what a database could fail on SQLite."""
    print("PostgreSQL and Chromium: the browser's tests", file=output, flush=True)
    # They share nothing, and one file of them takes as long as many: whoever is done takes from the others.
    options = ("-p", "no:cacheprovider", "--dist", "worksteal")
    with_browser = {**environment, "CHROMIUM": browser.result()}
    code = pytest(with_browser, *options, "tests/browser", workers=BROWSERS, output=output)
    print("\nSQLite: what a database could fail", file=output, flush=True)
    return [code, run_on_sqlite(environment, output)]


def run_on_sqlite(environment: dict[str, str], output: IO[str]) -> int:
    """Each worker finds its database where Django would make it, and `--reuse-db` takes it as it is."""
    with tempfile.TemporaryDirectory(prefix="benchsite-test-") as folder:
        template = Path(folder, TEMPLATE)
        plain = {**environment, "VAR_DIR": folder}
        plain.pop("DATABASE_URL", None)
        migrate(plain, f"sqlite:///{template}")
        for number in range(worker_count(BESIDE)):
            shutil.copy(template, f"{folder}/test.sqlite3_gw{number}")
        chosen = "(django_db or processes) and not once"
        options = ("--reuse-db", "-p", "no:cacheprovider", "-m", chosen)
        return pytest(plain, *options, *ON_SQLITE, workers=BESIDE, output=output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
