"""Provider profiles: where a model is asked, and which environment variable holds the key."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from benchsite.lib.hosts import is_loopback
from generation.suites.yaml_fields import choice, integer, key, line, mapping, matching, number, optional
from generation.suites.yaml_source import Node, load_yaml

KINDS = ("openrouter", "ollama", "openai", "demo")
KEYS = ("kind", "base_url", "base_url_env", "key_env", "headers", "concurrency", "timeout")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
# Keys live in the environment only, and the client itself frames the request.
REFUSED_HEADERS: tuple[str, ...] = (
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "host",
    "content-length",
)
REFUSED_HEADERS += ("transfer-encoding", "content-type", "accept-encoding", "connection")


@dataclass(frozen=True)
class Profile:
    """One provider: an OpenAI-compatible base URL, its key's variable, and its limits."""

    name: str
    base_url: str
    key_env: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "openai"
    concurrency: int = 16
    timeout: float = 120.0


def load_profiles(path: Path, *, environ: Mapping[str, str] = os.environ) -> dict[str, Profile]:
    """Every profile of a providers.yaml by name; a variable named by `base_url_env` overrides the URL."""
    providers = mapping(load_yaml(path), ("providers",), ("providers",))["providers"]
    if not isinstance(providers.value, dict) or not providers.value:
        raise providers.error("is not a mapping of providers", "write a name and its settings under it")
    return {name: _profile(name, node, environ) for name, node in providers.value.items()}


def _profile(name: str, node: Node, environ: Mapping[str, str]) -> Profile:
    key(replace(node, value=name))
    fields = mapping(node, KEYS, ("kind", "base_url"))
    given: dict[str, str] = optional(fields, "headers", _headers, {})
    kind, address = choice(fields["kind"], KINDS, "kind"), fields["base_url"]
    variable = optional(fields, "base_url_env", lambda child: matching(child, VARIABLE, "a variable's name"), "")
    if environ.get(variable):
        address = replace(fields["base_url_env"], value=environ[variable])
    return Profile(
        name=name,
        base_url=_base_url(address),
        key_env=optional(fields, "key_env", lambda child: matching(child, VARIABLE, "a variable's name"), ""),
        headers={**_attribution(kind, environ), **given},
        kind=kind,
        concurrency=optional(fields, "concurrency", lambda child: integer(child, 1, 256), 16),
        timeout=optional(fields, "timeout", lambda child: number(child, 1, 3600), 120.0),
    )


def _attribution(kind: str, environ: Mapping[str, str]) -> dict[str, str]:
    """OpenRouter attributes calls to the site that they name; a site without a public address stays unnamed."""
    address = environ.get("SITE_URL", "").strip()
    return {"HTTP-Referer": address} if kind == "openrouter" and address else {}


def _base_url(node: Node) -> str:
    value = line(node, limit=500).rstrip("/")
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise node.error(f"{value[:60]!r} is not a URL", "write it as in https://host/v1", reason="bad_url") from None
    if not host or parts.scheme not in ("http", "https") or parts.username is not None or parts.query or parts.fragment:
        raise node.error(f"{value[:60]!r} is not a base URL", "write it as in https://host/v1", reason="bad_url")
    if parts.scheme == "http" and not is_loopback(host):
        raise node.error("http is allowed on this machine only", "use https", reason="bad_url")
    return value


def _headers(node: Node) -> dict[str, str]:
    if not isinstance(node.value, dict):
        raise node.error("is not a mapping", "write Header-Name: value pairs")
    for name, child in node.value.items():
        matching(replace(child, value=name), HEADER, "a header's name")
        if name.lower() in REFUSED_HEADERS:
            raise child.error(
                f"the header {name} is not allowed here", "name the key's variable in key_env", reason="secret"
            )
    return {name: line(child) for name, child in node.value.items()}
