"""A provider's answer, read: HTTP status, headers and body in; a `Reply` or a `ProviderError` out. Never anything else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from generation.money import Price, cost_of_tokens, nano
from generation.providers.errors import ProviderError, classify, printable, text_of
from generation.providers.ollama import completion_of

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# A provider may answer `gpt-x` with the dated name of the same model: `gpt-x-2024-08-06`, `gpt-x-0613`.
DATED = re.compile(r"-(\d{4}-\d\d-\d\d|\d{8}|\d{6}|\d{4}|\d{3}|latest)$")


@dataclass(frozen=True)
class Reply:
    """One answer that can be stored: its text, and what the provider says it used, served and charged.

    - `cost_nano` is None where the cost is not known (then `flags` has `cost_unknown`); it has everything we pay, to whomever.
    - `text` never holds a lone surrogate, so it can always be encoded; `raw_bytes` is the body as it came.
    """

    text: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_nano: int | None
    generation_id: str
    served_model: str
    served_provider: str
    flags: tuple[str, ...]
    latency_ms: int
    raw_bytes: bytes
    reasoning_tokens: int | None = None  # the part of completion_tokens that nobody sees
    cached_tokens: int | None = None  # the part of prompt_tokens that the provider had at hand
    own_key_nano: int | None = None  # the part of the cost that the provider behind a router charges to our own key
    fingerprint: str = ""


@dataclass(frozen=True)
class Exchange:
    """What is known around a body: who was asked, at what price, and what the headers said."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    asked_model: str = ""
    kind: str = "openai"
    price: Price | None = None
    latency_ms: int = 0


def read_reply(exchange: Exchange) -> Reply:
    text, flags = _decode(exchange.body)
    payload = _payload(exchange, text)
    usage = payload.get("usage") if isinstance(payload, dict) else None
    money = _money(exchange, usage if isinstance(usage, dict) else {})
    generation_id = _generation_id(exchange, payload)
    try:
        _refuse_errors(exchange, payload, text)
        answer, finish, choice_flags = _first_choice(payload)
    except ProviderError as error:
        error.generation_id = generation_id
        error.partial = exchange.body
        error.status = exchange.status
        if exchange.status < 300:
            error.cost_nano, error.completion_tokens = money.cost_nano, money.completion_tokens
        raise
    served = text_of(payload.get("model"), 200)
    flags += [*choice_flags, *money.flags]
    if served and not same_model(exchange.asked_model, served):
        flags.append("served_by_other_model")
    return Reply(
        text=answer,
        finish_reason=finish,
        prompt_tokens=money.prompt_tokens,
        completion_tokens=money.completion_tokens,
        cost_nano=money.cost_nano,
        generation_id=generation_id,
        served_model=served,
        served_provider=text_of(payload.get("provider"), 200),
        flags=tuple(dict.fromkeys(flags)),
        latency_ms=exchange.latency_ms,
        raw_bytes=exchange.body,
        reasoning_tokens=money.reasoning_tokens,
        cached_tokens=money.cached_tokens,
        own_key_nano=money.own_key_nano,
        fingerprint=text_of(payload.get("system_fingerprint"), 100),
    )


def same_model(asked: str, served: str) -> bool:
    """Whether two names mean one model: tags (`:free`, `:latest`) and a date at the end are ignored."""
    asked_name, served_name = (name.lower().partition(":")[0] for name in (asked, served))
    return asked_name == served_name or DATED.sub("", served_name) == asked_name


def parse_json(text: str) -> Any:
    """JSON with exact decimals; None where it is not JSON (nothing else about a body may stop a worker)."""
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError, ArithmeticError):
        return None


@dataclass(frozen=True)
class Money:
    """Tokens and cost of one call, each None where the provider did not say it believably."""

    prompt_tokens: int | None
    completion_tokens: int | None
    cost_nano: int | None
    flags: tuple[str, ...]
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    own_key_nano: int | None = None


def _money(exchange: Exchange, usage: Mapping[str, Any]) -> Money:
    prompt, completion = (_count(usage.get(key)) for key in ("prompt_tokens", "completion_tokens"))
    details = {
        "reasoning_tokens": _detail(usage, "completion_tokens_details", "reasoning_tokens"),
        "cached_tokens": _detail(usage, "prompt_tokens_details", "cached_tokens"),
    }
    if exchange.kind == "ollama":
        return Money(prompt, completion, 0, (), **details)
    upstream = _inner(usage, "cost_details").get("upstream_inference_cost")
    own_key = own_key_nano(usage.get("is_byok"), upstream, usage.get("cost"))
    cost = total_nano(usage.get("cost"), own_key)
    if cost is None and "cost" not in usage:
        # Only a provider that names no cost at all is priced by our table; a nonsense cost is looked up instead.
        cost = cost_of_tokens(prompt, completion, exchange.price)
    flags = () if cost is not None else ("cost_unknown",)
    return Money(prompt, completion, cost, flags, **details, own_key_nano=own_key or None)


