"""script/bench judging [--full] [--json FILE]: judges over HTTP against gunicorn, on PostgreSQL and on SQLite.

- growth: queries, processor time (web server and database) and median time of a vote with its next pair, among few votes
  and among very many; the ratio is of processor time, which other work on the machine disturbs least (≤ 1.25)
- saturated: 200 judges as fast as they may: votes a second, processor time a vote
- open_pages: 2,000 judges (400 in the short form) open their page and vote every 8 s (p95); on PostgreSQL
- facts: votes of which every tenth is sent twice at the same moment: lost, doubled, tallies against a GROUP BY

`--resume FILE` notes each part there when it is done and leaves out those that are noted, so that the long form can be run in parts.

Times are wall-clock times of a machine that also runs the judges: read them as ratios, and as what this machine can do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.figures.table import Notebook, add_resume, make_parser, write_json
from tests.services import free_port, postgres

ROOT = Path(__file__).resolve().parents[2]
SIZES = {False: (1_000, 20_000), True: (1_000, 100_000, 1_000_000)}
FACTS = {"postgresql": {False: 600, True: 100_000}, "sqlite": {False: 300, True: 5_000}}
SECONDS = {False: 12, True: 60}  # of votes at full speed, and by judges with open pages
JUDGES = 200  # each may vote three times a second
OPEN_PAGES = {False: 400, True: 2_000}
PARTS = ("growth", "saturated", "facts", "open_pages")


@contextmanager
def gunicorn(workers: int = 2, tree: Path = ROOT, environment: dict[str, str] | None = None):
    """The site as the one-command server runs it, on a free port."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "benchsite.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--workers", str(workers), "--threads", "4", "--log-level", "error"]
    process = subprocess.Popen(command, cwd=tree, env=environment)
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{base}/healthz", timeout=2)
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        yield base, process.pid
    finally:
        process.terminate()
        process.wait()


def processor_seconds(roots):
    """Processor time that these processes and all below them have used so far (Linux)."""
    tick = os.sysconf("SC_CLK_TCK")
    used, parents = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        pid = int(entry.parent.name)
        parents[pid], used[pid] = int(fields[1]), sum(map(int, fields[11:15])) / tick

    def below(pid):
        while pid not in roots and parents.get(pid, 0) > 1:
            pid = parents[pid]
        return pid in roots

    return sum(seconds for pid, seconds in used.items() if below(pid))


def growth(run, base, roots, sizes):
    """For each number of votes: statements, processor and median time of a vote with its next pair."""
    from benchmarks.speed.judging_crowd import one_after_another
    from benchmarks.speed.judging_rows import fill_votes, make_judges

    rows, judges, rounds = [], 20, 6
    for size in sizes:
        votes = fill_votes(run, size)
        sessions = make_judges(run, judges, f"growth{size}")
        asyncio.run(one_after_another(base, run.code, sessions, 2))  # warm
        batches = []
        for _ in range(3):
            before = processor_seconds(roots)
            times = asyncio.run(one_after_another(base, run.code, sessions, rounds))
            # Taking a seat again reads little; it is counted with the votes.
            batches.append(((processor_seconds(roots) - before) / len(times), median(times)))
        cpu, wall = (round(1000 * min(column), 2) for column in zip(*batches, strict=True))
        rows.append({"votes": votes, "queries": queries_of_a_vote(run), "cpu_ms": cpu, "ms": wall})
        print_growth(rows[-1])
    ratio = round(max(row["cpu_ms"] for row in rows) / rows[0]["cpu_ms"], 3)
    return {"rows": rows, "most_votes": rows[-1]["votes"], "ratio": ratio}


