"""Servers that speak the providers' own protocols on this machine: OpenRouter's router and Ollama's native API.

Written from their documentation: what they take, what they leave out, and how they cut a prompt that is too long.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from tests.listening import Listening

DRAWING = "```\n/\\_/\\\n( o.o )\n```"


class Fake:
    """What every fake keeps: each request as (method, path, headers, body)."""

    prefix = ""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], dict[str, Any]]] = []
        self.url = ""

    def bodies(self, path: str) -> list[dict[str, Any]]:
        return [body for _, where, _, body in self.requests if where == path]

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        raise NotImplementedError


T = TypeVar("T", bound=Fake)


@contextmanager
def serving(fake: T) -> Iterator[T]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._reply("GET", {})

        def do_POST(self) -> None:
            self._reply("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, method: str, body: dict[str, Any]) -> None:
            parts = urlsplit(self.path)
            path = parts.path.removeprefix(fake.prefix)
            fake.requests.append((method, path, {k.lower(): v for k, v in self.headers.items()}, body))
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            status, answer = fake.answer(method, path, query, body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with Listening(Handler) as server:
        fake.url = f"{server.url}{fake.prefix}"
        yield fake


class OpenRouter(Fake):
    """The router: `usage` is added to each answer, `catalogue` is its list of models, `status` breaks the list, and `pause`
    is how many seconds that takes."""

    prefix = "/api/v1"

    def __init__(self) -> None:
        super().__init__()
        self.usage: dict[str, Any] = {}
        self.catalogue = [
            listed("acme/drawer-1", "Acme: Drawer 1", 0.000001, 0.000004, images=False),
            listed("acme/drawer-2-vision", "Acme: Drawer 2 Vision", 0.000003, 0.000015, images=True),
            listed("blocks/cubist:free", "Blocks: Cubist (free)", 0, 0, images=False, weights="blocks/cubist"),
        ]
        self.status, self.pause = 200, 0.0
        self.generations: dict[str, dict[str, Any]] = {}

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        if self.status != 200:
            return self.status, {"error": {"code": self.status, "message": "The router is down."}}
        if path == "/models":
            time.sleep(self.pause)
            return 200, {"data": self.catalogue}
        if path == "/key":
            return 200, {"data": {"label": "sk-or-v1-012...789", "limit": 10, "usage": 2.5}}
        if path == "/generation":
            record = self.generations.get(query.get("id", ""))
            return (200, {"data": record}) if record else (404, {"error": {"code": 404, "message": "not found"}})
        if path == "/chat/completions":
            return 200, self._completion(body)
        return 404, {"error": {"code": 404, "message": "no such endpoint"}}

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        number = len(self.bodies("/chat/completions"))
        return {
            "id": f"gen-{number}",
            "object": "chat.completion",
            "model": body["model"],
            "provider": "Acme Cloud",
            "system_fingerprint": "fp_44709d6fcb",
            "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": DRAWING}}],
            "usage": {
                "prompt_tokens": 194,
                "completion_tokens": 82,
                "total_tokens": 276,
                "cost": 0.00095,
                "is_byok": False,
                "cost_details": {"upstream_inference_cost": 0.00095},
                "prompt_tokens_details": {"cached_tokens": 128, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 40},
                **self.usage,
            },
        }


def listed(model_id: str, name: str, price_in: float, price_out: float, *, images: bool, weights: str = "") -> Any:
    """An entry of OpenRouter's catalogue; prices are strings, in dollars per token."""
    return {
        "id": model_id,
        "name": name,
        "created": 1_760_000_000,
        "context_length": 131_072,
        "hugging_face_id": weights,
        "architecture": {"input_modalities": ["text", "image"] if images else ["text"], "output_modalities": ["text"]},
        "pricing": {"prompt": f"{price_in:f}", "completion": f"{price_out:f}", "request": "0"},
    }


class Ollama(Fake):
    """A local server with one model: it counts words as tokens (or `tokens_a_word`), and cuts a prompt at its window without a word.

    - `context` is what the model was built for; `ceiling` is the largest window that the server really loads.
    - A server that is `old` knows no `truncate`, and does not say which window it loaded.
    - Without `counts_kept` it counts only what it did not keep of the last prompt, as servers before 0.2 do.
    - `pause` is how many seconds it takes for anything but an answer.
    """

    def __init__(
        self,
        *,
        context: int = 32_768,
        ceiling: int | None = None,
        old: bool = False,
        version: str = "0.33.2",
        pause: float = 0,
    ) -> None:
        super().__init__()
        self.context, self.ceiling, self.old, self.version, self.pause = context, ceiling, old, version, pause
        self.capabilities = ["completion"]
        self.counts_kept = True
        self.tokens_a_word = 1
        self.answer_text = DRAWING
        self.done_reason = "stop"
        self.window = 0

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        if path != "/api/chat":
            time.sleep(self.pause)
        if path == "/api/version":
            return 200, {"version": self.version}
        if path == "/api/tags":
            return 200, {"models": [{"name": "drawer:latest", "model": "drawer:latest", "digest": "8eeb52dfb3bb" * 5}]}
        if path in ("/api/show", "/api/chat") and body.get("model") not in ("drawer", "drawer:latest"):
            return 404, {"error": f"model '{body.get('model')}' not found"}
        if path == "/api/show":
            return 200, {
                "details": {"family": "llama", "parameter_size": "3.2B", "quantization_level": "Q4_K_M"},
                "model_info": {"general.architecture": "llama", "llama.context_length": self.context},
                "capabilities": self.capabilities,
            }
        if path == "/api/ps":
            loaded = {"name": "drawer:latest", "model": "drawer:latest", "context_length": self.window}
            return (404, {"error": "404 page not found"}) if self.old else (200, {"models": [loaded]})
        if path == "/api/chat":
            return self._chat(body)
        return 404, {"error": "404 page not found"}

    def _chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        wanted = body["options"].get("num_ctx", 4096)
        self.window = min(wanted, self.context, self.ceiling or wanted)
        tokens = sum(self.tokens_a_word * len(message["content"].split()) + 4 for message in body["messages"])
        if tokens > self.window:
            if body.get("truncate") is False and not self.old:
                return 400, {"error": "the input length exceeds the context length"}
            tokens = self.window // 2 + 2
        if not self.counts_kept and len(self.bodies("/api/chat")) > 1:
            tokens = 1
        return 200, {
            "model": body["model"],
            "created_at": "2026-11-18T02:00:00Z",
            "message": {"role": "assistant", "content": self.answer_text},
            "done": True,
            "done_reason": self.done_reason,
            "prompt_eval_count": tokens,
            "eval_count": 20,
        }
