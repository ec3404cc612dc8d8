"""script/bench pushes [--full] [--json FILE]: 10,000 drawings and 10,000 votes (1,000 in the short form) pushed to a real server.

On PostgreSQL and on SQLite: once in one call, again, in parts, by two programs at the same moment, and with the server killed by
-9 half way. Nothing may be lost, doubled or half there. Processor time is the server's, memory the most that one worker held.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from benchmarks.figures.table import Row, make_parser, show, write_json
from benchmarks.speed.judging import ROOT, gunicorn, processor_seconds
from tests.services import postgres

ROWS = {False: 1_000, True: 10_000}
PROMPTS, PARTS = 100, 20
ART = "```\n  /\\_/\\\n ( o.o )  {n}\n  > ^ <\n```"


def drawings(run: Any, rows: int, *, model: str) -> list[dict[str, Any]]:
    texts = list(run.prompts.values_list("text", flat=True))
    return [
        {
            "model_id": model,
            "prompt_text": texts[n % len(texts)],
            "attempt_number": n // len(texts) + 1,
            "raw_output": ART.replace("{n}", f"{n}"),
        }
        for n in range(rows)
    ]


def votes(run: Any, rows: int, *, name: str) -> list[dict[str, Any]]:
    left, right = run.entrants.values_list("name", flat=True)[:2]
    outcomes = ("left", "right", "tie", "fail")
    return [
        {
            "id": f"{name}-{n}",
            "left_model": left,
            "right_model": right,
            "outcome": outcomes[n % 4],
            "judge": f"{name} {n % 50}",
        }
        for n in range(rows)
    ]


def memory_mb(master: int) -> float:
    """The most that one worker of this server ever held."""
    children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    status = [Path(f"/proc/{pid}/status").read_text() for pid in children]
    return max(int(text.partition("VmHWM:")[2].split()[0]) for text in status) / 1024


class Pusher:
    """A program with a token. What got no answer is sent again, as the client does."""

    def __init__(self, base: str, token: str, address: str) -> None:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
        self.http = httpx.Client(base_url=base, headers=headers, trust_env=False, timeout=600)
        self.address = address

    def push(self, lines: list[bytes], *, again: bool = False) -> dict[str, int]:
        while True:
            try:
                response = self.http.post(self.address, content=b"".join(lines))
            except httpx.TransportError:
                if not again:
                    raise
                time.sleep(0.2)
                continue
            if response.status_code == 503 and again:
                time.sleep(0.2)
                continue
            if response.status_code != 200:
                raise RuntimeError(f"{response.status_code} {response.text[:300]}")
            answer: dict[str, int] = response.json()
            return answer


def kill_half_way(pusher: Pusher, lines: list[bytes], *, master: int, after: float) -> dict[str, int]:
    """Every worker ends by -9 while it works at the push, which is then sent again."""
    with ThreadPoolExecutor(1) as pool:
        pushed = pool.submit(pusher.push, lines, again=True)
        time.sleep(after)
        half_way = not pushed.done()
        for pid in Path(f"/proc/{master}/task/{master}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        return pushed.result() | {"killed": half_way}


def measure(what: str, make: Any, count: Any, address: str, *, base: str, master: int, token: str, rows: int) -> Row:
    """One kind of rows, in every way; `make` gives rows under a name, `count` says how many of a name are stored."""

    def lines_of(name: str) -> list[bytes]:
        return [json.dumps(row).encode() + b"\n" for row in make(name)]

    def timed(work: Any) -> tuple[Any, float, float]:
        used, began = processor_seconds([master]), time.monotonic()
        return work(), processor_seconds([master]) - used, time.monotonic() - began

    pusher, lines = Pusher(base, token, address), lines_of("once")
    first, cpu, seconds = timed(lambda: pusher.push(lines))
    again, cpu_again, _ = timed(lambda: pusher.push(lines))
    held = memory_mb(master)
    step = -(-rows // PARTS)
    parts = lines_of("parts")
    sums, cpu_parts, _ = timed(lambda: [pusher.push(parts[at : at + step])["added"] for at in range(0, rows, step)])
    both, start = lines_of("both"), threading.Barrier(2)

    def together(turned: bool) -> dict[str, int]:
        other = Pusher(base, token, address)
        start.wait()
        return other.push(both[::-1] if turned else both, again=True)

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(together, (False, True)))
    killed = kill_half_way(pusher, lines_of("killed"), master=master, after=0.6 * seconds)
    wrong = {
        "first": first["added"] != rows,
        "again": (again["added"], again["same"]) != (0, rows),
        "parts": sum(sums) != rows,
        "at once": sorted(answer["added"] for answer in answers) != [0, rows],
        "killed": killed["added"] != rows or not killed["killed"],
        "stored": {name: count(name) for name in ("once", "parts", "both", "killed")}
        != dict.fromkeys(("once", "parts", "both", "killed"), rows),
    }
    return {
        "what": what,
        "rows": rows,
        "one_call_cpu_s": cpu,
        "one_call_s": seconds,
        "again_cpu_s": cpu_again,
        "parts_cpu_s": cpu_parts,
        "worker_mb": held,
        "faults": sum(wrong.values()),
        "wrong": ", ".join(name for name, is_wrong in wrong.items() if is_wrong) or "nothing",
    }


def measure_inside(rows: int) -> list[Row]:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    from datetime import timedelta

    from django.db import connection
    from django.utils.timezone import now

    from generation.models import Run
    from ranking.tokens import create_token
    from tests.judging.make import make_curator, make_run

    run = make_run(entrants=2, prompts=PROMPTS, attempts=1)
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.CLOSED)
    token = create_token(label="bench", role="push", run=run, by=make_curator(), expires_at=now() + timedelta(days=1))[
        1
    ]
    with gunicorn(1) as (base, master):
        given: dict[str, Any] = {"base": base, "master": master, "token": token, "rows": rows}
        address = f"/api/v1/runs/{run.code}"
        return [
            {"database": connection.vendor}
            | measure(
                "drawings",
                lambda name: drawings(run, rows, model=f"mine/{name}"),
                lambda name: run.samples.filter(model__model_id=f"mine/{name}", state="drawn").count(),
                f"{address}/samples",
                **given,
            ),
            {"database": connection.vendor}
            | measure(
                "votes",
                lambda name: votes(run, rows, name=name),
                lambda name: run.votes.filter(seat__pseudonym__startswith=f"{name} ").count(),
                f"{address}/votes?reason=bench",
                **given,
            ),
        ]


def main() -> int:
    parser = make_parser(__doc__ or "", "10,000 rows instead of 1,000")
    parser.add_argument("--inside", action="store_true")
    asked = parser.parse_args()
    rows = ROWS[asked.full]
    if asked.inside:
        write_json(asked.json, measure_inside(rows))
        return 0
    rows_of_both: list[Row] = []
    for database in ("postgresql", "sqlite"):
        rows_of_both += measure_on(database, full=asked.full)
    show("Pushed to a real server, processor seconds of the server", rows_of_both)
    write_json(asked.json, {"pushes": rows_of_both})
    return int(any(row["faults"] for row in rows_of_both))


def measure_on(database: str, *, full: bool) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="benchsite-pushes-") as folder, postgres(durable=True) as server:
        out = Path(folder) / "rows.json"
        address = server.url if database == "postgresql" else f"sqlite:///{folder}/pushes.sqlite3"
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "benchsite.settings",
            "VAR_DIR": folder,
            "DATABASE_URL": address,
            "LOG_LEVEL": "CRITICAL",
        }
        command = [sys.executable, "-m", "benchmarks.faults.pushes", "--inside", "--json", str(out)]
        subprocess.run([*command, *(["--full"] if full else [])], cwd=ROOT, env=environment, check=True)
        rows: list[Row] = json.loads(out.read_text())
        return rows


if __name__ == "__main__":
    sys.exit(main())
