"""A question as an HTTP request: where it goes, what it carries, and with which key."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchsite.lib.hosts import is_loopback
from generation.money import Price
from generation.providers.errors import ProviderError

if TYPE_CHECKING:
    from generation.suites.profiles import Profile

# What a suite's `parameters` may not replace: the request would no longer be the one that was recorded.
OURS = frozenset({"model", "messages", "stream"})


@dataclass(frozen=True)
class Request:
    """One question to one model. A parameter that is None is left out (so `max_tokens: null` makes room for
    `max_completion_tokens`)."""

    model_id: str
    messages: tuple[Mapping[str, Any], ...]  # role, content, and images as data addresses where there are any
    temperature: float | None = None
    max_tokens: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    provider_order: tuple[str, ...] = ()
    price: Price | None = None  # the fallback where a provider reports tokens but no cost
    seed: int = 0  # of this sample, for servers that take one from us
    schema: Mapping[str, Any] | None = None  # that the answer has to follow, where the server can see to it
    format: str = ""  # for demo players, who draw by it; real providers are never told


def payload_of(profile: Profile, request: Request) -> dict[str, Any]:
    """The JSON body of a chat request."""
    ours = {"temperature": request.temperature, "max_tokens": request.max_tokens}
    extra = {key: value for key, value in request.parameters.items() if key not in OURS}
    if request.provider_order and profile.kind == "openrouter":
        pinned = {"order": list(request.provider_order), "allow_fallbacks": False}
        asked = extra.get("provider")
        extra["provider"] = {**pinned, **(asked if isinstance(asked, Mapping) else {})}
    if profile.kind == "openrouter" and "reasoning_effort" in extra:
        asked = extra.get("reasoning")
        effort = extra.pop("reasoning_effort")
        extra["reasoning"] = {"effort": effort, **(asked if isinstance(asked, Mapping) else {})}
    if request.schema is not None:
        wanted = {"name": "answer", "strict": True, "schema": request.schema}
        extra = {"response_format": {"type": "json_schema", "json_schema": wanted}, **extra}
    if profile.kind == "demo" and request.format:
        extra["format"] = request.format
    body = {
        "model": request.model_id,
        "messages": [_message(message) for message in request.messages],
        "stream": False,
        **ours,
        **extra,
    }
    return {key: value for key, value in body.items() if value is not None}


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Text alone is a plain string, as every server takes it; with pictures it is a list of parts."""
    images = message.get("images", ())
    if not images:
        return {"role": message["role"], "content": message["content"]}
    pictures = [{"type": "image_url", "image_url": {"url": address}} for address in images]
    return {"role": message["role"], "content": [{"type": "text", "text": message["content"]}, *pictures]}


def key_of(profile: Profile) -> str:
    """The key from the environment; a missing or unusable one pauses the run before anything is sent."""
    if not profile.key_env:
        return ""
    key = os.environ.get(profile.key_env, "").strip()
    if not key:
        raise ProviderError(
            "pause_run", "bad_credentials", f"Provider {profile.name} needs a key: set {profile.key_env} and restart."
        )
    if not (key.isascii() and key.isprintable()):
        # An HTTP library would quote the whole header in its complaint, so it never gets to see such a key.
        raise ProviderError(
            "pause_run", "bad_credentials", f"The key in {profile.key_env} contains invalid characters."
        )
    return key


def headers_of(profile: Profile, key: str, *, has_body: bool) -> dict[str, str]:
    own = {name: str(value) for name, value in dict(profile.headers or {}).items()}
    if not all(text.isascii() and text.isprintable() for pair in own.items() for text in pair):
        raise ProviderError(
            "pause_run", "bad_profile", f"Provider {profile.name}: a header contains invalid characters."
        )
    headers = {name: value for name, value in own.items() if name.lower() not in ("authorization", "accept-encoding")}
    if has_body:
        headers["Content-Type"] = "application/json"
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return headers


def url_of(profile: Profile, path: str) -> str:
    """The address of an endpoint; https, or http on this machine only, so that a key never travels in the clear."""
    parts = urlsplit(profile.base_url)
    host = parts.hostname or ""
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    if not host or not secure or "@" in parts.netloc:
        raise ProviderError(
            "pause_run", "bad_profile", f"Provider {profile.name}: the base URL must be https (http only on loopback)."
        )
    return profile.base_url.rstrip("/") + path
