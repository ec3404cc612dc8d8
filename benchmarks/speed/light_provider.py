"""python -m benchmarks.speed.light_provider LATENCY: a provider that costs next to nothing, so that drawing is measured and not the demo.

It gives answers of a demo player, made beforehand, in the demo provider's form, each after the same time. Prints its address.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from itertools import cycle
from random import Random

from generation.demo.answers import answer_to, read_question
from generation.demo.players import PLAYERS
from generation.demo.server import tokens_in

PLAYER = PLAYERS["demo/journeyman"]
ANSWERS = 200


def made_answers() -> list[bytes]:
    """Bodies of the player's answers, refusals and mistakes among them."""
    return [_body(n) for n in range(ANSWERS)]


def _body(number: int) -> bytes:
    words = f"Draw a cat, version {number}, in ASCII art"
    asked = read_question({"model": PLAYER.name, "messages": [{"role": "user", "content": words}], "seed": number})
    text = answer_to(PLAYER, asked, Random(number))
    tokens = {"prompt_tokens": tokens_in(words), "completion_tokens": tokens_in(text)}
    usage = {**tokens, "cost": PLAYER.cost_nano(*tokens.values()) / 1e9}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    head = {"object": "chat.completion", "model": PLAYER.name, "provider": "Demo"}
    return json.dumps({**head, "choices": [choice], "usage": usage}).encode()


class Bill:
    """What was asked so far."""

    def __init__(self) -> None:
        self.requests = self.in_flight = self.most_in_flight = 0

    def open(self) -> int:
        self.requests += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        return self.requests

    def to_json(self) -> bytes:
        return json.dumps({**vars(self), "cpu_seconds": time.process_time()}).encode()


class Answering(asyncio.Protocol):
    """One connection: a whole request in, an answer out after the latency."""

    transport: asyncio.Transport

    def __init__(self, bill: Bill, bodies: cycle[bytes], latency: float) -> None:
        self.bill, self.bodies, self.latency = bill, bodies, latency
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        _, has_body, length = head.lower().partition(b"content-length:")
        if not end or (has_body and len(body) < int(length.split()[0])):
            return
        self.received = b""
        if head.startswith(b"GET"):
            self.answer(self.bill.to_json())
            return
        number = self.bill.open()
        asyncio.get_running_loop().call_later(self.latency, self.close_call, number)

    def close_call(self, number: int) -> None:
        self.bill.in_flight -= 1
        self.answer(next(self.bodies), f"X-Generation-Id: gen-light-{number}\r\n")

    def answer(self, body: bytes, more: str = "") -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}Content-Length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)


async def serve(latency: float) -> None:
    bill, bodies = Bill(), cycle(made_answers())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Answering(bill, bodies, latency), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
