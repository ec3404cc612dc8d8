"""One connection a pool.

Works around a fault of httpcore 1.x: a pool of many connections compares each of them with every other at each request,
which at 64 connections took over 15 ms of processor time a call; a pool of one takes one or two. Once httpcore looks up a
free connection in constant time, a plain `httpx.AsyncHTTPTransport` does the same and this module can go.
"""

from __future__ import annotations

import ssl
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from functools import cache

import httpx

# A server drops an idle connection sooner or later; ours is dropped first, so that a request never races its end.
IDLE_SECONDS = 5.0
Origin = tuple[str, str, int | None]


@cache
def _tls() -> ssl.SSLContext:
    """Reading all the certificates takes a while, and one reading serves every pool."""
    return httpx.create_ssl_context(trust_env=False)


class OneConnectionPools(httpx.AsyncBaseTransport):
    """As many connections as there are requests at once; each is used again for the same origin."""

    def __init__(self) -> None:
        self._limits = httpx.Limits(max_connections=1, keepalive_expiry=IDLE_SECONDS)
        self._idle: defaultdict[Origin, list[httpx.AsyncHTTPTransport]] = defaultdict(list)
        self._all: set[httpx.AsyncHTTPTransport] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        idle = self._idle[(request.url.scheme, request.url.host, request.url.port)]
        pool = idle.pop() if idle else self._open()
        try:
            response = await pool.handle_async_request(request)
        except BaseException:
            self._all.discard(pool)
            await pool.aclose()
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)  # as of every asynchronous transport
        stream = _Borrowed(response.stream, lambda: idle.append(pool))
        return httpx.Response(
            response.status_code, headers=response.headers, stream=stream, extensions=response.extensions
        )

    def _open(self) -> httpx.AsyncHTTPTransport:
        pool = httpx.AsyncHTTPTransport(verify=_tls(), trust_env=False, limits=self._limits)
        self._all.add(pool)
        return pool

    async def aclose(self) -> None:
        pools, self._all = self._all, set()
        self._idle.clear()
        for pool in pools:
            await pool.aclose()


class _Borrowed(httpx.AsyncByteStream):
    """A body whose pool is free again once it is closed."""

    def __init__(self, stream: httpx.AsyncByteStream, give_back: Callable[[], None]) -> None:
        self._stream = stream
        self._give_back = give_back
        self._closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk

    async def aclose(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            await self._stream.aclose()
        finally:
            self._give_back()
