"""Simulated judges over HTTP: each has a session and its own pace, votes at random, and keeps count of what was taken in."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field

import httpx

OUTCOMES = ("left", "right", "tie", "fail")
TOKEN = "b" * 32  # the CSRF cookie and header only have to be equal
LEAST_PAUSE = 0.31  # the server takes one vote in 300 ms
KEEP = 1.0  # gunicorn drops an idle connection after 2 s; a browser would open a new one by itself

RETRIES = 3


@dataclass
class Tale:
    """What a crowd met: seconds of each vote, codes that were taken in, answers that were neither taken nor refused."""

    seconds: list[float] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    doubles: int = 0
    reconnects: int = 0
    elapsed: float = 0.0

    def quantile(self, share: float) -> float:
        ordered = sorted(self.seconds) or [0.0]
        return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


class Judge:
    """One person at the judge's page."""

    def __init__(self, base: str, run: str, session: str, limits: httpx.Limits) -> None:
        cookies = {"sessionid": session, "csrftoken": TOKEN}
        headers = {"Accept": "application/json", "X-CSRFToken": TOKEN, "Referer": base}
        # No TLS here, and reading the authorities' certificates for each judge would cost more than their first votes.
        self.client = httpx.AsyncClient(
            base_url=base, cookies=cookies, headers=headers, timeout=60, limits=limits, verify=False
        )
        self.run, self.code, self.have = run, "", ""

    async def sit_down(self) -> None:
        answer = await self.client.post(f"/judge/{self.run}/start/")
        answer.raise_for_status()
        self.take(answer)

    def take(self, answer: httpx.Response) -> None:
        """Like the page, keep the pair behind this one too, and say so with the vote: it is not sent again."""
        line = answer.json()
        self.code, self.have = line["current"]["code"], (line["next"] or {"code": ""})["code"]

    async def send(self, data: dict[str, str], tale: Tale) -> httpx.Response:
        """As the page does it: a connection that breaks is tried again with the very same vote."""
        for _ in range(RETRIES):
            try:
                return await self.client.post("/judge/vote/", data=data)
            except httpx.TransportError:
                tale.reconnects += 1
        return await self.client.post("/judge/vote/", data=data)

    async def vote(self, tale: Tale, *, twice: bool = False) -> None:
        data = {"code": self.code, "outcome": random.choice(OUTCOMES), "response_ms": "900", "have": self.have}
        start = time.perf_counter()
        answers = await asyncio.gather(*(self.send(data, tale) for _ in range(1 + twice)))
        tale.seconds.append(time.perf_counter() - start)
        taken = [answer for answer in answers if answer.status_code == 200]
        tale.errors += [f"{a.status_code} {a.text[:80]}" for a in answers if a.status_code not in (200, 429)]
        tale.doubles += max(len(taken) - 1, 0)
        if taken:
            tale.codes.append(self.code)
            self.take(taken[0])


async def crowd(base: str, run: str, sessions: list[str], *, every: float, votes: int, doubles: float = 0.0) -> Tale:
    """All judges sit down; then all vote until `votes` votes are in, each waiting out the rest of `every` seconds.

    A judge who had to wait for the answer looks at the next pair for the least time that the server allows.
    """
    tale = Tale()
    judges = [Judge(base, run, session, httpx.Limits(max_connections=2, keepalive_expiry=KEEP)) for session in sessions]

    async def work(judge: Judge) -> None:
        try:
            await asyncio.sleep(random.random() * every)
            while len(tale.codes) + len(tale.errors) < votes:
                due = time.perf_counter() + every
                await judge.vote(tale, twice=random.random() < doubles)
                await asyncio.sleep(max(due - time.perf_counter(), LEAST_PAUSE))
        except (httpx.HTTPError, KeyError, TypeError) as error:
            tale.errors.append(repr(error)[:200])

    for judge in judges:
        await judge.sit_down()
    start = time.perf_counter()
    await asyncio.gather(*(work(judge) for judge in judges))
    tale.elapsed = time.perf_counter() - start
    await asyncio.gather(*(judge.client.aclose() for judge in judges))
    return tale


async def one_after_another(base: str, run: str, sessions: list[str], rounds: int) -> list[float]:
    """Seconds of votes cast one at a time by judges in turn, so that nothing but the server is measured."""
    judges = [Judge(base, run, session, httpx.Limits(max_connections=1, keepalive_expiry=KEEP)) for session in sessions]
    tale = Tale()
    for judge in judges:
        await judge.sit_down()
    for _ in range(rounds):
        begun = time.perf_counter()
        for judge in judges:
            await judge.vote(tale)
        await asyncio.sleep(max(LEAST_PAUSE - (time.perf_counter() - begun), 0))
    for judge in judges:
        await judge.client.aclose()
    if tale.errors:
        raise RuntimeError(tale.errors[0])
    return tale.seconds
