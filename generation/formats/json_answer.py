"""Answers of model judges: one JSON object and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from generation.formats.base import Extraction

LONGEST_ANSWER = 20_000
LONGEST_REASON = 600
_FENCED = re.compile(r"\A```(?:json)?[^\S\n]*\n(.*)\n```\Z", re.DOTALL)


def read_object(text: str) -> dict[str, Any] | Extraction:
    """The object alone, or alone in a code block: words around it mean that the model did something else as well."""
    text = text.strip()
    if not text:
        return Extraction(None, "empty", "The answer is empty.")
    if len(text) > LONGEST_ANSWER:
        return Extraction(None, "too_long", f"The answer is longer than {LONGEST_ANSWER} characters.")
    fenced = _FENCED.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return Extraction(None, "not_json", "The answer is not one JSON object.")
    return value


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Of an object with all of these and nothing else, in the part of JSON Schema that every provider's strict mode takes."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def reason_in(fields: Mapping[str, Any]) -> str | None:
    """The reason on one line, empty where none is given; None where it is no text."""
    reason = fields.get("reason", "")
    return " ".join(reason.split())[:LONGEST_REASON] if isinstance(reason, str) else None
