"""Connections are used again, and only while nobody can have closed or spoiled them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from generation.providers.connections import BrokenConnection, Connections, NoConnection

ANSWER = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nhi"


class Server:
    """Answers every request with the same bytes; counts connections and keeps what it was sent.

    `after` is sent once the answer `was_read`, as nothing was asked.
    """

    def __init__(self, answer: bytes, *, after: bytes = b"", closes: bool = False) -> None:
        self.answer, self.after, self.closes = answer, after, closes
        self.opened, self.received, self.url = 0, b"", ""
        self.was_read, self.visits = asyncio.Event(), list[asyncio.Task]()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self.visits.append(asyncio.current_task())
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                self.received += data
                writer.write(self.answer)
                await writer.drain()
                if self.after:
                    await self.was_read.wait()
                    writer.write(self.after)
                if self.closes:
                    break
        writer.close()


@asynccontextmanager
async def running(server: Server):
    async with await asyncio.start_server(server, "127.0.0.1", 0) as listener:
        server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1/x?y=1"
        try:
            yield
        finally:
            await asyncio.gather(*server.visits)


def ask_twice(server: Server, *, is_spoiled: bool = False, body: bytes = b"{}", idle_seconds: float = 60.0):
    """What was heard; a connection that will be spoiled is asked again when it is."""

    async def twice():
        heard = []
        async with asyncio.timeout(60), running(server):
            client = Connections(idle_seconds=idle_seconds)
            try:
                for _ in range(2):
                    await client.exchange(
                        "POST", server.url, {"a": "b"}, body, begin=lambda *head: heard.append(head), take=heard.append
                    )
                    server.was_read.set()
                    while is_spoiled and any(connection.usable(idle_seconds) for connection in client._all):
                        await asyncio.sleep(0)
            finally:
                await client.aclose()
        return heard

    return asyncio.run(twice())


def test_a_connection_is_used_again():
    server = Server(ANSWER)

    heard = ask_twice(server)

    assert heard == 2 * [(200, {"x-a": "1, 2", "content-length": "2"}), b"hi"]
    assert server.opened == 1
    assert server.received.startswith(b"POST /v1/x?y=1 HTTP/1.1\r\n")
    assert server.received.count(b"\r\n\r\n{}") == 2


@pytest.mark.parametrize(
    "server",
    [
        Server(ANSWER, after=b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"),
        Server(ANSWER, closes=True),
        Server(ANSWER.replace(b"X-A: 1", b"Connection: close"), closes=True),
    ],
    ids=["spoke unasked", "closed", "said that it closes"],
)
def test_a_spoiled_connection_is_not_used_again(server):
    heard = ask_twice(server, is_spoiled=True)

    assert [body for body in heard if isinstance(body, bytes)] == [b"hi", b"hi"]
    assert server.opened == 2


def test_a_connection_that_rested_too_long_is_not_used_again():
    server = Server(ANSWER)

    ask_twice(server, idle_seconds=0.0)

    assert server.opened == 2


@pytest.mark.parametrize(
    "answer",
    [b"", b"220 mail.example.org ESMTP\r\n", ANSWER[:-1], b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000],
    ids=["nothing", "no HTTP", "half a body", "a head without end"],
)
def test_what_is_no_whole_answer_breaks_the_exchange(answer):
    with pytest.raises(BrokenConnection):
        ask_twice(Server(answer, closes=True))


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/", "http://[::1/", f"http://{'a' * 70}.example/"])
def test_an_address_that_is_none_sends_nothing(url):
    async def ask():
        await Connections().exchange("GET", url, {}, b"", begin=print, take=print)

    with pytest.raises(NoConnection):
        asyncio.run(ask())
