"""script/bench peers [--full] [--json FILE] [--cache FOLDER]: a vote here, in Label Studio, in Potato and in Pearmut.

Each tool is installed from PyPI in an environment of its own (in var/bench-peers, or --cache), started by its own command, and voted
on over HTTP by the same light judges, one tool after the other: votes a second at 1, 4, 8 and 16 judges who never pause, processor time
a vote of the server and all below it (PostgreSQL included), and how that grows with the votes stored. Ours is gunicorn on PostgreSQL with
fsync on, and on SQLite, without the pause of 300 ms between two votes. A tool that cannot be installed or started is named.
`--resume FILE` notes each tool there when it is done and leaves out those that are noted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from benchmarks.figures.table import Notebook, Row, add_resume, make_parser, show, write_json
from benchmarks.peers.peer_environments import UnavailableError, install
from benchmarks.peers.peer_sites import SITES, Annotator, Site
from benchmarks.speed.judging import gunicorn, processor_seconds
from benchmarks.speed.judging_crowd import Judge, Tale
from tests.services import free_port, postgres

ROOT = Path(__file__).resolve().parents[2]
OURS = ("Benchsite on PostgreSQL", "Benchsite on SQLite")
JUDGES = (1, 4, 8, 16)
VOTES = {False: 160, True: 600}  # at each number of judges, or as many as come in so many seconds
SECONDS = {False: 8.0, True: 30.0}
GROWTH = {False: 1_000, True: 5_000}  # votes at the end
GROWTH_SECONDS = {False: 45.0, True: 400.0}
WINDOW = 100  # votes of the first and the last stretch, whose processor time is compared
GROWERS = 8


class OurAnnotator(Annotator):
    def __init__(self, base: str, run: str, session: str) -> None:
        self.judge, self.tale = Judge(base, run, session), Tale()
        self.line = self.judge.lines[0]

    async def open(self) -> None:
        await self.judge.sit_down(self.tale)

    async def vote(self) -> None:
        await self.judge.vote(self.tale)
        if self.tale.errors:
            raise UnavailableError(self.tale.errors[0])


def items_of_each(full: bool) -> list[int]:
    """How many pairs each judge may come to see; nobody votes exactly as often as the others."""
    needed = [0.0] * max(JUDGES)
    for judges in JUDGES:
        for number in range(judges):
            needed[number] += 1.6 * VOTES[full] / judges + 20
    for number in range(GROWERS):
        needed[number] += 1.6 * GROWTH[full] / GROWERS + 10
    return [math.ceil(count) for count in needed]


async def vote_at_speed(people: list[Annotator], votes: int, seconds: float) -> tuple[int, float]:
    """As many votes as these people cast without a pause, and how long it took."""
    cast, start = 0, time.perf_counter()

    async def work(person: Annotator) -> None:
        nonlocal cast
        while cast < votes and time.perf_counter() - start < seconds:
            cast += 1
            await person.vote()

    await asyncio.gather(*(work(person) for person in people))
    return cast, time.perf_counter() - start


async def measure(people: list[Annotator], roots: set[int], *, full: bool) -> Row:
    for person in people:
        await person.open()
    total, _ = await vote_at_speed(people[:1], 20, SECONDS[full])  # what a server does once is done here
    row: Row = {}
    costs = []

    async def stretch(judges: int, votes: int, seconds: float) -> tuple[float, float]:
        """Votes a second, and processor milliseconds a vote."""
        nonlocal total
        before = processor_seconds(roots)
        cast, elapsed = await vote_at_speed(people[:judges], votes, seconds)
        total += cast
        return cast / elapsed, 1000 * (processor_seconds(roots) - before) / cast

    for judges in JUDGES:
        rate, cost = await stretch(judges, VOTES[full], SECONDS[full])
        row[f"votes_per_s_{judges}"] = round(rate, 1)
        costs.append(cost)
    row["cpu_ms"] = round(costs[JUDGES.index(GROWERS)], 2)
    end = time.perf_counter() + GROWTH_SECONDS[full]
    while total < GROWTH[full] - WINDOW and time.perf_counter() < end:
        await stretch(GROWERS, min(WINDOW, GROWTH[full] - WINDOW - total), end - time.perf_counter())
    _, last = await stretch(GROWERS, WINDOW, SECONDS[full] * 2)
    for person in people:
        person.line.hang_up()
    return row | {"votes_stored": total, "cpu_ms_then": round(last, 2), "growth": round(last / row["cpu_ms"], 2)}


@contextmanager
def serving(site: Site, cache: Path, items: list[int]) -> Iterator[tuple[Row, int, list[Annotator]]]:
    """A peer as its own command starts it, in an empty folder."""
    environment = install(site.package, cache, least_python=site.least_python)
    about = {"version": environment.version, "note": environment.note}
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="benchsite-peer-") as name:
        folder = Path(name)
        command = site.command(environment, folder, port, items)
        variables = {**os.environ, "HOME": name, **dict(site.variables)}
        log = (folder / "server.log").open("wb")
        process = subprocess.Popen(
            command, cwd=folder, env=variables, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )
        try:
            _wait_for(base, process, folder / "server.log")
            yield about, process.pid, site.annotators(base, folder, items)
        finally:
            process.terminate()
            process.wait(30)
            log.close()


def _wait_for(base: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Label Studio migrates its database first, which takes a minute."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        if process.poll() is not None:
            raise UnavailableError(f"It ended with code {process.returncode}: {log.read_text(errors='replace')[-300:]}")
        try:
            urllib.request.urlopen(base, timeout=5)
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.5)
    raise UnavailableError("It did not answer within 300 s.")


def measure_peer(site: Site, cache: Path, *, full: bool) -> Row:
    row: Row = {"tool": site.name}
    try:
        with serving(site, cache, items_of_each(full)) as (about, pid, people):
            row |= about
            return row | asyncio.run(measure(people, {pid}, full=full))
    except (UnavailableError, OSError, KeyError, ValueError, httpx.HTTPError) as error:
        return row | {"note": f"not measured: {type(error).__name__}: {error}"[:400]}


def measure_ours(full: bool) -> Row:
    """In a child whose settings name the database."""
    import django

    django.setup()
    from django.core.management import call_command

    from benchmarks.speed.judging_rows import make_judges, make_run
    from benchsite.version import VERSION

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    run = make_run()
    sessions = make_judges(run, max(JUDGES))
    with gunicorn() as (base, pid):
        roots = {pid, int(os.environ.get("BENCH_DATABASE_PID", pid))}
        people: list[Annotator] = [OurAnnotator(base, run.code, session) for session in sessions]
        return {"version": VERSION} | asyncio.run(measure(people, roots, full=full))


def in_child(name: str, url: str, full: bool, pid: str = "") -> Row:
    with tempfile.TemporaryDirectory(prefix="benchsite-bench-") as folder:
        report = Path(folder) / "row.json"
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "benchmarks.peers.unhurried",
            "VAR_DIR": folder,
            "DATABASE_URL": url or f"sqlite:///{folder}/bench.sqlite3",
            "LOG_LEVEL": "CRITICAL",
        } | ({"BENCH_DATABASE_PID": pid} if pid else {})
        command = [sys.executable, "-m", "benchmarks.peers.peers", "--ours", "--json", str(report)]
        subprocess.run([*command, *(["--full"] if full else [])], cwd=ROOT, env=environment, check=True)
        return {"tool": name} | json.loads(report.read_text())


def ours_on_postgresql(full: bool) -> Row:
    with postgres(durable=True) as database:
        pid = (Path(database.data) / "postmaster.pid").read_text().split()[0]
        return in_child(OURS[0], database.url, full, pid) | {"note": database.settings}


def compare(rows: list[Row]) -> dict[str, Any]:
    """Our best rate on PostgreSQL over the best of each peer; nothing for a peer that was not measured."""
    best = {row["tool"]: max(row[f"votes_per_s_{n}"] for n in JUDGES) for row in rows if "cpu_ms" in row}
    costs = {row["tool"]: row["cpu_ms"] for row in rows if "cpu_ms" in row}
    figures: dict[str, Any] = {}
    for site in SITES:
        if site.name in best and OURS[0] in best:
            key = site.name.lower().replace(" ", "_")
            figures[f"rate_over_{key}"] = round(best[OURS[0]] / best[site.name], 2)
            figures[f"{key}_cpu_over_ours"] = round(costs[site.name] / costs[OURS[0]], 2)
    return figures


def main() -> None:
    parser = add_resume(make_parser(__doc__, "longer, and 5,000 votes in each tool: half an hour"))
    parser.add_argument("--cache", type=Path, default=ROOT / "var" / "bench-peers", help="where peers are installed")
    parser.add_argument("--only", nargs="+", choices=[site.package for site in SITES] + ["ours"])
    parser.add_argument("--ours", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ours:
        write_json(options.json, measure_ours(options.full))
        return
    rows: list[Row] = []
    notebook, form = Notebook(options.resume), "long" if options.full else "short"
    if not options.only or "ours" in options.only:
        rows.append(notebook.noted(f"{OURS[0]}, {form}", lambda: ours_on_postgresql(options.full)))
        rows.append(notebook.noted(f"{OURS[1]}, {form}", lambda: in_child(OURS[1], "", options.full) | {"note": ""}))
    for site in SITES:
        if not options.only or site.package in options.only:
            measure_it = partial(measure_peer, site, options.cache.resolve(), full=options.full)
            rows.append(notebook.noted(f"{site.name}, {form}", measure_it))
            print(rows[-1], flush=True)
    columns = ["tool", "version", *(f"votes_per_s_{n}" for n in JUDGES)]
    columns += ["cpu_ms", "votes_stored", "cpu_ms_then", "growth", "note"]
    show("Votes with their next pair, judges who never pause", [{key: row.get(key) for key in columns} for row in rows])
    write_json(options.json, {"tools": rows, **compare(rows)})
    if missing := [row["tool"] for row in rows if "cpu_ms" not in row]:
        sys.exit(f"Not measured: {', '.join(missing)}.")


if __name__ == "__main__":
    main()
