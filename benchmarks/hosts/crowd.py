"""Judges who vote through the balancer while hosts disappear, and keep a ledger of what was acknowledged."""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import threading
import time
from collections import Counter
from typing import Any

from benchmarks.hosts.topology import SITE, Topology
from benchmarks.speed.judging_crowd import OUTCOMES, TOKEN, Line

PATIENCE = 25.0  # seconds for one answer, then the same vote is sent again, as the page does
PAUSE = 1.0


class Crowd:
    """A thread with a judge for each session; `ledger` is what each acknowledged pair was told."""

    def __init__(self, site: Topology, run: str, sessions: list[str], *, pause: float = PAUSE) -> None:
        self.pause = pause
        self.base, self.run = f"https://{site.net['balancer'].address}:443", run
        self.tls = ssl.create_default_context(cafile=str(site.folder / "balancer-files" / "fullchain.pem"))
        self.sessions, self.ledger = sessions, dict[str, str]()
        self.sent: dict[str, set[str]] = {}
        self.refused: list[str] = []
        self.again = Counter[str]()  # what a vote was answered that was sent once more
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

    def compare(self, run: Any) -> dict[str, Any]:
        """What was acknowledged against what is stored."""
        from judging.models import Vote
        from judging.pairs.tallies import differences

        stored = list(Vote.objects.filter(run=run).values_list("matchup__code", "outcome"))
        there, codes = set(stored), Counter(code for code, _ in stored)
        return {
            "votes": len(self.ledger),
            "votes_sent_again": self.again.total(),
            "sent_again_after": dict(self.again),
            "votes_lost": sum((code, outcome) not in there for code, outcome in self.ledger.items()),
            "votes_wrong": sum(number > 1 for number in codes.values())
            + sum(outcome not in self.sent.get(code, ()) for code, outcome in stored),
            "refused": self.refused,
            "tally_rows_wrong": differences(run),
        }

    async def _work(self) -> None:
        await asyncio.gather(*(self._judge(session) for session in self.sessions))

    async def _judge(self, session: str) -> None:
        headers = {"Accept": "application/json", "X-CSRFToken": TOKEN, "Referer": f"https://{SITE}/", "Host": SITE}
        await asyncio.sleep(random.uniform(0, self.pause))
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
            if not self.stopping:
                await asyncio.sleep(self.pause)
        line.hang_up()

    async def _asked(self, line: Line, path: str, fields: dict[str, str]) -> dict[str, Any]:
        """The answer, however often it takes; nothing where it is refused for good, which is noted."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            try:
                status, body = await asyncio.wait_for(line.request("POST", path, fields), PATIENCE)
            except (OSError, TimeoutError) as error:
                status, body, answer = 0, b"", type(error).__name__
                line.hang_up()
            else:
                answer = str(status)
            if status == 200:
                return json.loads(body)
            if 400 <= status < 500 and status != 429:
                self.refused.append(f"{status} {body[:120]!r}")
                return {}
            self.again[answer] += 1
            await asyncio.sleep(PAUSE)
        self.refused.append(f"no answer for 300 s, the last {status}")
        return {}
