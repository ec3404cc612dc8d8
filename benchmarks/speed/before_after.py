"""script/bench before_after [--base COMMIT] [--json FILE]: a vote as an earlier commit took it and as it is taken now, in turn.

Both trees run side by side, each as gunicorn on a database of its own, PostgreSQL with fsync on and SQLite, and the same 200 light
judges vote as fast as they may, now here, now there. Needs the earlier commit in this clone, and packages of today that still run it.
`--resume FILE` notes each database there when it is done and leaves out those that are noted.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean

from benchmarks.figures.table import Notebook, Row, add_resume, make_parser, show, write_json
from benchmarks.speed.judging import JUDGES, ROOT, gunicorn, processor_seconds, told
from benchmarks.speed.judging_crowd import LEAST_PAUSE, crowd
from tests.services import postgres

OLDEST = "9384a5e"  # before anything was done about a vote's cost
ROUNDS, VOTES = {False: 2, True: 4}, {False: 700, True: 2_000}
SEED = """
import json, sys
from importlib import import_module
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("collectstatic", verbosity=0, interactive=False)
try:
    rows = import_module("benchmarks.speed.judging_rows")
except ModuleNotFoundError:
    rows = import_module("benchmarks.judging_rows")
run = rows.make_run()
print(json.dumps([run.code, rows.make_judges(run, int(sys.argv[1]))]))
"""


@dataclass(frozen=True)
class Served:
    """A tree as its own server shows it, with judges who have a seat there."""

    name: str
    base: str
    roots: set[int]
    run: str
    sessions: list[str]

    def vote(self, votes: int) -> Row:
        marks: list[float] = []
        told_by = crowd(
            self.base,
            self.run,
            self.sessions,
            every=LEAST_PAUSE,
            votes=votes,
            seated=lambda: marks.append(processor_seconds(self.roots)),
        )
        tale = asyncio.run(told_by)
        return told(tale, processor_seconds(self.roots) - marks[0])


@contextmanager
def served(name: str, tree: Path, vendor: str) -> Iterator[Served]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="benchsite-bench-"))
        url, roots = f"sqlite:///{folder}/bench.sqlite3", set()
        if vendor == "postgresql":
            database = stack.enter_context(postgres(durable=True))
            url, roots = database.url, {int((Path(database.data) / "postmaster.pid").read_text().split()[0])}
        settings = {"DJANGO_SETTINGS_MODULE": "benchsite.settings", "VAR_DIR": folder, "DATABASE_URL": url}
        environment = {**os.environ, **settings, "LOG_LEVEL": "CRITICAL"}
        command = [sys.executable, "-c", SEED, str(JUDGES)]
        made = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, check=True)
        run, sessions = json.loads(made.stdout.splitlines()[-1])
        base, pid = stack.enter_context(gunicorn(tree=tree, environment=environment))
        yield Served(name, base, {pid, *roots}, run, sessions)


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="benchsite-tree-") as folder:
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder)


def compare(tree: Path, commit: str, vendor: str, *, full: bool) -> Row:
    rows, votes = [], VOTES[full]
    with served(commit, tree, vendor) as before, served("now", ROOT, vendor) as after:
        for number in range(1, ROUNDS[full] + 1):
            for path in (before, after):
                rows.append({"database": vendor, "path": path.name, "round": number, **path.vote(votes)})
                print(rows[-1], file=sys.stderr, flush=True)
    return {"rows": rows}


def ratios(rows: list[Row], vendor: str) -> Row:
    """Means of all rounds: processor time before over now, and votes a second now over before."""

    def of(name: str, *, now: bool) -> float:
        return mean(row[name] for row in rows if row["database"] == vendor and (row["path"] == "now") == now)

    return {
        "before_ms": round(of("cpu_ms", now=False), 2),
        "now_ms": round(of("cpu_ms", now=True), 2),
        "times_cheaper": round(of("cpu_ms", now=False) / of("cpu_ms", now=True), 2),
        "times_faster": round(of("votes_per_s", now=True) / of("votes_per_s", now=False), 2),
    }


def main() -> None:
    parser = add_resume(make_parser(__doc__, "four rounds of 2,000 votes instead of two of 700"))
    parser.add_argument("--base", default=OLDEST, help=f"the earlier commit; {OLDEST} unless told")
    options = parser.parse_args()
    rows, notebook, form = [], Notebook(options.resume), "long" if options.full else "short"
    with checked_out(options.base) as tree:
        for vendor in ("postgresql", "sqlite"):
            measure = partial(compare, tree, options.base, vendor, full=options.full)
            rows += notebook.noted(f"{options.base}, {vendor}, {form}", measure)["rows"]
    show("A vote with its next pair", rows)
    figures: Row = {vendor: ratios(rows, vendor) for vendor in ("postgresql", "sqlite")}
    figures |= {"rows": rows, "errors": sum(row["errors"] for row in rows)}
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
