"""script/bench generation [--full] [--json FILE]: drawing against a light provider on this machine, on DATABASE_URL or SQLite.

Each figure is measured in a process of its own (the provider's work is not counted, but it shares the cores):

- rate: samples a second against the ideal, concurrency ÷ latency, at 64 and at 1,000 calls in flight; the start and the last
  calls are included, and the last round is full: samples are a multiple of the calls
- cpu: processor time a sample of the drawing process and its reader, all of it: claim, HTTP, reading, measuring, settling
- growth: processor time a sample in a large run over that in a small one
- memory: resident set at the end over that after a quarter of the samples
- queries: database statements a sample; BEGIN and COMMIT are not counted
- workers: four processes draw one run; requests the provider saw, over samples
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
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.figures.table import make_parser, write_json
from benchmarks.speed.judging import processor_seconds

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 64
MANY = 1_000


def prepare(folder: str, demo_url: str) -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "benchsite.settings",
        "VAR_DIR": folder,
        "DEMO_PROVIDER_URL": demo_url,
        "LOG_LEVEL": "ERROR",
    }


class Provider:
    """A provider in a process of its own, every call taking the same time."""

    def __init__(self, latency: float) -> None:
        command = [sys.executable, "-m", "benchmarks.speed.light_provider", str(latency)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def bill(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url.removesuffix('/v1')}/bill") as answer:
            return json.load(answer)

    def __enter__(self) -> Provider:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.process.terminate()
        self.process.wait()


def measure(samples: int, latency: float, *, workers: int = 1, calls: int = CONCURRENCY) -> dict[str, float]:
    """Draw a fresh run of this many samples and say what it took."""
    with Provider(latency) as provider, tempfile.TemporaryDirectory(prefix="benchsite-bench-") as folder:
        environment = prepare(folder, provider.url)
        run = child(environment, "--setup", str(samples))["run"]
        start = time.monotonic()
        command = [sys.executable, "-m", "benchmarks.speed.generation", "--draw", str(run), "--calls", str(calls)]
        processes = [
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(workers)
        ]
        results = [json.loads(process.communicate()[0]) for process in processes]
        seconds = time.monotonic() - start
        drawn, bill = sum(result["drawn"] for result in results), provider.bill()
        ideal = samples * latency / calls / workers
        return {
            "samples": samples,
            "seconds": round(max(result["seconds"] for result in results), 2),
            "with_start_up": round(seconds, 2),
            "of_ideal_rate": round(ideal / max(result["seconds"] for result in results), 3),
            "cpu_ms": round(1000 * sum(result["cpu"] for result in results) / max(drawn, 1), 2),
            "queries": round(sum(result["queries"] for result in results) / max(drawn, 1), 2),
            "memory_growth": round(max(result["memory_growth"] for result in results), 3),
            "drawn": drawn,
            "requests": bill["requests"],
            "asked_twice": bill["requests"] - samples,
            "most_at_once": bill["most_in_flight"],
            "provider_cpu_ms": round(1000 * bill["cpu_seconds"] / bill["requests"], 2),
        }


def child(environment: dict[str, str], *arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed.generation", *arguments]
    return json.loads(subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True).stdout)


def set_up(samples: int) -> None:
    """In a child: a database of its own, and a run of as many samples."""
    import django

    django.setup()
    from django.core.management import call_command

    from generation.runs.lifecycle import start_run
    from generation.suites.loading import load_suite
    from generation.suites.suite import ModelEntry, PromptEntry

    call_command("migrate", verbosity=0)
    from dataclasses import replace

    from django.conf import settings

    suite = load_suite(settings.SUITES_DIR / "ascii")
    prompts = tuple(
        PromptEntry(f"p{n}", f"Draw a cat, version {n}, in ASCII art", "single_animal", "cat")
        for n in range(samples // 5)
    )
    model = ModelEntry("demo/journeyman", "Journeyman", provider="demo", price_in=1, price_out=5)
    suite = replace(suite, models=(model,), prompts=prompts, concurrency=CONCURRENCY)
    run = start_run(suite, attempts=5, budget=None)
    print(json.dumps({"run": run.pk, "samples": run.samples.count()}))


def draw_here(run_id: int, calls: int) -> None:
    """In a child: draw, and say what it took."""
    import django

    django.setup()
    from django.db.backends.signals import connection_created

    from generation.drawing import crew
    from generation.models import Sample

    counted = {"queries": 0}

    def count(execute, sql, params, many, context):
        counted["queries"] += 1
        return execute(sql, params, many, context)

    def watch(connection, **_):
        connection.execute_wrappers.append(count)

    connection_created.connect(watch)
    total = Sample.objects.filter(run_id=run_id).count()
    counted["queries"] = 0
    early: list[int] = []

    def report(tally: crew.Tally) -> None:
        if tally.drawn * 4 >= total and not early:
            early.append(resident())

    start, cpu = time.monotonic(), processor_seconds({os.getpid()})
    tally = asyncio.run(crew.draw(run_id=run_id, concurrency=calls, report=report))
    result = {
        "drawn": tally.drawn,
        "seconds": time.monotonic() - start,
        "cpu": processor_seconds({os.getpid()}) - cpu,
        "queries": counted["queries"],
        "memory_growth": resident() / early[0] if early else 1.0,
    }
    print(json.dumps(result))


def resident() -> int:
    """Kilobytes this process holds."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def main() -> None:
    parser = make_parser(__doc__, "500 samples against 20,000 instead of 4,000: six minutes")
    parser.add_argument("--setup", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--draw", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=int, default=CONCURRENCY, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.setup:
        set_up(options.setup)
    elif options.draw:
        draw_here(options.draw, options.calls)
    else:
        tell(options.full, options.json)


def tell(full: bool, path: Path | None) -> None:
    print("Drawing against a light local provider, one crew of 64 calls at once unless said otherwise.")
    crew = measure(30 * CONCURRENCY, 1.0)
    many = measure((6 if full else 3) * MANY, 10.0, calls=MANY)
    small = measure(500, 0.1)
    large = measure(20_000 if full else 4_000, 0.1)
    four = measure(2_000 if full else 800, 0.5, workers=4)
    rows = [
        ("samples at 1 s latency", crew["samples"], ""),
        ("rate, of the ideal", crew["of_ideal_rate"], "≥ 0.95"),
        ("CPU a sample, ms", crew["cpu_ms"], "≤ 3"),
        (f"{MANY} calls: samples at 10 s", many["samples"], ""),
        (f"{MANY} calls: most at once", many["most_at_once"], ""),
        (f"{MANY} calls: rate, of the ideal", many["of_ideal_rate"], "≥ 0.90"),
        (f"{MANY} calls: CPU a sample, ms", many["cpu_ms"], ""),
        (f"{MANY} calls: requests", many["requests"], "as samples"),
        ("memory, end over quarter", crew["memory_growth"], "flat"),
        ("queries a sample", crew["queries"], "≤ 6"),
        (f"CPU a sample at {small['samples']}, ms", small["cpu_ms"], ""),
        (f"CPU a sample at {large['samples']}, ms", large["cpu_ms"], ""),
        ("large over small", round(large["cpu_ms"] / small["cpu_ms"], 3), "≤ 1.1"),
        ("memory in the large run", large["memory_growth"], "flat"),
        ("queries in the large run", large["queries"], "≤ 6"),
        ("four workers: samples", four["samples"], ""),
        ("four workers: requests", four["requests"], "the same"),
        ("four workers: most at once", four["most_at_once"], ""),
    ]
    for name, value, target in rows:
        print(f"{name:>30}  {value:>10,}  {target}")
    growth = {"samples": large["samples"] / small["samples"], "cpu": large["cpu_ms"] / small["cpu_ms"]}
    write_json(
        path, {"crew": crew, "many": many, "small": small, "large": large, "four_workers": four, "growth": growth}
    )


if __name__ == "__main__":
    main()
