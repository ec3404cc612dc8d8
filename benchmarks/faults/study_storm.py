"""script/bench study_storm [--full] [--json FILE]: a fake platform sends 1,000 people (150 in the short form) to a study.

They come at once and at random: forged, empty and reused ids, double clicks, two browsers, stale forms, people who leave, returns
that the platform reports, time-outs; and the whole web server is killed with -9 and started again twelve times. Afterwards nothing
may be lost or doubled.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from typing import Any

import httpx

from benchmarks.faults.study_crowd import Diary, come, reckoning
from benchmarks.figures.table import make_parser, write_json
from benchmarks.speed.judging import ROOT, free_port
from tests.services import postgres

PEOPLE = {False: 150, True: 1_000}
AT_ONCE = 24
PLACES, PAIRS = 0.7, 4  # places for this share of those who come; pairs for each
KILLS = 12
ENDED = 0.15  # of the people are returned by the platform or run out of time
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
TRIES = 400  # of a request, a quarter of a second apart: the server may be on its way up


class Client:
    """A browser with cookies of its own. A request that a killed server did not answer is sent again, as people do."""

    def __init__(self, base: str) -> None:
        self.http = httpx.Client(base_url=base, verify=False, trust_env=False, timeout=60, follow_redirects=True)

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        for _ in range(TRIES):
            try:
                response = self.http.request(method, path, **options)
            except httpx.TransportError:
                time.sleep(0.25)
                continue
            if response.status_code == 503 and "paused" not in response.text:
                time.sleep(0.25)
                continue
            return response
        raise TimeoutError(path)

    def get(self, path: str) -> tuple[int, str]:
        response = self._send("GET", path.replace("\x00", "%00"))
        if token := TOKEN.search(response.text):
            self.token = token[1]
        return response.status_code, response.text

    def post(self, path: str, fields: dict[str, str], *, twice: bool = False) -> tuple[int, str]:
        data = {"csrfmiddlewaretoken": getattr(self, "token", ""), **fields}
        if twice:
            other = threading.Thread(target=self._twin, args=(path, data))
            other.start()
        response = self._send("POST", path, data=data)
        if twice:
            other.join()
        return response.status_code, response.text

    def _twin(self, path: str, data: dict[str, str]) -> None:
        """The second of two clicks: the same form, from the same cookies, at the same moment."""
        with (
            httpx.Client(
                base_url=self.http.base_url,
                cookies=dict(self.http.cookies),
                verify=False,
                trust_env=False,
                timeout=60,
            ) as http,
            suppress(httpx.TransportError),
        ):  # of a killed server; the first click is what counts
            http.post(path, data=data)

    def vote(self, run: str, random: Random, *, twice: bool) -> str:
        headers = {"Accept": "application/json", "X-CSRFToken": getattr(self, "token", "")}
        start = self._send("POST", f"/judge/{run}/start/", headers=headers)
        current = start.json().get("current") if start.status_code == 200 else None
        if not current:
            return ""
        fields = {"code": current["code"], "outcome": random.choice(("left", "right", "tie", "fail"))}
        for _ in range(TRIES):
            if twice:
                threading.Thread(
                    target=self._twin, args=("/judge/vote/", fields | {"csrfmiddlewaretoken": self.token})
                ).start()
            answer = self._send("POST", "/judge/vote/", headers=headers, data=fields)
            if answer.status_code != 429:
                return current["code"] if answer.status_code == 200 else ""
            time.sleep(0.31)
        return ""


class Server:
    """The site behind gunicorn on one port, in a session of its own: killed whole, and started again there."""

    def __init__(self) -> None:
        self.port, self.clean = free_port(), 0
        self.base = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "benchsite.wsgi", "--bind", f"127.0.0.1:{self.port}"]
        command += ["--workers", "2", "--threads", "4", "--log-level", "critical"]
        self.process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
        for _ in range(600):
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.base}/healthz", trust_env=False, timeout=5).status_code == 200:
                    return
            time.sleep(0.1)
        raise TimeoutError("The server did not come up.")

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()
        self.clean += 1


def storm(people: int, *, seed: int) -> dict[str, Any]:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    from tests.judging.make import make_run
    from tests.judging.studies.make import CLOSING, CONSENT, PROFILE, TEXTS, make_study

    places = int(people * PLACES)
    platform = {"name": "Fake", "id": "PROLIFIC_PID", "others": ["STUDY_ID", "SESSION_ID"]}
    study = make_study(
        make_run(entrants=6, prompts=12, attempts=2),
        pairs=PAIRS, places=places, minutes=600, per_address=100_000, platform=platform, outcomes=TEXTS, consent=CONSENT, profile=PROFILE, closing=CLOSING,
    )  # fmt: skip
    diary, random = Diary(), Random(seed)
    # A tenth of the ids comes twice, as if two people had the same link.
    ids = [f"p{number}" for number in range(people)]
    ids += random.sample(ids, people // 10)
    random.shuffle(ids)
    server, over = Server(), threading.Event()
    try:
        clock = threading.Thread(target=_platform, args=(study, len(ids), diary, over, server, seed))
        clock.start()
        began = time.monotonic()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for number, person in enumerate(ids):
                options = {"study": study.code, "run": study.run.code, "person": person}
                pool.submit(_guarded, diary, options, Random(f"{seed}-{number}"), server.base)
        over.set()
        clock.join()
    finally:
        server.kill()
    outcomes = Counter(study.participations.values_list("outcome", flat=True))
    return {
        **reckoning(study, diary),
        "kills": diary.met["kill"],
        "clean_restarts": server.clean,
        "cookies_lost": diary.met["unknown browser"],
        "participants": sum(outcomes.values()),
        "outcomes": dict(outcomes),
        "votes": len(set(diary.votes)),
        "met": dict(diary.met),
        "seconds": round(time.monotonic() - began),
        "first_wrong": diary.wrong[:3],
    }


def _guarded(diary: Diary, options: dict[str, str], random: Random, base: str) -> None:
    try:
        come(diary, random=random, browser=lambda: Client(base), **options)
    except Exception as error:  # a person who meets an exception has met a fault of the site
        diary.wrong.append(repr(error))
    finally:
        diary.met["gone"] += 1


def _platform(study: Any, coming: int, diary: Diary, over: threading.Event, server: Server, seed: int) -> None:
    """Reports returns, lets some run out of time, and kills the server as the people come, till all have."""
    from datetime import timedelta

    from django.db import connection
    from django.utils.timezone import now

    from judging.studies.entering import free_places
    from judging.studies.walking import return_participants

    random, left_to_end = Random(seed + 1), int(coming * ENDED)
    while not over.wait(0.5):
        running = list(study.participations.filter(outcome="running").values_list("pk", "external_id"))
        for pk, external in random.sample(running, min(len(running), 1)):
            if left_to_end <= 0:
                break
            left_to_end -= 1
            if random.random() < 0.5:
                return_participants(study=study, ids=[external, external, "unknown"], by=None)
            else:
                study.participations.filter(pk=pk).update(started_at=now() - timedelta(days=1))
        free_places()
        if diary.met["kill"] < KILLS and diary.met["gone"] >= (diary.met["kill"] + 1) * coming / (KILLS + 1):
            diary.met["kill"] += 1
            server.restart()
    connection.close()


def main() -> int:
    parser = make_parser(__doc__, "1,000 people")
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--people", type=int)
    parser.add_argument("--seed", type=int, default=19)
    asked = parser.parse_args()
    people = asked.people or PEOPLE[asked.full]
    if asked.inside:
        figures = storm(people, seed=asked.seed)
        for name, value in figures.items():
            print(f"  {name:22}{value}", flush=True)
        write_json(asked.json, figures)
        return 0
    with tempfile.TemporaryDirectory(prefix="benchsite-study-") as folder, postgres(durable=True) as database:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "benchsite.settings",
            "VAR_DIR": folder,
            "DATABASE_URL": database.url,
            "LOG_LEVEL": "CRITICAL",
        }
        command = [sys.executable, "-m", "benchmarks.faults.study_storm", "--inside", *sys.argv[1:]]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
