"""What servers refuse in a model judge's request, and the request without it.

Servers that speak one protocol differ in what they take: some know no answers by schema, and some models of OpenAI's want their
limit by another name. A judge's answer is read as strictly without a schema, so it is asked again in the way that the server takes; a
refusal costs nothing. A drawing's request is never changed: it is what its suite says.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from generation.providers import ollama
from generation.providers.errors import ProviderError
from generation.providers.requests import Request

if TYPE_CHECKING:
    from generation.suites.profiles import Profile

REFUSALS = (400, 404, 422, 501)
SCHEMA, LIMIT = "schema", "max_tokens"
_WORDS = {
    SCHEMA: re.compile(r"response_format|json_schema|structured.?output", re.IGNORECASE),
    LIMIT: re.compile(r"max_completion_tokens"),
}
OLLAMAS_OWN = re.compile(r"\bformat\b")  # its name for a schema; elsewhere a picture's format may be meant


class Refusals:
    """What one client has learnt of the models it asked: which parts of a request each refuses."""

    def __init__(self) -> None:
        self._refused: dict[tuple[str, str], set[str]] = defaultdict(set)

    def taken_by(self, profile: Profile, request: Request) -> Request:
        """The request as this server takes it, as far as is known."""
        refused = self._refused.get((profile.base_url, request.model_id), ())
        if SCHEMA in refused:
            request = replace(request, schema=None)
        if LIMIT in refused:
            named = {"max_completion_tokens": request.max_tokens, **request.parameters}
            request = replace(request, max_tokens=None, parameters=named)
        return request

    def learn(self, profile: Profile, sent: Request, error: ProviderError) -> bool:
        """Whether the error refuses a part of what was sent, so that it is worth asking without it."""
        parts = {SCHEMA: sent.schema, LIMIT: sent.max_tokens}
        words = _WORDS | ({SCHEMA: OLLAMAS_OWN} if ollama.is_native(profile) else {})
        found = {name for name, value in parts.items() if value is not None and words[name].search(error.detail)}
        if error.status in REFUSALS:
            self._refused[profile.base_url, sent.model_id] |= found
        return error.status in REFUSALS and bool(found)
