"""The only place that speaks HTTP to models: OpenAI-compatible chat at any base URL (OpenRouter, Ollama, demo, …)."""

from __future__ import annotations

import asyncio
import json
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from generation.money import nano
from generation.providers import ollama
from generation.providers.catalogue import KeyInfo, ModelInfo, listed_model
from generation.providers.connections import BrokenConnection, Connections, NoConnection
from generation.providers.errors import Kind, ProviderError, classify, printable
from generation.providers.refusals import Refusals
from generation.providers.replies import Exchange, Reply, own_key_nano, parse_json, read_reply, total_nano
from generation.providers.requests import Request, headers_of, key_of, payload_of, url_of

if TYPE_CHECKING:
    from generation.suites.profiles import Profile

CHAT = "/chat/completions"
BODY_LIMIT = 8 * 2**20
PIECE = 65536
SHORT_CALL_SECONDS = 20.0
SHORTEST_SECONDS = 1.0  # in which a question can be put again
HEADERS = {"accept": "*/*", "accept-encoding": "identity", "connection": "keep-alive", "user-agent": "benchsite"}


class Client:
    """One connection pool, made after the fork and used by every call of a process.

    No proxy or netrc from the environment, no redirects, no cookies kept, TLS except on loopback.
    """

    def __init__(self) -> None:
        self._connections = Connections()
        self._windows = ollama.Windows(self._fetch)
        self._refusals = Refusals()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._connections.aclose()

    async def ask(self, profile: Profile, request: Request, *, deadline: float) -> Reply:
        """The model's answer within `deadline` seconds in all, whatever else is asked; raises `ProviderError` and nothing else."""
        if request.schema is None:
            return await self._ask(profile, request, deadline=deadline)
        end = time.monotonic() + deadline
        while True:
            taken = self._refusals.taken_by(profile, request)
            try:
                return await self._ask(profile, taken, deadline=max(end - time.monotonic(), 0))
            except ProviderError as error:
                # With no time left, what was refused for nothing would become a call of unknown cost.
                if not self._refusals.learn(profile, taken, error) or end - time.monotonic() < SHORTEST_SECONDS:
                    raise

    async def _ask(self, profile: Profile, request: Request, *, deadline: float) -> Reply:
        end = time.monotonic() + deadline
        native = ollama.is_native(profile)
        path, body = ("/api/chat", ollama.payload_of(request)) if native else (CHAT, payload_of(profile, request))
        if native:
            await self._check_window(profile, request, deadline)
        left = max(end - time.monotonic(), 0)
        exchange = await self._exchange(profile, "POST", path, deadline=left, body=body, request=request)
        # The body was searched as it came; a key that a stream breaks into pieces only shows up after reading.
        key = key_of(profile)
        try:
            reply = read_reply(exchange)
        except ProviderError as error:
            error.hide(key)
            raise
        if native:
            left = end - time.monotonic()
            await self._windows.check_answer(profile, request, reply.prompt_tokens, seconds=left)
        return replace(reply, text=reply.text.replace(key, "[key]")) if key and key in reply.text else reply

    async def _check_window(self, profile: Profile, request: Request, deadline: float) -> None:
        try:
            async with asyncio.timeout(deadline):
                await self._windows.refuse_small(profile, request)
        except TimeoutError:
            detail = f"The server did not say within {deadline:g} s which window the model has."
            raise ProviderError("retry", "timeout", detail, cost_nano=0) from None

    async def lookup_cost(self, profile: Profile, generation_id: str) -> int | None:
        """What a past call cost, in nano-dollars; None while the provider does not know it (or never will).

        Raises `ProviderError` where the provider could not be asked: an outage says nothing about the cost.
        """
        if not generation_id or profile.kind not in ("openrouter", "demo"):
            return None
        try:
            answer = await self._fetch(profile, "/generation", params={"id": generation_id})
        except ProviderError as error:
            if error.kind == "pause_run" or (error.kind == "retry" and error.code != "bad_response"):
                raise
            return None
        data = answer.get("data")
        if not isinstance(data, dict):
            return None
        cost = data.get("total_cost")
        return total_nano(cost, own_key_nano(data.get("is_byok"), data.get("upstream_inference_cost"), cost))

    async def list_models(self, profile: Profile) -> dict[str, ModelInfo]:
        if ollama.is_native(profile):
            return await ollama.list_models(self._fetch, profile)
        answer = await self._fetch(profile, "/models")
        entries = answer.get("data")
        if not isinstance(entries, list):
            raise ProviderError("retry", "bad_response", "The list of models has no data.")
        named = [e for e in entries if isinstance(e, dict) and isinstance(e.get("id"), str)]
        return {e["id"]: listed_model(profile.kind, e) for e in named}

    async def describe_models(self, profile: Profile, model_ids: Iterable[str]) -> dict[str, ModelInfo]:
        """What the provider says of these models in full; those that it does not offer are left out."""
        listed = await self.list_models(profile)
        offered = [model_id for model_id in model_ids if model_id in listed]
        if not ollama.is_native(profile):
            return {model_id: listed[model_id] for model_id in offered}
        return {model_id: await ollama.show(self._fetch, profile, model_id) for model_id in offered}

    async def check_key(self, profile: Profile) -> KeyInfo:
        """Raises `ProviderError` (`bad_credentials`) where the key is missing or refused."""
        if profile.kind != "openrouter":
            await self.list_models(profile)
            return KeyInfo("", None, None)
        answer = await self._fetch(profile, "/key")
        fields = answer.get("data")
        data = fields if isinstance(fields, dict) else {}
        return KeyInfo(printable(str(data.get("label", "")), 80), nano(data.get("limit")), nano(data.get("usage")))

    async def _fetch(
        self,
        profile: Profile,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        method = "GET" if body is None else "POST"
        exchange = await self._exchange(profile, method, path, deadline=SHORT_CALL_SECONDS, params=params, body=body)
        text = exchange.body.decode("utf-8", "replace")
        payload = parse_json(text)
        error = payload.get("error") if isinstance(payload, dict) else None
        if exchange.status != 200 or error:
            raise classify(exchange.status, exchange.headers, error or payload, text)
        if not isinstance(payload, dict):
            raise ProviderError("retry", "bad_response", f"The body is not a JSON object: {text[:300]}")
        return payload

    async def _exchange(
        self,
        profile: Profile,
        method: str,
        path: str,
        *,
        deadline: float,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, str] | None = None,
        request: Request | None = None,
    ) -> Exchange:
        key = key_of(profile)
        address = url_of(profile, path) + (f"?{urlencode(params)}" if params else "")
        own = headers_of(profile, key, has_body=body is not None)
        headers = HEADERS | {name.lower(): value for name, value in own.items()}
        content = b"" if body is None else json.dumps(body, allow_nan=False).encode()
        seen = _Seen(key=key)
        try:
            async with asyncio.timeout(deadline):
                await self._connections.exchange(method, address, headers, content, begin=seen.begin, take=seen.take)
        except (TimeoutError, NoConnection, BrokenConnection) as error:
            failure = _failure(error, seen, deadline)
            if profile.kind == "ollama":
                failure.cost_nano = 0
            raise failure from None
        return Exchange(
            status=seen.status,
            headers=seen.headers,
            body=seen.body,
            asked_model=request.model_id if request else "",
            kind=profile.kind,
            price=request.price if request else None,
            latency_ms=round((time.monotonic() - seen.started) * 1000),
        )


