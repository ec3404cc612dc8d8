"""Structured logs on standard error: one event per line, no secret and no control character in any of them."""

from __future__ import annotations

import logging.config
import os
import re
from collections.abc import MutableMapping
from functools import cache
from pathlib import Path
from typing import Any

import structlog
from structlog.typing import Processor

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)", re.I)
# The password of an address such as redis://:password@host, and what follows Bearer in a header.
_PASSWORD = re.compile(r"(\w+://[^\s:/@]*:)[^\s@]+(@)")
# What follows /join/ and /reset/ in an address, also where the address is quoted in another.
_LINK = re.compile(r"((?:/|%2F)(?:join|reset)(?:/|%2F))[\w.~-]+(?:(?:/|%2F)[\w.~-]+)?", re.I)
_BEARER = re.compile(r"(Bearer\s+)[^\s'\"]{8,}", re.I)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HIDDEN = "[hidden]"
DEEPEST = 6


@cache
def _file_secret(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _secrets() -> list[str]:
    """Every secret of the environment, also those that NAME_FILE names; the longest first."""
    secrets = []
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name):
            secrets.append(_file_secret(value) if name.endswith("_FILE") else value)
    return sorted((value for value in secrets if len(value) >= 8), key=len, reverse=True)


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Hide every secret and make control characters visible, in each string of an event, however deep."""
    hidden = _secrets()
    for key, value in event.items():
        event[key] = _redacted(value, hidden)
    return event


def _redacted(value: Any, hidden: list[str], depth: int = 0) -> Any:
    if isinstance(value, bool | int | float | None):
        return value
    if depth < DEEPEST and isinstance(value, dict):
        return {str(_redacted(key, hidden)): _redacted(item, hidden, depth + 1) for key, item in value.items()}
    if depth < DEEPEST and isinstance(value, list | tuple | set):
        return [_redacted(item, hidden, depth + 1) for item in value]
    text = value if isinstance(value, str) else repr(value)
    for secret in hidden:
        text = text.replace(secret, HIDDEN)
    text = _LINK.sub(rf"\g<1>{HIDDEN}", text)
    text = _BEARER.sub(rf"\g<1>{HIDDEN}", _PASSWORD.sub(rf"\g<1>{HIDDEN}\g<2>", text))
    return _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)


def logging_config(*, level: str, as_json: bool) -> dict[str, Any]:
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"])
    )
    config = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "plain": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact, renderer],
                "foreign_pre_chain": shared,
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            **{name: {"level": "WARNING"} for name in ("httpx", "axes", "rq")},
            # They name paths where a request fails, and would write them by themselves.
            **{
                f"gunicorn.{name}": {"handlers": ["stderr"], "level": "WARNING", "propagate": False}
                for name in ("error", "access")
            },
            # Its lines for refused requests name the path, and an invitation's path is a secret.
            "django.request": {"level": "ERROR"},
        },
    }
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(config)
    return config
