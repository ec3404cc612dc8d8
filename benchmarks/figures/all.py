"""script/bench all [--full] [--json FILE] [--only NAME …] [--write]: every bench, one after the other.

The short form takes about a quarter of an hour on two quiet cores. A bench that fails does not stop the others, and the exit
code says so. `--write` makes docs/proof.md and proof.json, and the tables of docs/statistics.md, from the figures of this run,
or of an earlier one: `--from FILE --write`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from benchmarks.figures.promises import PROMISES
from benchmarks.figures.promises.promise import judge
from benchmarks.figures.proof_page import write_page
from benchmarks.figures.table import Row, machine_facts, make_parser, show, write_json, yardstick
from benchmarks.numbers.coverage import write_tables

ROOT = Path(__file__).resolve().parents[2]
BENCHES = (
    "svg",
    "raster",
    "robustness",
    "pixel",
    "birds",
    "fuzz",
    "properties",
    "api",
    "coverage",
    "models",
    "ranking",
    "parquet",
    "generation",
    "judging",
    "growth",
    "site",
    "face",
    "fire",
    "chaos",
    "partitions",
    "endurance",
    "drawing",
    "study_storm",
    "pushes",
    "study_votes",
    "first_vote",
    "checks",
    "arena",
    "attacker_http",
)
ON_REQUEST = ("peers", "glyphs", "before_after")  # they need other tools, fonts or an earlier commit, so only by name
IN_PARTS = ("fuzz", "attacker_http", "judging", "growth", "peers", "models", "chaos", "before_after")
LONGEST = {False: 600, True: 4 * 3600}  # seconds for one bench


def main() -> None:
    parser = make_parser(__doc__, "the long form of every bench: some hours")
    parser.add_argument("--only", nargs="+", choices=BENCHES + ON_REQUEST, default=BENCHES)
    parser.add_argument("--write", action="store_true", help="make docs/proof.md from the figures")
    parser.add_argument("--from", dest="earlier", type=Path, help="take the figures from this file; run only --only")
    parser.add_argument("--resume", type=Path, help="a folder with what was noted of benches that can be run in parts")
    parser.add_argument("--options", default="", help="further options for the benches, such as '--examples 10000'")
    options = parser.parse_args()
    figures = json.loads(options.earlier.read_text()) if options.earlier else {"benches": {}}
    names = options.only if not options.earlier or options.only != BENCHES else ()
    figures |= {"machine": machine_facts()} if names else {}
    for name in names:
        figures["benches"][name] = run(name, full=options.full, resume=options.resume, options=options.options)
        write_json(options.json, figures)
    if names == BENCHES and not options.full:
        figures["short_seconds"] = round(sum(bench["seconds"] for bench in figures["benches"].values()))
        print(f"\nAll short forms took {figures['short_seconds']} s.")
    rows = [
        {"bench": promise.bench, **judge(promise, figures["benches"][promise.bench]["figures"])}
        for promise in PROMISES
        if promise.bench in figures["benches"]
    ]
    show("What was promised", rows)
    write_json(options.json, figures)
    if options.write:
        write_page(figures)
        write_tables(figures["benches"].get("coverage", {}).get("figures", {}))
    failed = [name for name, bench in figures["benches"].items() if bench["exit"]]
    short = [row for row in rows if row["holds"] in ("no", "**no**")]
    print(f"\n{len(rows) - len(short)} of {len(rows)} hold; failed benches: {', '.join(failed) or 'none'}.")
    sys.exit(1 if failed or short else 0)


def run(name: str, *, full: bool, resume: Path | None = None, options: str = "") -> Row:
    """One bench in a process of its own; its table goes to the screen, its JSON is kept."""
    noted = ["--resume", str(resume / f"{name}.jsonl")] if resume and name in IN_PARTS else []
    print(f"\n=== {name}", flush=True)
    start, load, speed = time.monotonic(), os.getloadavg()[0], yardstick()
    with tempfile.TemporaryDirectory(prefix="benchsite-all-") as folder:
        path = Path(folder) / "figures.json"
        command = [
            ROOT / "script" / "bench",
            name,
            "--json",
            str(path),
            *(["--full"] if full else []),
            *noted,
            *options.split(),
        ]
        code = run_within(command, LONGEST[full])
        figures = json.loads(path.read_text()) if path.exists() else {}
    return {
        "exit": code,
        "full": full,
        "options": options,
        "seconds": round(time.monotonic() - start, 1),
        "load": [round(load, 2), round(os.getloadavg()[0], 2)],
        "yardstick": [speed, yardstick()],
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "figures": figures,
    }


def commit() -> str:
    """Of the tree that is measured; empty where there is no git."""
    described = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return described.stdout.strip()


def run_within(command: list[str], seconds: float) -> int:
    """Its exit code; after so many seconds it is interrupted, so that it can stop the servers it started, and -1."""
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what runs in the background was started deaf to it
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, preexec_fn=heard)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        print(f"Stopped after {seconds} s.", flush=True)
        process.send_signal(signal.SIGINT)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return -1


if __name__ == "__main__":
    main()
