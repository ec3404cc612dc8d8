"""Simulated judges over HTTP: each has a session and its own pace, votes at random, and keeps count of what was taken in.

They share the cores with the server that is measured, so a request is written and read by hand: about 0.2 ms a vote.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

OUTCOMES = ("left", "right", "tie", "fail")
TOKEN = "b" * 32  # the CSRF cookie and header only have to be equal
LEAST_PAUSE = 0.31  # the server takes one vote in 300 ms
RETRIES = 3
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.I)
_CLOSES = re.compile(rb"\r\nconnection: close", re.I)


@dataclass
class Tale:
    """What a crowd met: seconds of each vote, codes that were taken in, answers that were neither taken nor refused."""

    seconds: list[float] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    doubles: int = 0
    reconnects: int = 0
    elapsed: float = 0.0
    cpu_seconds: float = 0.0  # of the crowd itself

    def quantile(self, share: float) -> float:
        ordered = sorted(self.seconds) or [0.0]
        return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


class Line(asyncio.Protocol):
    """A kept connection, as a browser has it: one request at a time, dialled again once the server has dropped it."""

    def __init__(self, base: str, headers: dict[str, str], tls: ssl.SSLContext | None = None) -> None:
        address = urlsplit(base)
        self.tls = {"ssl": tls, "server_hostname": headers["Host"]} if tls else {}
        self.host, self.port = address.hostname, address.port
        self.head = "".join(f"{name}: {value}\r\n" for name, value in ({"Host": address.netloc} | headers).items())
        self.transport: asyncio.Transport | None = None
        self.answer: asyncio.Future[tuple[int, bytes]] | None = None
        self.received = bytearray()

    def data_received(self, data: bytes) -> None:
        self.received += data
        end = self.received.find(b"\r\n\r\n") + 4
        length = _LENGTH.search(self.received, 0, end) if end > 3 else None
        if length and len(self.received) >= end + int(length[1]) and self.answer and not self.answer.done():
            body = bytes(self.received[end : end + int(length[1])])
            self.answer.set_result((int(self.received[9:12]), body))
            if self.received.startswith(b"HTTP/1.0") or _CLOSES.search(self.received, 0, end):
                self.hang_up()
            self.received.clear()

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        if self.answer and not self.answer.done():
            self.answer.set_exception(error or ConnectionResetError("the server hung up"))

    async def request(self, method: str, path: str, fields: dict[str, str] | None = None) -> tuple[int, bytes]:
        """The status and the body of the answer to a form."""
        return await self.send(method, path, urlencode(fields or {}).encode(), "application/x-www-form-urlencoded")

    async def send(self, method: str, path: str, body: bytes, kind: str) -> tuple[int, bytes]:
        loop = asyncio.get_running_loop()
        if self.transport is None or self.transport.is_closing():
            self.transport, _ = await loop.create_connection(lambda: self, self.host, self.port, **self.tls)
        about = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n" if body else ""
        self.received.clear()
        self.answer = loop.create_future()
        self.transport.write(f"{method} {path} HTTP/1.1\r\n{self.head}{about}\r\n".encode() + body)
        return await self.answer

    def hang_up(self) -> None:
        if self.transport:
            self.transport.abort()
            self.transport = None


class Judge:
    """One person at the judge's page, with a second connection for clicks at the same moment."""

    def __init__(self, base: str, run: str, session: str) -> None:
        headers = {"Accept": "application/json", "X-CSRFToken": TOKEN, "Referer": base}
        headers["Cookie"] = f"sessionid={session}; csrftoken={TOKEN}"
        self.lines = (Line(base, headers), Line(base, headers))
        self.run, self.code, self.have = run, "", ""

    async def sit_down(self, tale: Tale, *, look: bool = False) -> None:
        """Take a seat, or where one was taken before, the same pair again; `look` opens the page too."""
        status, body = await self.send("POST", f"/judge/{self.run}/start/", {"have": ""}, tale)
        if status != 200:
            raise RuntimeError(f"start: {status} {body[:200]!r}")
        self.take(body)
        if look and (await self.send("GET", f"/judge/{self.run}/", {}, tale))[0] != 200:
            raise RuntimeError("The judge's page does not open.")

    def take(self, body: bytes) -> None:
        """Like the page, keep the pair behind this one too, and say so with the vote: it is not sent again."""
        line = json.loads(body)
        self.code, self.have = line["current"]["code"], (line["next"] or {"code": ""})["code"]

    async def send(
        self, method: str, path: str, fields: dict[str, str], tale: Tale, *, tab: int = 0
    ) -> tuple[int, bytes]:
        """As the page does it: a connection that breaks is tried again with the very same vote."""
        for _ in range(RETRIES):
            try:
                return await self.lines[tab].request(method, path, fields)
            except OSError:
                tale.reconnects += 1
        return await self.lines[tab].request(method, path, fields)

    async def vote(self, tale: Tale, *, twice: bool = False) -> None:
        fields = {"code": self.code, "outcome": random.choice(OUTCOMES), "response_ms": "900", "have": self.have}
        start = time.perf_counter()
        sent = [self.send("POST", "/judge/vote/", fields, tale, tab=tab) for tab in range(1 + twice)]
        answers = await asyncio.gather(*sent) if twice else [await sent[0]]
        tale.seconds.append(time.perf_counter() - start)
        taken = [body for status, body in answers if status == 200]
        tale.errors += [f"{status} {body[:80]!r}" for status, body in answers if status not in (200, 429)]
        tale.doubles += max(len(taken) - 1, 0)
        if taken:
            tale.codes.append(self.code)
            self.take(taken[0])

    def leave(self) -> None:
        for line in self.lines:
            line.hang_up()


async def crowd(
    base: str,
    run: str,
    sessions: list[str],
    *,
    every: float,
    votes: int,
    doubles: float = 0.0,
    look: bool = False,
    seated: Callable[[], object] = lambda: None,
) -> Tale:
    """All judges sit down; then all vote until `votes` votes are in, each waiting out the rest of `every` seconds.

    A judge who had to wait for the answer looks at the next pair for the least time that the server allows.
    """
    tale = Tale()
    judges = [Judge(base, run, session) for session in sessions]

    async def work(judge: Judge) -> None:
        try:
            await asyncio.sleep(random.random() * every)
            while len(tale.codes) + len(tale.errors) < votes:
                due = time.perf_counter() + every
                await judge.vote(tale, twice=random.random() < doubles)
                await asyncio.sleep(max(due - time.perf_counter(), LEAST_PAUSE))
        except (OSError, ValueError, KeyError, TypeError) as error:
            tale.errors.append(repr(error)[:200])

    for judge in judges:
        await judge.sit_down(tale, look=look)
    seated()
    tale.reconnects = 0
    start, spent = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work(judge) for judge in judges))
    tale.elapsed, tale.cpu_seconds = time.perf_counter() - start, time.process_time() - spent
    for judge in judges:
        judge.leave()
    return tale


async def one_after_another(base: str, run: str, sessions: list[str], rounds: int) -> list[float]:
    """Seconds of votes cast one at a time by judges in turn, so that nothing but the server is measured."""
    judges = [Judge(base, run, session) for session in sessions]
    tale = Tale()
    for judge in judges:
        await judge.sit_down(tale)
    for _ in range(rounds):
        begun = time.perf_counter()
        for judge in judges:
            await judge.vote(tale)
        await asyncio.sleep(max(LEAST_PAUSE - (time.perf_counter() - begun), 0))
    for judge in judges:
        judge.leave()
    if tale.errors:
        raise RuntimeError(tale.errors[0])
    return tale.seconds