def own_key_nano(is_own_key: Any, upstream: Any, cost: Any) -> int | None:
    """What the provider behind a router charges to a key of our own; 0 where the router pays, None where it is not said.

    OpenRouter names the upstream cost of every call, but only with an own key is it not part of `cost`. Whose key it was need not
    be said; where it is not, an upstream cost above what the router charges was charged to somebody else.
    """
    if is_own_key is None:
        is_own_key = (nano(upstream) or 0) > (nano(cost) or 0)
    return nano(upstream) if is_own_key is True else 0


def total_nano(cost: Any, own_key: int | None) -> int | None:
    charged = nano(cost)
    return None if charged is None or own_key is None else charged + own_key


def _inner(usage: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = usage.get(name)
    return value if isinstance(value, Mapping) else {}


def _detail(usage: Mapping[str, Any], group: str, name: str) -> int | None:
    return _count(_inner(usage, group).get(name))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


def _decode(body: bytes) -> tuple[str, list[str]]:
    try:
        return body.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return body.decode("utf-8-sig", "replace"), ["invalid_utf8"]


def _payload(exchange: Exchange, text: str) -> Any:
    """The body as one completion object; a stream (which is never asked for) is folded into one."""
    whole = parse_json(text)
    if exchange.kind == "ollama" and isinstance(whole, dict) and "choices" not in whole and "message" in whole:
        return completion_of(whole)
    if whole is not None:
        return whole
    media_type = exchange.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "text/event-stream":
        return _fold(list(_events(text)), finished="data: [DONE]" in text or "data:[DONE]" in text)
    if media_type == "application/x-ndjson":
        lines = [parse_json(line) for line in text.splitlines() if line.strip()]
        return _fold(lines, finished=any(isinstance(line, dict) and line.get("done") is True for line in lines))
    return None


def _events(text: str) -> Iterator[Any]:
    for line in text.splitlines():
        if line.startswith("data:") and line[5:].strip() != "[DONE]":
            yield parse_json(line[5:])


def _fold(events: list[Any], *, finished: bool) -> dict[str, Any]:
    folded: dict[str, Any] = {}
    content, finish = "", ""
    for event in (event for event in events if isinstance(event, dict)):
        if event.get("error"):
            return {**folded, **event}
        folded.update({key: value for key, value in event.items() if key not in ("choices", "message")})
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else event
        part = choice.get("delta") or choice.get("message")
        if isinstance(part, dict) and isinstance(part.get("content"), str):
            content += part["content"]
        finish = text_of(choice.get("finish_reason") or choice.get("done_reason"), 40) or finish
    if not finished:
        return {**folded, "error": {"code": "incomplete_body", "message": "The stream ended before it was done."}}
    return {**folded, "choices": [{"finish_reason": finish or "stop", "message": {"content": content}}]}


def _refuse_errors(exchange: Exchange, payload: Any, text: str) -> None:
    error = payload.get("error") if isinstance(payload, dict) else None
    if exchange.status != 200 or error:
        raise classify(exchange.status, exchange.headers, error if error else payload, text)
    if not isinstance(payload, dict):
        raise ProviderError("retry", "bad_response", f"The body is not a JSON object: {text[:300]}")
    choices = payload.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict) and (first.get("error") or first.get("finish_reason") == "error"):
        raise classify(exchange.status, exchange.headers, first.get("error"), text)


def _first_choice(payload: Mapping[str, Any]) -> tuple[str, str, list[str]]:
    choices = payload.get("choices")
    if not isinstance(choices, list):
        raise ProviderError("retry", "bad_response", "The answer has no list of choices.")
    if not choices:
        raise ProviderError("retry", "empty_choices", "The answer has an empty list of choices.")
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    if not isinstance(message, dict):
        raise ProviderError("retry", "bad_response", "The first choice has no message.")
    finish = text_of(choices[0].get("finish_reason"), 40)
    if finish == "content_filter":
        raise ProviderError("fatal_attempt", "content_filter", "The provider’s filter stopped this answer.")
    text, flags = _content(message)
    if not text.strip():
        raise _nothing_said(finish)
    if finish == "length":
        flags.append("truncated")
    if "\0" in text or LONE_SURROGATE.search(text):
        flags.append("invalid_text")
    return LONE_SURROGATE.sub("\ufffd", text), finish, flags


def _content(message: Mapping[str, Any]) -> tuple[str, list[str]]:
    content = message.get("content")
    if isinstance(content, str) and content:
        return content, []
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str)), ["content_parts"]
    if content is not None and not isinstance(content, str):
        raise ProviderError("retry", "bad_response", f"The content is a {type(content).__name__}, not text.")
    refusal = message.get("refusal")
    return (refusal, ["refusal"]) if isinstance(refusal, str) and refusal else ("", [])


def _nothing_said(finish: str) -> ProviderError:
    if finish == "length":
        # The same limits would buy the same silence again, so this is not retried.
        return ProviderError(
            "fatal_attempt", "reasoning_only", "All of max_tokens went into reasoning; the answer is empty."
        )
    return ProviderError("retry", "no_content", "The answer is empty.")


def _generation_id(exchange: Exchange, payload: Any) -> str:
    own = payload.get("id") if isinstance(payload, dict) else None
    return printable(exchange.headers.get("x-generation-id", "") or (own if isinstance(own, str) else ""), 200)
