"""Judges who vote through the balancer while hosts disappear, and keep a ledger of what was acknowledged."""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import threading
import time
from typing import Any

from benchmarks.faults.topology import SITE, Topology
from benchmarks.speed.judging_crowd import OUTCOMES, TOKEN, Line

PATIENCE = 25.0  # seconds for one answer, then the same vote is sent again, as the page does
PAUSE = 1.0


class Crowd:
    """A thread with a judge for each session; `ledger` is what each acknowledged pair was told."""

    def __init__(self, site: Topology, run: str, sessions: list[str]) -> None:
        self.base, self.run = f"https://{site.net['balancer'].address}:443", run
        self.tls = ssl.create_default_context(cafile=str(site.folder / "balancer-files" / "fullchain.pem"))
        self.sessions, self.ledger = sessions, dict[str, str]()
        self.sent: dict[str, set[str]] = {}
        self.refused: list[str] = []
        self.again = 0
        self.stopping = False
        self.thread = threading.Thread(target=lambda: asyncio.run(self._work()), daemon=True)

    def __enter__(self) -> Crowd:
        self.thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Each has its last vote acknowledged first."""
        self.stopping = True
        self.thread.join()

    async def _work(self) -> None:
        await asyncio.gather(*(self._judge(session) for session in self.sessions))

    async def _judge(self, session: str) -> None:
        headers = {"Accept": "application/json", "X-CSRFToken": TOKEN, "Referer": f"https://{SITE}/", "Host": SITE}
        line = Line(self.base, headers | {"Cookie": f"sessionid={session}; csrftoken={TOKEN}"}, self.tls)
        shown = await self._asked(line, f"/judge/{self.run}/start/", {"have": ""})
        while shown and not self.stopping:
            code = shown["current"]["code"]
            have = (shown["next"] or {"code": ""})["code"]
            outcome = random.choice(OUTCOMES)
            self.sent.setdefault(code, set()).add(outcome)
            fields = {"code": code, "outcome": outcome, "response_ms": "900", "have": have}
            shown = await self._asked(line, "/judge/vote/", fields)
            if shown:
                self.ledger[code] = outcome
            await asyncio.sleep(PAUSE)
        line.hang_up()

    async def _asked(self, line: Line, path: str, fields: dict[str, str]) -> dict[str, Any]:
        """The answer, however often it takes; nothing where it is refused for good, which is noted."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            try:
                status, body = await asyncio.wait_for(line.request("POST", path, fields), PATIENCE)
            except (OSError, TimeoutError):
                status, body = 0, b""
                line.hang_up()
            if status == 200:
                return json.loads(body)
            if 400 <= status < 500 and status != 429:
                self.refused.append(f"{status} {body[:120]!r}")
                return {}
            self.again += 1
            await asyncio.sleep(PAUSE)
        self.refused.append(f"no answer for 300 s, the last {status}")
        return {}
