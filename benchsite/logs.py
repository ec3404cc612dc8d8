"""Structured logs on standard error: one event a line, no secret and no control character in any of them."""

from __future__ import annotations

import logging.config
import os
import re
from collections.abc import MutableMapping
from typing import Any

import structlog

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)", re.I)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def _secrets() -> list[str]:
    return [value for name, value in os.environ.items() if _SECRET_NAME.search(name) and len(value) >= 8]


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Hide every secret of the environment and make control characters visible, in each string of an event."""
    hidden = _secrets()
    for key, value in event.items():
        if isinstance(value, str):
            for secret in hidden:
                value = value.replace(secret, "[hidden]")
            event[key] = _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", value)
    return event


def logging_config(*, level: str, as_json: bool) -> dict[str, Any]:
    shared = [
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
        "loggers": {"httpx": {"level": "WARNING"}, "axes": {"level": "WARNING"}, "rq": {"level": "WARNING"}},
    }
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(config)
    return config