@dataclass
class _Seen:
    """What has arrived so far of one response. The key is taken out of it before anybody looks."""

    key: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytearray = field(default_factory=bytearray)
    started: float = field(default_factory=time.monotonic)
    inflate: Callable[[bytes], Iterable[bytes]] = field(init=False, repr=False)

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        self.headers = {name: self.scrub(value) for name, value in headers.items()}
        self.inflate = _inflater(self.headers.get("content-encoding", "identity"))

    def take(self, chunk: bytes) -> None:
        for piece in self.inflate(chunk):
            self.raw += piece
            if len(self.raw) > BODY_LIMIT:
                raise _too_large(self)

    def scrub(self, text: str) -> str:
        return text.replace(self.key, "[key]") if self.key else text

    @property
    def body(self) -> bytes:
        return _spelt(self.key).sub(b"[key]", bytes(self.raw)) if self.key else bytes(self.raw)

    def error(self, kind: Kind, code: str, detail: str, *, cost_nano: int | None) -> ProviderError:
        return ProviderError(
            kind,
            code,
            self.scrub(detail),
            cost_nano=cost_nano,
            generation_id=printable(self.headers.get("x-generation-id", ""), 200),
            partial=self.body,
            status=self.status or None,
        )


def _spelt(key: str) -> re.Pattern[bytes]:
    """The key in a body, each of its letters as it is or as a JSON escape; a slash has a short one."""
    plain = (r"\\?/" if letter == "/" else re.escape(letter) for letter in key)
    letters = (rf"(?:{one}|(?i:\\u{ord(letter):04x}))" for one, letter in zip(plain, key, strict=True))
    return re.compile("".join(letters).encode())


def _failure(error: Exception, seen: _Seen, deadline: float) -> ProviderError:
    """A broken exchange as one of ours. A cost of None says: it may have been paid."""
    if isinstance(error, NoConnection):
        return seen.error("retry", "connection_error", f"No connection: {error}", cost_nano=0)
    if isinstance(error, TimeoutError):
        if seen.status:
            return seen.error("retry", "deadline", f"The answer was not complete after {deadline:g} s.", cost_nano=None)
        return seen.error("retry", "timeout", f"No answer within {deadline:g} s.", cost_nano=None)
    if seen.status:
        return seen.error("retry", "incomplete_body", f"The answer broke off: {error}", cost_nano=None)
    return seen.error(
        "retry", "connection_error", f"The connection broke: {error or type(error).__name__}", cost_nano=None
    )


def _too_large(seen: _Seen) -> ProviderError:
    del seen.raw[4096:]
    return seen.error("fatal_attempt", "response_too_large", f"The answer is over {BODY_LIMIT} bytes.", cost_nano=None)


def _inflater(encoding: str) -> Callable[[bytes], Iterable[bytes]]:
    """A function from a chunk as it came to small pieces of the body, so that a bomb is noticed piece by piece."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return lambda chunk: (chunk,)
    if name not in ("gzip", "x-gzip", "deflate"):
        detail = f"The body is encoded as {name}, which was not asked for."
        raise ProviderError("retry", "bad_response", detail, cost_nano=None)
    machine = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def inflate(chunk: bytes) -> Iterator[bytes]:
        try:
            while chunk:
                yield machine.decompress(chunk, PIECE)
                chunk = machine.unconsumed_tail
        except zlib.error:
            detail = "The body is not the gzip it claims to be."
            raise ProviderError("retry", "bad_response", detail, cost_nano=None) from None

    return inflate
