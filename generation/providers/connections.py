"""HTTP/1.1 to models: h11 reads and writes the protocol, asyncio moves the bytes.

A general client has layers for what no call here does (proxies, redirects, cookies, pools that compare all their connections), and
they took more processor time than everything else that a crew does for a call.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Self
from urllib.parse import quote, urlsplit

import certifi
import h11

CONNECT_SECONDS = 10.0
# A server drops an idle connection sooner or later; ours is dropped first, so that a request never races its end.
IDLE_SECONDS = 5.0
NEXT_ADDRESS_SECONDS = 0.25  # where a host has several, and the first is slow to answer
LONGEST_HEAD = 100 * 1024
RESERVED = "/%:@!$&'()*+,;=~?"


class NoConnection(Exception):
    """Nothing was sent."""


class BrokenConnection(Exception):
    """The exchange ended before its answer did, or was no HTTP; the request may have arrived."""


@dataclass(frozen=True)
class Origin:
    """Where a connection leads to."""

    secure: bool
    host: str
    port: int

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, url: str) -> tuple[Self, str, str]:
        """The origin of an address, the name it has in requests, and the path that is asked for there."""
        try:
            parts = urlsplit(url)
            host, secure = (parts.hostname or "").encode("idna").decode(), parts.scheme == "https"
            usual = 443 if secure else 80
            origin = cls(secure, host, parts.port or usual)
        except ValueError as error:
            raise NoConnection(str(error)) from None
        name = f"[{host}]" if ":" in host else host
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        return origin, name if origin.port == usual else f"{name}:{origin.port}", quote(path, safe=RESERVED) or "/"


class Connections:
    """As many connections as there are requests at once; each is used again for the same origin."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._idle: defaultdict[Origin, list[_Connection]] = defaultdict(list)
        self._all: set[_Connection] = set()

    async def exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],  # by names in lower case
        body: bytes,
        *,
        begin: Callable[[int, dict[str, str]], None],
        take: Callable[[bytes], None],
    ) -> None:
        """Sends one request. `begin` is given the answer's status and headers, `take` its body piece by piece.

        Raises NoConnection or BrokenConnection, and what these two raise; it has no time limit of its own but to connect.
        """
        origin, name, path = Origin.of(url)
        connection = self._waiting(origin) or await self._open(origin)
        try:
            length = {"content-length": str(len(body))} if body else {}
            whole = {"host": name, **headers, **length}
            connection.send(h11.Request(method=method, target=path, headers=[*whole.items()]), body)
            await connection.receive(begin, take)
        except BaseException as error:
            self._drop(connection)
            if isinstance(error, h11.ProtocolError):
                raise BrokenConnection(str(error)) from None
            raise
        if connection.rest():
            self._idle[origin].append(connection)
        else:
            self._drop(connection)

    def _waiting(self, origin: Origin) -> _Connection | None:
        """The connection that was used last; if even that one is too old, so are all others."""
        idle = self._idle[origin]
        while idle:
            connection = idle.pop()
            if connection.usable(self._idle_seconds):
                return connection
            self._drop(connection)
        return None

    async def _open(self, origin: Origin) -> _Connection:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, connection = await asyncio.get_running_loop().create_connection(
                    _Connection,
                    origin.host,
                    origin.port,
                    ssl=_tls() if origin.secure else None,
                    happy_eyeballs_delay=NEXT_ADDRESS_SECONDS,
                )
        except (OSError, ValueError) as error:  # a time-out is an OSError; a name that is none, a ValueError
            raise NoConnection(str(error) or type(error).__name__) from None
        self._all.add(connection)
        return connection

    def _drop(self, connection: _Connection) -> None:
        self._all.discard(connection)
        connection.end()

    async def aclose(self) -> None:
        self._idle.clear()
        for connection in list(self._all):
            self._drop(connection)
        await asyncio.sleep(0)  # the loop closes their sockets


async def no_connection(url: str, *, seconds: float) -> str:
    """Why this address cannot be connected to, or nothing."""
    try:
        origin = Origin.of(url)[0]
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(origin.host, origin.port)
    except TimeoutError:
        return f"no answer for {seconds:g} s"
    except (NoConnection, OSError, ValueError) as error:
        return getattr(error, "strerror", None) or type(error).__name__
    writer.close()
    return ""


@cache
def _tls() -> ssl.SSLContext:
    """Reading all the certificates takes a while, and one reading serves every connection."""
    context = ssl.create_default_context(cafile=certifi.where())
    if authorities := os.environ.get("PROVIDER_CA"):
        context.load_verify_locations(authorities)
    context.set_alpn_protocols(["http/1.1"])
    return context


class _Connection(asyncio.Protocol):
    """One connection, for one request after the other."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._machine = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        self._arrival: asyncio.Future[None] | None = None  # what `receive` waits for
        self._idle_since: float | None = None
        self._lost: str | None = None  # why there will be no more bytes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self._idle_since is not None:
            self.transport.abort()  # nobody asked
            return
        self._machine.receive_data(data)
        self._wake()

    def eof_received(self) -> None:
        self._machine.receive_data(b"")
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self._lost = str(error or "")
        self._wake()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    def send(self, request: h11.Request, body: bytes) -> None:
        self._idle_since = None
        parts = [self._machine.send(request), self._machine.send(h11.Data(data=body)) if body else b""]
        parts.append(self._machine.send(h11.EndOfMessage()))
        self.transport.write(b"".join(part for part in parts if part))

    async def receive(self, begin: Callable[[int, dict[str, str]], None], take: Callable[[bytes], None]) -> None:
        while not isinstance(event := self._machine.next_event(), h11.EndOfMessage | h11.ConnectionClosed):
            if event is h11.NEED_DATA:
                if self._lost is not None:
                    raise BrokenConnection(self._lost)
                self._arrival = asyncio.get_running_loop().create_future()
                await self._arrival
            elif isinstance(event, h11.Response):
                begin(event.status_code, _texts(event.headers))
            elif isinstance(event, h11.Data):
                take(bytes(event.data))

    def rest(self) -> bool:
        """After an exchange: whether there can be another."""
        if self._lost is not None or self._machine.trailing_data != (b"", False):
            return False
        if (self._machine.our_state, self._machine.their_state) != (h11.DONE, h11.DONE):
            return False
        self._machine.start_next_cycle()
        self._idle_since = time.monotonic()
        return True

    def usable(self, idle_seconds: float) -> bool:
        closing = self._lost is not None or self.transport.is_closing()
        return not closing and self._idle_since is not None and time.monotonic() - self._idle_since < idle_seconds

    def end(self) -> None:
        """Politely after an exchange, at once in the middle of one."""
        if self._idle_since is None:
            self.transport.abort()
        else:
            self.transport.close()


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Names in lower case; several of one name as one."""
    texts: dict[str, str] = {}
    for raw_name, raw in headers:
        name, value = raw_name.decode("ascii"), raw.decode("latin-1")
        texts[name] = f"{texts[name]}, {value}" if name in texts else value
    return texts
