"""One storm of the chaos bench: real servers, workers that draw, and the faults that strike them."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from select import select
from typing import Any

from tests.site.secrets import SECRET

AT_ONCE, WORKERS = 4, 3
CONFIG = Path(__file__).resolve().parents[2] / "config"
# The demo provider asks for no key; in a storm it gets one, and repeats it in every error.
PROFILE = """providers:
  demo: {kind: demo, base_url: "http://127.0.0.1:1/v1", base_url_env: DEMO_PROVIDER_URL, key_env: STORM_KEY}
"""
LATENCY = 0.5
# A call may take 4 s and its lease lasts 9 here. A shorter margin would count a slow disk's seconds as a lost worker.
LEASE = {"DRAW_DEADLINE": "4", "LEASE_MARGIN": "5"}
FROZEN_SECONDS = 11.0
STRUCK_BY = 0.7  # of the samples: most faults need one that is being drawn
PATIENCE = 120.0  # seconds without any progress before a storm is given up
GENTLE = {"flushall": 6, "valkey_emptied": 2, "postgres_restarted": 1, "sweeper_killed": 1}
ROUGH = {**GENTLE, "child_killed": 4, "worker_killed": 3, "both_killed": 2, "stopped_past_lease": 1}
CUTTING = {"child_killed", "both_killed", "stopped_past_lease"}
PROVIDER_GENTLE = {"429": 3, "500": 1, "502": 1, "503": 1}
PROVIDER_ROUGH = {**PROVIDER_GENTLE, "hang": 1, "drop": 1, "drip": 1}


class Storm:
    """One storm: its servers, its run, and what struck it so far. `asked_for`: drawings, or a model judge's `pairs` or `grades`."""

    def __init__(
        self,
        stack: ExitStack,
        *,
        database: str,
        seed: int,
        gentle: bool,
        samples: int,
        faults: int,
        asked_for: str = "drawings",
    ) -> None:
        self.asked: dict[str, Any] = {
            "database": database,
            "seed": seed,
            "gentle": gentle,
            "samples": samples,
            "faults": faults,
        }
        self.asked["asked_for"] = asked_for
        self.rng, self.gentle = Random(seed), gentle
        self.struck: Counter[str] = Counter()
        self.counting = threading.Lock()  # the provider answers in threads
        self.plan = self.make_plan(samples, faults)
        self.frozen: list[tuple[float, list[int]]] = []
        self.orphans: list[int] = []  # pidfds of children that draw on though their worker was killed
        self.postgres = self.open_servers(stack, database)
        from benchmarks.faults.storm_runs import start_asking
        from tests.processes import floor

        self.site = stack.enter_context(
            floor(
                redis_url=self.valkey.url,
                demo_url=self.demo.url,
                database=os.environ["DATABASE_URL"],
                **LEASE | {"LOG_LEVEL": "INFO"},
            )
        )
        self.run = start_asking(asked_for, samples, at_once=AT_ONCE)
        self.process_faults = faults // 2
        self.started = time.monotonic()

    def open_servers(self, stack: ExitStack, database: str) -> Any:
        from benchmarks.faults.storm_runs import answer
        from generation.demo.server import start
        from tests.services import postgres, valkey_server

        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="benchsite-chaos-"))
        server = stack.enter_context(postgres(durable=True)) if database == "postgres" else None
        self.valkey = stack.enter_context(valkey_server())
        self.demo = start(latency=LATENCY, faults=0.0, plan=self.answer, say=answer)
        stack.callback(self.demo.stop)
        (Path(folder) / "providers.yaml").write_text(PROFILE, encoding="utf-8")
        shutil.copy(CONFIG / "model_judges.yaml", folder)
        url = server.url if server else f"sqlite:///{folder}/db.sqlite3"
        os.environ |= {"DATABASE_URL": url, "REDIS_URL": self.valkey.url, "VAR_DIR": folder, "LOG_LEVEL": "ERROR"}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "benchsite.settings", "DEMO_PROVIDER_URL": self.demo.url}
        os.environ |= {"SUITES_DIR": folder, "STORM_KEY": SECRET}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        return server

    def make_plan(self, samples: int, faults: int) -> dict[int, str]:
        """Which requests the provider fails, by number: spread over as many as there are samples."""
        kinds = PROVIDER_GENTLE if self.gentle else PROVIDER_ROUGH
        numbers = self.rng.sample(range(samples), faults - faults // 2)
        return dict(zip(numbers, self.rng.choices(list(kinds), kinds.values(), k=len(numbers)), strict=True))

    def answer(self, number: int, body: dict[str, Any]) -> Any:
        from generation.demo.server import Scripted

        kind = self.plan.get(number)
        if kind is None:
            return None
        with self.counting:
            self.struck[f"provider_{kind}"] += 1
        if kind == "429":
            return Scripted(429, {"error": {"code": 429, "message": f"Slow down, {SECRET}."}}, {"Retry-After": "1"})
        if kind.isdigit():
            return Scripted(int(kind), {"error": {"code": int(kind), "message": f"Out of order, {SECRET}."}})
        return {"hang": Scripted(hang=6.0), "drop": Scripted(drop=True), "drip": Scripted(drip=0.5)}[kind]

    def draw(self) -> None:
        """Keep the site going, and strike each time drawing has come a step further."""
        for _ in range(WORKERS):
            self.site.keep("work", "draw")
        self.site.keep("sweep", "--forever")
        kinds = {
            k: n for k, n in (GENTLE if self.gentle else ROUGH).items() if self.postgres or k != "postgres_restarted"
        }
        coming = self.rng.choices(list(kinds), kinds.values(), k=self.process_faults)
        total, last, moved = self.asked["samples"], -1, time.monotonic()
        while True:
            self.thaw()
            self.site.revive()
            ended, open_calls = self.progress()
            if (ended, len(coming)) != last:
                last, moved = (ended, len(coming)), time.monotonic()
            if ended == total and not open_calls and not self.frozen and not self.strike_first(coming):
                return
            if time.monotonic() - moved > PATIENCE:
                told = f"{ended} of {total}, {open_calls} calls open, {len(coming)} faults to come ({coming[-1:]})"
                raise TimeoutError(f"{PATIENCE} s without progress: {told}\n{self.site.told()[-2000:]}")
            due = len(coming) > self.process_faults * (1 - ended / total / STRUCK_BY)
            if due and self.demo.bill.in_flight:
                self.strike_first(coming)
            time.sleep(0.05)

    def progress(self) -> tuple[int, int]:
        from django.db import Error, connection

        from generation.models import ProviderCall, Sample

        try:
            unended = Sample.objects.filter(run=self.run).unended().count()
            return self.asked["samples"] - unended, ProviderCall.objects.filter(run=self.run, outcome="open").count()
        except Error:
            connection.close()
            return -1, 1

    def provider_faults(self) -> int:
        return sum(times for kind, times in self.struck.items() if kind.startswith("provider_"))

    def strike_first(self, coming: list[str]) -> bool:
        """The fault whose turn it is, or the next that finds something to strike: no fault waits for another."""
        for kind in dict.fromkeys(reversed(coming)):
            if self.strike(kind):
                del coming[len(coming) - 1 - coming[::-1].index(kind)]
                return True
        return False

    def strike(self, kind: str) -> bool:
        """False where there is nothing to strike just now."""
        if not getattr(self, f"strike_{kind}")():
            return False
        self.struck[kind] += 1
        return True

    def drawing_workers(self) -> list[tuple[int, int]]:
        """Workers with a child that draws, none of them frozen."""
        from tests.processes import child_of

        cold = {pid for _, pids in self.frozen for pid in pids}
        alive = [process for arguments, process in self.site.kept if arguments[0] == "work" and process.poll() is None]
        pairs = [(process.pid, child_of(process.pid)) for process in alive if process.pid not in cold]
        return [(worker, drawing) for worker, drawing in pairs if drawing]

    def signal_one(self, *, worker: bool, drawing: bool, number: int = signal.SIGKILL) -> list[int]:
        pairs = self.drawing_workers()
        if not pairs:
            return []
        pair = self.rng.choice(pairs)
        pids = [pid for pid, wanted in zip(pair, (worker, drawing), strict=True) if wanted]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def strike_child_killed(self) -> bool:
        while self.orphans:
            with os.fdopen(self.orphans.pop()) as orphan, suppress(ProcessLookupError):
                if not select([orphan], [], [], 0)[0]:  # readable once it has ended
                    signal.pidfd_send_signal(orphan.fileno(), signal.SIGKILL)
                    return True
        return bool(self.signal_one(worker=False, drawing=True))

    def strike_worker_killed(self) -> bool:
        drawing = dict(self.drawing_workers())
        killed = self.signal_one(worker=True, drawing=False)
        with suppress(ProcessLookupError):
            self.orphans += [os.pidfd_open(drawing[pid]) for pid in killed if pid in drawing]
        return bool(killed)

    def strike_both_killed(self) -> bool:
        return bool(self.signal_one(worker=True, drawing=True))

    def strike_stopped_past_lease(self) -> bool:
        pids = self.signal_one(worker=True, drawing=True, number=signal.SIGSTOP) if not self.frozen else []
        if pids:
            self.frozen.append((time.monotonic() + FROZEN_SECONDS, pids))
        return bool(pids)

    def thaw(self) -> None:
        for item in [item for item in self.frozen if item[0] < time.monotonic()]:
            self.frozen.remove(item)
            for pid in reversed(item[1]):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def strike_sweeper_killed(self) -> bool:
        for arguments, process in self.site.kept:
            if arguments[0] == "sweep" and process.poll() is None:
                process.kill()
                return True
        return False

    def strike_flushall(self) -> bool:
        from redis import Redis

        return bool(Redis.from_url(self.valkey.url).flushall())

    def strike_valkey_emptied(self) -> bool:
        self.valkey.restart_empty()
        return True

    def strike_postgres_restarted(self) -> bool:
        from django.db import connection

        connection.close()
        self.postgres.restart()
        return True
