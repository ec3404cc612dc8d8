"""script/bench growth [--full] [--json FILE]: processor time of a vote, pages and a fit as a run grows in each direction.

From a small run (10 judges, 8 entrants, 40 prompts, 1,000 votes) one thing at a time becomes large; each row is measured in a
process of its own on a new SQLite file. Nothing may grow faster than what it is made of: a vote not at all, a board with its entrants
at most, a fit with its cells (judges, prompts, and pairs of entrants) at most. A board is made anew, and then as it was kept. Then
a very large run goes its whole way: see `large_run`. `--resume FILE` notes each size there when it is done and leaves out those that are noted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.figures.table import Notebook, Row, add_resume, make_parser, show, write_json

ROOT = Path(__file__).resolve().parents[2]
VOTES_MEASURED = 60
PROMPTS = {False: 50, True: 1_000}  # of the very large run, which has 200 samples a prompt


@dataclass(frozen=True)
class Size:
    judges: int = 10
    entrants: int = 8
    prompts: int = 40
    votes: int = 1_000


BASE = Size()
LARGER = (
    replace(BASE, judges=100),
    replace(BASE, entrants=40),
    replace(BASE, prompts=1_000),
    replace(BASE, votes=20_000),
)
FULL = (*LARGER, replace(BASE, votes=100_000), replace(BASE, votes=1_000_000), Size(100, 40, 1_000, 100_000))


def measure(size: Size, folder: Path) -> Row:
    os.environ |= {"VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "benchmarks.peers.unhurried", "LOG_LEVEL": "ERROR"}
    os.environ["DATABASE_URL"] = f"sqlite:///{folder}/growth.sqlite3"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    from benchmarks.speed.judging_rows import fill_votes, make_judges, make_run
    from generation.models import Run
    from ranking.fitting import fit_run

    run = make_run(entrants=size.entrants, prompts=size.prompts, attempts=2)
    stored = fill_votes(run, size.votes, each=max(size.votes // size.judges, 1))
    sessions = make_judges(run, size.judges)
    row: Row = {**asdict(size), "votes": stored, "vote_ms": milliseconds_a_vote(run, sessions)}
    row["fit_ms"] = least(lambda: fit_run(run, full=False), times=3)
    closed = {"judging_state": Run.Judging.CLOSED, "finished_at": run.created_at}
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED, **closed)
    return row | milliseconds_of_pages(run)


def milliseconds_a_vote(run: Any, sessions: list[str]) -> float:
    """Of a vote with its next pair, through every layer but the network."""
    from django.test import Client

    lines = []
    for session in sessions:
        client = Client(headers={"host": "127.0.0.1", "accept": "application/json"})
        client.cookies["sessionid"] = session
        lines.append((client, client.post(f"/judge/{run.code}/start/").json()))

    def vote_in_turn(number: int) -> None:
        client, line = lines[number % len(lines)]
        fields = {"code": line["current"]["code"], "have": line["next"]["code"], "outcome": "left"}
        lines[number % len(lines)] = (client, client.post("/judge/vote/", fields).json())

    for number in range(len(lines) + 10):
        vote_in_turn(number)
    began = time.process_time()
    for number in range(VOTES_MEASURED):
        vote_in_turn(number)
    return round(1000 * (time.process_time() - began) / VOTES_MEASURED, 2)


def milliseconds_of_pages(run: Any) -> Row:
    """Board and gallery, made anew and as they were kept."""
    from django.test import Client

    from ranking.boards.conditional import KEPT

    client = Client(headers={"host": "127.0.0.1"})

    def load(page: str) -> None:
        if client.get(f"/runs/{run.code}/{page}/").status_code != 200:
            raise SystemExit(f"The {page} does not open.")

    def make(page: str) -> None:
        KEPT.clear()
        load(page)

    row: Row = {}
    for page, name in (("leaderboard", "board"), ("gallery", "gallery")):
        make(page)
        row[f"{name}_ms"] = least(lambda page=page: make(page), times=5)
        row[f"kept_{name}_ms"] = least(lambda page=page: load(page), times=5)
    return row


def over_linear(row: Row, base: Row) -> dict[str, float]:
    """How much more each figure grew than what it is made of: at most 1, but for noise."""
    grown = {name: row[name] / base[name] for name in asdict(BASE)}
    pairs = grown["entrants"] * (row["entrants"] - 1) / (base["entrants"] - 1)
    made_of = {"vote_ms": 1.0, "fit_ms": pairs * grown["judges"] * grown["prompts"] * grown["votes"]}
    made_of |= {"board_ms": pairs, "gallery_ms": grown["entrants"]}
    return {name: round(row[name] / base[name] / most, 2) for name, most in made_of.items()}


def least(action: Callable[[], object], *, times: int) -> float:
    """Processor milliseconds of the quickest of a few times."""
    spent = []
    for _ in range(times):
        began = time.process_time()
        action()
        spent.append(time.process_time() - began)
    return round(1000 * min(spent), 2)


def in_a_process(*command: str) -> Row:
    with tempfile.TemporaryDirectory(prefix="benchsite-bench-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", *command, folder], capture_output=True, text=True, cwd=ROOT, check=False
        )
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = add_resume(make_parser(__doc__, "a million votes, all at once, and 200,000 samples: an hour"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(Size(**json.loads(options.one)), options.folder)))
        return
    rows, notebook = [], Notebook(options.resume)
    for size in (BASE, *(FULL if options.full else LARGER)):
        about = json.dumps(asdict(size))
        rows.append(notebook.noted(about, partial(in_a_process, "benchmarks.speed.growth", "--one", about, "--folder")))
        print(rows[-1], file=sys.stderr, flush=True)
    show("Processor time as a run grows", rows)
    prompts = str(PROMPTS[options.full])
    large = notebook.noted(f"{prompts} prompts", partial(in_a_process, "benchmarks.speed.large_run", prompts))
    show("The slowest pages of a very large run", sorted(large["pages"], key=lambda page: -page["first_ms"])[:12])
    print({name: value for name, value in large.items() if name != "pages"})
    over = [over_linear(row, rows[0]) for row in rows[1:]]
    growth = {f"{name.removesuffix('_ms')}_growth": max(row[name] for row in over) for name in over[0]}
    kept = max(row[name] for row in rows for name in ("kept_board_ms", "kept_gallery_ms"))
    write_json(options.json, {"rows": rows, **growth, "kept_page_ms": kept, "large": large})


if __name__ == "__main__":
    main()