def queries_of_a_vote(run):
    """Statements of a vote with its next pair, session and user included, counted in this process.

    `usual` is the median of 25 votes; `most` the maximum of the last 20, when everything is warm.
    """
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from benchmarks.speed.judging_rows import make_judges
    from judging.models import Matchup, Seat

    settings.MIN_VOTE_SECONDS = 0
    client = Client(headers={"host": "127.0.0.1", "accept": "application/json"})
    client.cookies["sessionid"] = make_judges(run, 1, f"count{time.time_ns()}")[0]
    client.post(f"/judge/{run.code}/start/")
    seat = Seat.objects.filter(run=run).latest("id")
    counts = []
    for _ in range(25):
        code, have = (Matchup.objects.get(seat=seat, state=state).code for state in ("open", "queued"))
        with CaptureQueriesContext(connection) as context:
            client.post("/judge/vote/", {"code": code, "outcome": "left", "have": have})
        counts.append(sum(query["sql"] not in ("BEGIN", "COMMIT", "BEGIN IMMEDIATE") for query in context))
    return {"usual": sorted(counts)[len(counts) // 2], "most": max(counts[5:])}


def summary(tale, cpu_seconds):
    return {
        "votes": len(tale.codes),
        "errors": len(tale.errors),
        "reconnects": tale.reconnects,
        "first_error": tale.errors[0] if tale.errors else "",
        "votes_per_s": round(len(tale.codes) / tale.elapsed, 1),
        "p50_ms": round(tale.quantile(0.5)),
        "p95_ms": round(tale.quantile(0.95)),
        "cpu_ms": round(1000 * cpu_seconds / len(tale.codes), 2),
        "crowd_cpu_ms": round(1000 * tale.cpu_seconds / len(tale.codes), 2),
        "load": round(os.getloadavg()[0], 1),
    }


def gathered(run, base, roots, sessions, **pace):
    """A crowd's tale, and the processor time that web server and database spent on its votes."""
    from benchmarks.speed.judging_crowd import crowd

    marks = []
    tale = asyncio.run(crowd(base, run.code, sessions, seated=lambda: marks.append(processor_seconds(roots)), **pace))
    return tale, processor_seconds(roots) - marks[0]


def open_pages(run, base, roots, judges, seconds):
    """Judges who look at a pair for eight seconds, each at an open page."""
    from benchmarks.speed.judging_rows import make_judges

    sessions = make_judges(run, judges, "page")
    tale, cpu = gathered(run, base, roots, sessions, every=8.0, votes=judges * seconds // 8, look=True)
    return {"judges": judges, **summary(tale, cpu)}


def facts(run, base, roots, sessions, votes):
    """Lost and doubled votes, and tallies that differ from the votes, after a crowd that clicks twice now and then."""
    from benchmarks.speed.judging_crowd import LEAST_PAUSE
    from judging.models import Vote
    from judging.pairs.tallies import differences

    before = set(Vote.objects.filter(run=run).values_list("matchup__code", flat=True))
    tale, cpu = gathered(run, base, roots, sessions, every=LEAST_PAUSE, votes=votes, doubles=0.1)
    stored = run.votes.standing().values_list("matchup__code", flat=True)
    new = [code for code in stored if code not in before]
    return {
        **summary(tale, cpu),
        "sent_twice": tale.doubles,
        "lost": len(set(tale.codes) - set(new)),
        "doubled": len(new) - len(set(new)),
        "unasked": len(set(new) - set(tale.codes)),
        "tally_rows_wrong": differences(run),
    }


def on_database(asked: argparse.Namespace) -> dict:
    """Everything for one database, in a process of its own whose settings name it."""
    import django

    django.setup()
    from django.core.management import call_command

    from benchmarks.speed.judging_crowd import LEAST_PAUSE
    from benchmarks.speed.judging_rows import make_judges, make_run

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    vendor, form = asked.inside, {part: part in asked.long for part in PARTS}
    pages, votes = OPEN_PAGES[form["open_pages"]], asked.votes or FACTS[vendor][form["facts"]]
    print(f"\n{vendor}", flush=True)
    results, notebook = {}, Notebook(asked.resume)
    with gunicorn() as (base, pid):
        roots = {pid, int(os.environ.get("BENCH_DATABASE_PID", pid))}
        run = make_run()
        crowd = (run, base, roots, make_judges(run, JUDGES))
        measures = {
            "growth": lambda: growth(make_run(), base, roots, SIZES[form["growth"]]),
            "saturated": lambda: summary(*gathered(*crowd, every=LEAST_PAUSE, votes=200 * SECONDS[form["saturated"]])),
            "facts": lambda: facts(*crowd, votes),
            "open_pages": lambda: open_pages(run, base, roots, pages, SECONDS[form["open_pages"]]),
        }
        for name in asked.part:
            if name == "open_pages" and vendor == "sqlite":
                continue
            results[name] = notebook.noted(f"{vendor}, {name}, {'long' if form[name] else 'short'}", measures[name])
            figures = "  ".join(
                f"{key} {value}" for key, value in results[name].items() if key != "rows" and value != ""
            )
            print(f"  {name:10}{figures}", flush=True)
    return results


def in_process(vendor: str, url: str, asked: argparse.Namespace, pid: str = "") -> dict:
    with tempfile.TemporaryDirectory(prefix="benchsite-bench-") as folder:
        report = Path(folder) / "report.json"
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "benchsite.settings",
            "VAR_DIR": folder,
            "DATABASE_URL": url or f"sqlite:///{folder}/bench.sqlite3",
            "LOG_LEVEL": "CRITICAL",
        }
        if pid:
            environment["BENCH_DATABASE_PID"] = pid
        command = [sys.executable, "-m", "benchmarks.speed.judging", "--inside", vendor, "--json", str(report)]
        command += ["--part", *asked.part, *(["--long", *asked.long] if asked.long else [])]
        command += ["--votes", str(asked.votes)] if asked.votes else []
        command += ["--resume", str(asked.resume)] if asked.resume else []
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        return json.loads(report.read_text())


def print_growth(row: dict) -> None:
    queries = f"{row['queries']['usual']} queries (most {row['queries']['most']})"
    times = f"{row['cpu_ms']} ms of processor, {row['ms']} ms in all for vote + next"
    print(f"  {row['votes']:>9,} votes before: {queries}, {times}", flush=True)


def main() -> int:
    parser = add_resume(make_parser(__doc__, "a million votes before, 100,000 votes cast"))
    parser.add_argument("--only", choices=["postgresql", "sqlite"])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--long", nargs="+", choices=PARTS, default=(), help="parts in their long form; --full is all")
    parser.add_argument("--votes", type=int, help="of the part `facts`, instead of the form's own number")
    parser.add_argument("--unsafe", action="store_true", help="PostgreSQL does not wait for the disk: to compare only")
    parser.add_argument("--inside", choices=["postgresql", "sqlite"], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    asked.long = PARTS if asked.full else asked.long
    if asked.inside:
        asked.json.write_text(json.dumps(on_database(asked)))
        return 0
    results = {}
    if asked.only != "sqlite":
        with postgres(durable=not asked.unsafe) as database:
            pid = (Path(database.data) / "postmaster.pid").read_text().split()[0]
            print(f"PostgreSQL with {database.settings}", flush=True)
            results["postgresql"] = in_process("postgresql", database.url, asked, pid)
            results["postgresql"]["settings"] = dict(setting.split("=") for setting in database.settings.split())
    if asked.only != "postgresql":
        results["sqlite"] = in_process("sqlite", "", asked)
    write_json(asked.json, results)
    wrong = ("errors", "lost", "doubled", "tally_rows_wrong")
    return 1 if any(part.get(key) for parts in results.values() for part in parts.values() for key in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
