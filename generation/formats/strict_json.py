"""JSON as the standard has it: what Python's own reader lets through, or chokes on, is refused with a reason."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from generation.formats.fences import nests_deeper

MAX_CHARACTERS = 4_000_000
MAX_DEPTH = 32
MAX_DIGITS = 18

_LONG_NUMBER = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class StrictError(ValueError):
    """Why a text is not taken as JSON: a stable code and a sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def _constant(name: str) -> NoReturn:
    raise StrictError("invalid_json", f"{name} is not JSON.")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise StrictError("duplicate_key", "An object names the same key twice.")
    return found


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise StrictError("number_too_large", f"A whole number has more than {MAX_DIGITS} digits.")
    return int(digits)


_PLAIN = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)
_CAREFUL = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_integer)


def read_json(text: str) -> Any:
    """The value of a JSON text; raises StrictError, and nothing else.

    - too_large, too_deep: over 4,000,000 characters, over 32 levels
    - number_too_large: a whole number of more than 18 digits
    - duplicate_key, invalid_text (U+0000 or a lone surrogate in a string), invalid_json (the rest, NaN included)
    """
    if len(text) > MAX_CHARACTERS:
        raise StrictError("too_large", f"The text has {len(text)} characters; {MAX_CHARACTERS} are allowed.")
    # Counting brackets is much faster than following them, and enough for nearly every answer.
    if text.count("[") + text.count("{") > MAX_DEPTH and nests_deeper(text, MAX_DEPTH):
        raise StrictError("too_deep", f"Brackets nest deeper than {MAX_DEPTH}.")
    # A hook on every number costs a third of the time; only texts with a long run of digits need it.
    decoder = _CAREFUL if _LONG_NUMBER.search(text) else _PLAIN
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise StrictError("invalid_json", f"Not JSON: {error.msg} at character {error.pos}.") from None
    if ("\\u" in text or not text.isascii()) and _has_unstorable(value):
        raise StrictError("invalid_text", "A string has U+0000 or half a surrogate pair.")
    return value


def _has_unstorable(value: Any) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and _UNSTORABLE.search(item):
            return True
        if isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return False
