"""script/bench chaos: a run is drawn, or model judges answer about one, while plugs are pulled, on PostgreSQL and on SQLite; seeded.

Three real workers and a sweeper draw; faults strike as drawing goes on, spread over the whole run:

- process faults: kill -9 of a worker, of the child that draws, of both, of the sweeper; SIGSTOP past the lease; FLUSHALL;
  Valkey killed and started empty; PostgreSQL ended without a word and started again
- provider faults: 429, 500, 502, 503, silence past the deadline, a hung-up line after charging, a byte every half second

A *gentle* storm leaves out what cuts a call off, so there the bill must equal the known cost to the nano-dollar.
`--resume FILE` notes each storm there when it is over and leaves out those that are noted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.faults.storm import AT_ONCE, CUTTING, Storm
from benchmarks.figures.table import Notebook, Row, add_resume, make_parser, show, write_json

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    full = "1,000 samples and 300 faults over 3 seeds on PostgreSQL, one on SQLite, one gentle; as many answers of model judges"
    parser = add_resume(make_parser(__doc__, full))
    parser.add_argument("--samples", type=int)
    parser.add_argument("--faults", type=int, help="half of them strike processes, half come from the provider")
    parser.add_argument("--seeds", type=int, help="storms on PostgreSQL")
    parser.add_argument("--storm", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.storm:
        print(json.dumps(weather(**json.loads(options.storm))))
        return
    samples = options.samples or (1_000 if options.full else 120)
    faults = options.faults or (300 if options.full else 30)
    seeds = options.seeds or (3 if options.full else 1)
    storms = [("postgres", seed, False, "drawings") for seed in range(1, seeds + 1)]
    storms += [("sqlite", seeds + 1, False, "drawings"), ("postgres", seeds + 2, True, "drawings")]
    storms += [("postgres", seeds + 3, False, "pairs"), ("sqlite", seeds + 4, False, "pairs")]
    storms += [("postgres", seeds + 5, False, "grades"), ("postgres", seeds + 6, True, "pairs")]
    rows, notebook = [], Notebook(options.resume)
    for database, seed, gentle, asked_for in storms:
        asked = {"database": database, "seed": seed, "gentle": gentle, "samples": samples, "faults": faults}
        asked["asked_for"] = asked_for
        rows.append(notebook.noted(json.dumps(asked), partial(child, asked)))
        print(f"{asked_for}, {database}, seed {seed}: {'held' if rows[-1]['held'] else rows[-1]['broken']}", flush=True)
    names = [f"{row['database']} {row['seed']}{' gentle' * row['gentle']}" for row in rows]
    for title, tables in (("Storms", rows), ("Faults that struck", [row["struck"] for row in rows])):
        keys = dict.fromkeys(key for table in tables for key, value in table.items() if not isinstance(value, dict))
        show(title, [{"": key} | {n: t.get(key, 0) for n, t in zip(names, tables, strict=True)} for key in keys])
    write_json(options.json, {"storms": rows})
    sys.exit(0 if all(row["held"] for row in rows) else 1)


def child(asked: Row) -> Row:
    """Each storm in a process of its own: Django knows one database."""
    command = [sys.executable, "-m", "benchmarks.faults.chaos", "--storm", json.dumps(asked)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    done.check_returncode()
    return json.loads(done.stdout.splitlines()[-1])


def weather(**asked: Any) -> Row:
    try:
        with ExitStack() as stack:
            storm = Storm(stack, **asked)
            storm.draw()
            return verdict(storm)
    except Exception:
        return {**asked, "held": False, "broken": traceback.format_exc(), "struck": {}, "seconds": 0.0}


def verdict(storm: Storm) -> Row:
    """What the storm left behind, compared with every promise."""
    from django.db.models import Count, Sum

    from generation.models import ProviderCall, Run, Sample

    run = Run.objects.get(pk=storm.run.pk)
    calls, counts = ProviderCall.objects.filter(run=run), Sample.objects.filter(run=run).progress()
    outcomes = dict(calls.order_by().values_list("outcome").annotate(Count("id")))
    unknown = calls.filter(cost_nano=None)
    held = unknown.aggregate(sum=Sum("reserved_nano", default=0))["sum"]
    broken = broken_promises(storm, run, counts)
    from_provider = storm.provider_faults()
    return {
        **storm.asked,
        "process_faults": storm.struck.total() - from_provider,
        "provider_faults": from_provider,
        "drawn": counts["drawn"],
        "failed": counts["failed"],
        "lost": storm.asked["samples"] - counts["drawn"] - counts["failed"],
        "requests": storm.demo.bill.requests,
        "calls_on_record": calls.count(),
        "cost_unknown": unknown.count(),
        "known_nano": run.spent_nano,
        "bill_nano": storm.demo.bill.total_nano,
        "known_and_held_nano": run.spent_nano + held,
        "drawn_on_retry": draw_failed_again(storm) if counts["failed"] else 0,
        "seconds": round(time.monotonic() - storm.started, 1),
        "held": not broken,
        "broken": "; ".join(broken),
        "struck": dict(sorted(storm.struck.items())),
        "outcomes": outcomes,
    }


def broken_promises(storm: Storm, run: Any, counts: Mapping[str, int]) -> list[str]:
    from benchmarks.faults.storm_runs import broken_answers
    from tests.generation.drawing_room import assert_invariants
    from tests.site.secrets import holds_secret, rows

    broken, bill = [], storm.demo.bill
    kills = sum(storm.struck[kind] for kind in CUTTING) * AT_ONCE
    try:
        assert_invariants(run, billed_nano=bill.total_nano, requests=bill.requests, kills=kills)
    except AssertionError as error:
        broken.append(str(error) or "an invariant")
    if counts["drawn"] + counts["failed"] != storm.asked["samples"]:
        broken.append(f"samples are neither drawn nor failed: {counts}")
    if bill.requests - storm.asked["samples"] > kills + storm.provider_faults():
        broken.append("a sample was asked again though neither its call was cut off nor its provider failed")
    broken += broken_answers(run, storm.asked["samples"], failed=counts["failed"])
    if storm.gentle and bill.total_nano != run.spent_nano:
        broken.append(f"no call was cut off, but the bill of {bill.total_nano} is not the cost of {run.spent_nano}")
    if holds_secret(rows()):
        broken.append("the key is in the database")
    if holds_secret(Path(storm.site.log.name).read_bytes()):
        broken.append("the key is in the log")
    if storm.struck.total() < storm.asked["faults"]:
        broken.append(f"only {storm.struck.total()} faults struck")
    return broken


def draw_failed_again(storm: Storm) -> int:
    """A sample whose worker was killed six times has failed, and says so: a curator presses retry."""
    from generation.models import Sample
    from generation.runs.lifecycle import retry_failed

    failed = list(Sample.objects.filter(run=storm.run, state="failed").values_list("pk", flat=True))
    retry_failed(storm.run, reason="after the storm")
    storm.site.wait_until(lambda: storm.progress()[0] == storm.asked["samples"], "the end of the retried samples")
    return Sample.objects.filter(pk__in=failed, state="drawn").count()


if __name__ == "__main__":
    main()
