"""The demo provider as an HTTP server: OpenAI chat, models, generation costs and the bill."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

from generation.demo.answers import Asked, answer_to, read_question
from generation.demo.bill import Bill, Charge
from generation.demo.judges import JUDGES
from generation.demo.players import PLAYERS, Player

LARGEST_BODY = 2**20


@dataclass(frozen=True)
class Scripted:
    """A reply told beforehand, for tests. `hang` waits so many seconds first; `drop` closes without a word (after charging).

    `drip` waits so many seconds before each byte of the body.
    """

    status: int = 200
    body: Any = None  # None: what the player would have said
    headers: dict[str, str] = field(default_factory=dict)
    cost_nano: int | None = None  # None: the player's price for an answer, nothing for an error
    hang: float = 0.0
    drop: bool = False
    drip: float = 0.0


Plan = Callable[[int, dict[str, Any]], Scripted | None] | Sequence[Scripted | None]


@dataclass
class Knobs:
    """How the server behaves. `latency`: seconds for every call, or None for each player's own pace × `pace`."""

    latency: float | None = None
    pace: float = 1.0
    faults: float = 1.0
    plan: Plan = ()
    api_key: str = ""
    bill: Bill = field(default_factory=Bill)
    luck: Random = field(default_factory=Random)
    say: Callable[[Player, Asked, Random], str] = answer_to


@dataclass
class DemoServer:
    """A running server: its base URL for a profile, its bill, and how to stop it."""

    url: str
    bill: Bill
    stop: Callable[[], None]


def start(port: int = 0, *, host: str = "127.0.0.1", **knobs: Any) -> DemoServer:
    server = make_server(port, host=host, **knobs)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return DemoServer(f"http://{host}:{server.server_port}/v1", server.knobs.bill, stop)


def make_server(port: int = 0, *, host: str = "127.0.0.1", **knobs: Any) -> _Server:
    return _Server((host, port), Knobs(**knobs))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def __init__(self, address: tuple[str, int], knobs: Knobs) -> None:
        self.knobs = knobs
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in the middle is everyday life here, and not worth a traceback."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: 44 ms → 2 ms a call
    disable_nagle_algorithm = True
    timeout = 120

    def setup(self) -> None:
        super().setup()
        self.server.knobs.bill.connect()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: a run makes thousands of calls."""

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        query = parse_qs(where.query)
        page = where.path.removeprefix("/v1").rstrip("/")
        if page == "/models":
            self._send(200, {"object": "list", "data": [_listed(player) for player in (PLAYERS | JUDGES).values()]})
        elif page == "/bill":
            self._send(200, self.server.knobs.bill.to_dict(log=query.get("log") != ["0"]))
        elif page == "/generation":
            self._send_cost(query.get("id", [""])[0])
        elif page == "/key":
            self._send(200, {"data": {"label": "demo", "limit": None, "usage": 0}})
        else:
            self._send(404, _error(404, "There is no such page here."))

    def _send_cost(self, generation_id: str) -> None:
        line = self.server.knobs.bill.find(generation_id)
        if line is None:
            self._send(404, _error(404, "No such generation."))
        else:
            self._send(200, {"data": {"id": line.id, "model": line.model, "total_cost": line.cost_nano / 1e9}})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST_BODY:
            self.close_connection = True
            self._send(413, _error(413, "That is too long a question."))
            return
        raw = self.rfile.read(length)
        if len(raw) < length:
            return  # who asked was killed in the middle of the question
        if urlsplit(self.path).path != "/v1/chat/completions":
            self._send(404, _error(404, "There is no such page here."))
            return
        knobs = self.server.knobs
        number = knobs.bill.open()
        try:
            self._chat(raw, number, knobs)
        finally:
            knobs.bill.close()

    def _chat(self, raw: bytes, number: int, knobs: Knobs) -> None:
        try:
            body = json.loads(raw)
            asked = read_question(body)
        except (ValueError, TypeError, KeyError, AttributeError):
            self._send(400, _error(400, "The body must be a chat request in JSON."))
            return
        given = self.headers.get("Authorization", "")
        player = (PLAYERS | JUDGES).get(asked.model)
        scripted = _planned(knobs.plan, number, body)
        if knobs.api_key and given != f"Bearer {knobs.api_key}":
            scripted = Scripted(401, _error(401, "No such key."))
        elif player is None:
            scripted = Scripted(404, _error(404, f"There is no player called {asked.model[:80]}."))
        elif scripted is None and knobs.luck.random() < player.busy * knobs.faults:
            scripted = Scripted(429, _error(429, "Too many pencils at once."), {"Retry-After": "1"})
        self._play(scripted or Scripted(), player, asked, number)

    def _play(self, scripted: Scripted, player: Player | None, asked: Asked, number: int) -> None:
        knobs = self.server.knobs
        started = time.monotonic()
        completion, cost = _completion(knobs, player, asked, number) if player else ({}, 0)
        if scripted.status != 200:
            cost = 0
        cost = cost if scripted.cost_nano is None else scripted.cost_nano
        generation_id = f"gen-demo-{asked.digest}-{number}"
        knobs.bill.charge(
            Charge(generation_id, asked.model, asked.digest, scripted.status, cost, "Authorization" in self.headers)
        )
        wait = scripted.hang or (_pause(knobs, player, asked) if scripted.status == 200 else 0.0)
        time.sleep(max(0.0, wait - (time.monotonic() - started)))
        if scripted.drop:
            self.close_connection = True
            return
        body = completion if scripted.body is None else scripted.body
        self._send(scripted.status, body, {"X-Generation-Id": generation_id, **scripted.headers}, drip=scripted.drip)

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None, *, drip: float = 0.0) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        for piece in (raw[at : at + 1] for at in range(len(raw))) if drip else (raw,):
            self.wfile.write(piece)
            self.wfile.flush()
            time.sleep(drip)


def _planned(plan: Plan, number: int, body: dict[str, Any]) -> Scripted | None:
    if callable(plan):
        return plan(number, body)
    return plan[number] if number < len(plan) else None


def _completion(knobs: Knobs, player: Player, asked: Asked, number: int) -> tuple[dict[str, Any], int]:
    text = knobs.say(player, asked, asked.random(player))
    prompt_tokens = tokens_in("".join(asked.texts)) + 4 * len(asked.texts)
    completion_tokens, finish = tokens_in(text), "stop"
    if asked.max_tokens is not None and completion_tokens > asked.max_tokens:
        text, completion_tokens, finish = text[: asked.max_tokens * 3], asked.max_tokens, "length"
    cost = player.cost_nano(prompt_tokens, completion_tokens)
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "cost": cost / 1e9,
    }
    head = {"id": f"gen-demo-{asked.digest}-{number}", "object": "chat.completion", "created": int(time.time())}
    return {**head, "model": player.name, "provider": "Demo", "choices": [choice], "usage": usage}, cost


def tokens_in(text: str) -> int:
    """About three characters a token: near enough to what tokenizers make of drawings, and never 0."""
    return len(text) // 3 + 1


def _pause(knobs: Knobs, player: Player | None, asked: Asked) -> float:
    if knobs.latency is not None:
        return knobs.latency
    return 0.0 if player is None else Random(asked.digest).uniform(*player.seconds) * knobs.pace


def _listed(player: Player) -> dict[str, Any]:
    pricing = {"prompt": str(player.price_in / 10**6), "completion": str(player.price_out / 10**6), "request": "0"}
    return {"id": player.name, "object": "model", "owned_by": "demo", "pricing": pricing}


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}
