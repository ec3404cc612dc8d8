"""The deployment that docs/operations.md describes: PostgreSQL, Valkey, pages and workers, from the environment alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import httpx
import psycopg
import pytest

from generation.demo.server import start
from tests.processes import ROOT, Floor, child_of, floor
from tests.services import free_port, own_database, valkey_server

pytestmark = [pytest.mark.processes, pytest.mark.once]
TOKEN = "a-token-for-the-watcher"


@pytest.fixture
def site():
    """Every part as a process of its own; `site.address` is where pages are."""
    demo = start(latency=0.3, faults=0.0)
    port = free_port()
    with valkey_server() as queue, own_database() as database:
        settings = {"METRICS_TOKEN": TOKEN, "SECRET_KEY": "x" * 50, "ALLOWED_HOSTS": "127.0.0.1", "LOG_JSON": "True"}
        with floor(redis_url=queue.url, demo_url=demo.url, database=database, **settings) as parts:
            manage(parts, "migrate", "--verbosity", "0")
            manage(parts, "collectstatic", "--noinput", "--verbosity", "0")
            gunicorn = ("gunicorn", "benchsite.wsgi", "--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "2")
            command = [sys.executable, "-m", *gunicorn]
            parts.started.append(
                subprocess.Popen(command, cwd=ROOT, env=parts.environment, stdout=parts.log, stderr=parts.log)
            )
            parts.address, parts.database, parts.demo = f"http://127.0.0.1:{port}", database, demo
            yield parts
    demo.stop()


def manage(parts: Floor, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=parts.environment, capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def count(parts: Floor, condition: str) -> int:
    with psycopg.connect(parts.database) as connection:
        return connection.execute(f"SELECT count(*) FROM generation_sample WHERE {condition}").fetchone()[0]


def get(parts: Floor, path: str, **headers: str) -> tuple[int, str]:
    try:
        answer = httpx.get(parts.address + path, headers=headers, timeout=10, trust_env=False)
    except httpx.HTTPError:
        return 0, ""
    return answer.status_code, answer.text


def test_everything_is_drawn_though_a_worker_is_killed(site):
    workers = [site.start("work", "draw"), site.start("work", "draw")]
    for parts in (("work", "measure"), ("work", "fit"), ("sweep", "--forever")):
        site.keep(*parts)
    site.wait_until(lambda: get(site, "/readyz")[0] == 200, "the pages being ready")
    manage(site, "start_run", "ascii", "--demo")
    total = count(site, "true")
    assert total >= 20
    site.wait_until(lambda: count(site, "state = 'drawn'") >= 3, "the first drawings")

    busy = next((worker for worker in workers if child_of(worker.pid)), workers[0])
    for pid in filter(None, (child_of(busy.pid), busy.pid)):
        os.kill(pid, signal.SIGKILL)
    site.wait_until(lambda: count(site, "state = 'drawn'") == total, "the rest being drawn by the other worker")

    with psycopg.connect(site.database) as connection:
        spent, known = connection.execute(
            "SELECT (SELECT sum(spent_nano) FROM generation_run), (SELECT sum(cost_nano) FROM generation_providercall)"
        ).fetchone()
    assert spent == known > 0

    assert get(site, "/metrics")[0] == 403
    status, text = get(site, "/metrics", Authorization=f"Bearer {TOKEN}")
    assert status == 200 and f'benchsite_samples{{state="drawn"}} {total}' in text
    assert int(re.search(r'benchsite_workers\{queue="draw"\} (\d+)', text).group(1)) >= 1
    assert get(site, "/")[0] == 200 and get(site, "/runs/")[0] in (200, 302)
    output = manage(site, "doctor", check=False).stdout
    assert (
        "The database answers and takes writes (postgresql)" in output
        and "The sweeper is running" in output
        and "for draw" in output
    ), output
    assert "BAD" not in output.replace("BAD   No worker for draw", ""), output
