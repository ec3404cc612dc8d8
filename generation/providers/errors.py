"""What can go wrong with a provider, as one error whose `kind` says what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

Kind = Literal["retry", "fatal_attempt", "fatal_model", "pause_run"]
LONGEST_WAIT = 15 * 60.0
DETAIL_LIMIT = 500
# How OpenRouter, OpenAI, vLLM, Ollama, llama.cpp and others say that a model takes no pictures, whatever their status.
NO_PICTURES = re.compile(
    r"support image input|image_url is only supported|unknown variant .?image_url|at most 0 image|not a multimodal model"
    r"|data required for image input|image inputs? (is|are) not (supported|enabled)|(does not|doesn.t) support (image|vision)"
)


class ProviderError(Exception):
    """A call that gave no answer.

    - `kind`: `retry` later, or give up the sample (`fatal_attempt`), the model (`fatal_model`) or pause the whole run.
    - `cost_nano`: 0 where nothing was charged, None where nobody knows yet; `generation_id` then finds it out.
    - `detail` is for people: at most 500 characters, control characters escaped, never a key.
    """

    def __init__(
        self,
        kind: Kind,
        code: str,
        detail: str,
        *,
        retry_after: float | None = None,
        cost_nano: int | None = 0,
        generation_id: str = "",
        partial: bytes = b"",
        status: int | None = None,
        completion_tokens: int | None = None,
    ) -> None:
        self.kind = kind
        self.code = code
        self.detail = printable(detail)
        self.retry_after = retry_after
        self.cost_nano = cost_nano
        self.generation_id = generation_id
        self.partial = partial
        self.status = status
        self.completion_tokens = completion_tokens
        super().__init__(f"{code}: {self.detail}")

    def hide(self, secret: str) -> None:
        if secret:
            self.detail = self.detail.replace(secret, "[key]")
            self.args = (f"{self.code}: {self.detail}",)


def printable(text: str, limit: int = DETAIL_LIMIT) -> str:
    """Text on one line, with what a terminal or a database could trip over written as escapes."""
    head = text[:limit]
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in head)[:limit]


def text_of(value: Any, limit: int = DETAIL_LIMIT) -> str:
    return printable(value, limit) if isinstance(value, str) else ""


def wait_of(header: str | None, *, now: datetime | None = None) -> float | None:
    """Seconds asked for by a Retry-After header (a number or a date), between 0 and 15 minutes."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - (now or datetime.now(UTC))).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT) if seconds == seconds else None


def classify(status: int, headers: Mapping[str, str], error: Any, body: str) -> ProviderError:
    """The error behind a failed reply. Errors inside HTTP 200 carry their own code, which then counts as the status."""
    details = error if isinstance(error, dict) else {}
    nested = details.get("error")
    details = nested if isinstance(nested, dict) else details
    code = details.get("code")
    if status == 200:
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
    wait = wait_of(headers.get("retry-after"))
    message = text_of(details.get("message")) or text_of(error) or body or "no body"
    kind, name = _verdict(status, details, message.lower(), wait)
    # A gateway's time-out says nothing about the model behind it, which may have worked and been paid.
    cost = None if status in (408, 504) else 0
    return ProviderError(kind, name, f"HTTP {status}: {message}", retry_after=wait, cost_nano=cost, status=status)


def _verdict(status: int, error: Mapping[str, Any], message: str, wait: float | None) -> tuple[Kind, str]:
    code = error.get("code")
    if code == "incomplete_body":
        return "retry", "incomplete_body"
    if code == "insufficient_quota":
        return "pause_run", "out_of_credits"
    if status == 401:
        return "pause_run", "bad_credentials"
    if status == 402:
        return ("retry", "in_flight_budget") if wait is not None else ("pause_run", "out_of_credits")
    if status == 403:
        return _forbidden(error, message)
    if status in (400, 404, 415, 422, 500, 501) and NO_PICTURES.search(message):
        return "fatal_model", "no_pictures"
    if status in (404, 410) or (status == 400 and "not a valid model" in message):
        availability = error.get("availability")
        again = isinstance(availability, dict) and availability.get("retryable") is True
        return ("retry" if again else "fatal_model"), "model_unavailable"
    if status == 400 and "context" in message and ("exceed" in message or "length" in message):
        return "fatal_attempt", "window_too_small"
    if status == 429:
        return "retry", "rate_limited"
    if status in (408, 409, 425) or status >= 500:
        return "retry", "provider_error"
    if 300 <= status < 400:
        return "fatal_attempt", "unexpected_redirect"
    if status < 300:
        return "retry", "bad_response"
    if code in ("content_filter", "content_policy_violation"):
        return "fatal_attempt", "content_filter"
    return "fatal_attempt", "bad_request"


def _forbidden(error: Mapping[str, Any], message: str) -> tuple[Kind, str]:
    metadata = error.get("metadata")
    moderated = isinstance(metadata, dict) and ("reasons" in metadata or "flagged_input" in metadata)
    if moderated or "flagged" in message or "moderation" in message:
        return "fatal_attempt", "moderation"
    if "limit" in message or "credit" in message:
        return "pause_run", "out_of_credits"
    return "fatal_model", "forbidden"
