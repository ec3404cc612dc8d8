"""Real workers and sweepers as processes of their own, on the test's own database and a real queue."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

from django.db import connection
from redis import Redis

from generation.queue import seconds_since_beat

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0
# Short enough for a test to wait for, long enough for a busy machine: a call may take 4 s, a lease lapses 1 s later.
QUICK = {"DRAW_DEADLINE": "4", "LEASE_MARGIN": "1", "SWEEP_SECONDS": "1", "DRAW_SLICE": "20", "RETRY_SECONDS": "1"}
QUICK["IDLE_TRANSACTION_SECONDS"] = "3"


def database_url() -> str:
    """The address of the database this test is connected to."""
    about = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{about['NAME']}"
    return f"postgres://{about['USER']}:{quote(about['PASSWORD'])}@{about['HOST']}:{about['PORT']}/{about['NAME']}"


class Floor:
    """The processes of one test; leaving it ends them all, orphans too."""

    def __init__(self, *, redis_url: str, demo_url: str, database: str = "", **environment: str) -> None:
        self.mark = f"FLOOR_{uuid4().hex}"
        self.folder = tempfile.TemporaryDirectory(prefix="benchsite-floor-")
        self.environment = {
            **os.environ,
            **QUICK,
            "DJANGO_SETTINGS_MODULE": "benchsite.settings",
            "DATABASE_URL": database or database_url(),
            "REDIS_URL": redis_url,
            "DEMO_PROVIDER_URL": demo_url,
            "VAR_DIR": self.folder.name,
            "LOG_LEVEL": "ERROR",
            self.mark: "1",
            **environment,
        }
        self.log = (Path(self.folder.name) / "log").open("w+")
        self.started: list[subprocess.Popen[bytes]] = []
        self.kept: list[tuple[tuple[str, ...], subprocess.Popen[bytes]]] = []

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "manage.py", *arguments]
        process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=self.log, stderr=self.log)
        self.started.append(process)
        return process

    def keep(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start it, and start it again whenever `wait_until` finds it gone, as a supervisor does."""
        process = self.start(*arguments)
        self.kept.append((arguments, process))
        return process

    def revive(self) -> None:
        for place, (arguments, process) in enumerate(self.kept):
            if process.poll() is not None:
                self.kept[place] = (arguments, self.start(*arguments))

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            self.revive()
            assert time.monotonic() < end, f"{what} did not happen within {PATIENCE} s\n{self.output()}"
            time.sleep(0.05)

    def wait_for_sweeps(self, count: int) -> None:
        """Until the sweeper has gone round this often: each time it rings for whatever it thinks is due."""
        client = Redis.from_url(self.environment["REDIS_URL"])
        for _ in range(count):
            asked = time.time()
            self.wait_until(lambda asked=asked: time.time() - (seconds_since_beat(client) or 1e9) > asked, "a sweep")

    def output(self) -> str:
        self.log.flush()
        return Path(self.log.name).read_text()[-3000:]

    def processes(self) -> list[int]:
        """Every process that was started here or descends from one: they inherit the mark."""
        running = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"{self.mark}=".encode() in (path / "environ").read_bytes():
                    running.append(int(path.name))
        return running

    def close(self) -> None:
        while processes := self.processes():
            for pid in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in self.started:
                process.wait()
            time.sleep(0.02)
        self.log.close()
        self.folder.cleanup()


def child_of(pid: int) -> int | None:
    """The process an RQ worker forked for the job at hand."""
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(children[0]) if children else None
    return None


@contextlib.contextmanager
def floor(**options: str) -> Iterator[Floor]:
    opened = Floor(**options)
    try:
        yield opened
    finally:
        opened.close()
