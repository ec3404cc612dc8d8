"""JSON of anybody's making: read as the standard says, or refused with a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, TextIO

from benchsite.lib.file_errors import FileError

_BRACKETS = re.compile(r'["\\{}\[\]\n]')
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
CHUNK = 250  # lines read at a time: many enough for columns to pay, few enough to stay in the processor's cache
LONGEST_LINE = 1 << 20


class JsonError(ValueError):
    """Why a text is not the JSON it should be: a stable code, and the end of a sentence that begins with the text."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Limits:
    """How much a text may ask of a reader, and that both databases can store its strings."""

    characters: int
    depth: int
    digits: int


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError("invalid_json", f"is not JSON ({name} is not a number)")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise JsonError("duplicate_key", "names the same field twice")
    return fields


STRICT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_pairs)
# Where a million lines are read: a field that is named twice has its last value, since looking for it costs a third more.
FAST = json.JSONDecoder(parse_constant=_refuse_constant)


def read_json(text: str, *, decoder: json.JSONDecoder = STRICT, limits: Limits | None = None) -> Any:
    """The value of a JSON text; raises JsonError and nothing else.

    Its reasons: invalid_json, duplicate_key, too_deep, number_too_large; with limits also too_large and invalid_text
    (U+0000 or a lone surrogate in a string).
    """
    if limits:
        decoder = _limited(text, limits, decoder)
    try:
        value = decoder.decode(text)
    except JsonError:
        raise
    except json.JSONDecodeError as error:
        place = min(error.pos, len(text.rstrip())) + 1
        # Some of Python's own words end in "at", for the place to follow.
        message = f"is not JSON ({error.msg.removesuffix(' at')} at character {place})"
        raise JsonError("invalid_json", message) from None
    except RecursionError:
        raise JsonError("too_deep", "is not JSON that can be read (it nests too deep)") from None
    except ValueError:  # what Python says of a whole number of thousands of digits
        raise JsonError("number_too_large", "is not JSON that can be read (a number is too long)") from None
    if limits and ("\\u" in text or not text.isascii()) and _has_unstorable(value):
        raise JsonError("invalid_text", "has a string with U+0000 or half a surrogate pair")
    return value


def read_object(text: str, *, decoder: json.JSONDecoder = STRICT) -> dict[str, Any]:
    value = read_json(text, decoder=decoder)
    if not isinstance(value, dict):
        raise JsonError("no_object", f"is {json_type(value)}, not a JSON object")
    return value


def json_type(value: Any) -> str:
    names = {dict: "an object", list: "a list", bool: "true or false", type(None): "null", str: "text"}
    return names.get(type(value), "a number")


def text_file(path: Path) -> TextIO:
    """A file of anybody's making as text: bytes that are no UTF-8 become surrogates, for the line to be named."""
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def json_chunks(lines: Iterable[str], file: str) -> Iterator[tuple[list[int], list[Any]]]:
    """Lists of line numbers and parsed lines, blank lines left out; a line that is no JSON object may be its FileError.

    Fast where all is well: only a chunk with a line that is no JSON is read line by line.
    """
    scan = FAST.scan_once  # type: ignore[attr-defined]  # typeshed leaves it out
    lines = iter(lines)
    first = 1
    while chunk := list(islice(lines, CHUNK)):
        numbers, rows = list(range(first, first + len(chunk))), []
        try:
            for line in chunk:
                row, end = scan(line, 0)
                if line[end:] != "\n" and line[end:].strip():
                    raise ValueError("more than one value")
                rows.append(row)
        except (ValueError, StopIteration, RecursionError):
            pairs = [(n, _parsed(line, n, file)) for n, line in zip(numbers, chunk, strict=True) if line.strip()]
            numbers, rows = [n for n, _ in pairs], [row for _, row in pairs]
        first += len(chunk)
        yield numbers, rows


def _parsed(line: str, number: int, file: str) -> dict[str, Any] | FileError:
    try:
        return read_object(line, decoder=FAST)
    except JsonError as error:
        if len(line) > LONGEST_LINE:
            return FileError(file, number, "", f"is over {LONGEST_LINE} characters")
        is_text = not _SURROGATES.search(line)  # they stand for bytes that are no UTF-8
        return FileError(file, number, "", str(error) if is_text else "is not UTF-8 text; save the file as UTF-8")


def _limited(text: str, limits: Limits, decoder: json.JSONDecoder) -> json.JSONDecoder:
    """Refuses what is too large or too deep; the decoder that also refuses long numbers, where there are any."""
    if len(text) > limits.characters:
        raise JsonError("too_large", f"has {len(text)} characters; {limits.characters} are allowed")
    # Counting brackets is much faster than following them, and enough for nearly every text.
    if text.count("[") + text.count("{") > limits.depth and nests_deeper(text, limits.depth):
        raise JsonError("too_deep", f"nests brackets deeper than {limits.depth}")

    def integer(digits: str) -> int:
        if len(digits.lstrip("-")) > limits.digits:
            raise JsonError("number_too_large", f"has a whole number of more than {limits.digits} digits")
        return int(digits)

    # A hook on every number costs a third of the time; only texts with a long run of digits need it.
    if not re.search(rf"[0-9]{{{limits.digits + 1}}}", text):
        return decoder
    return json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_pairs, parse_int=integer)


def nests_deeper(text: str, limit: int) -> bool:
    """Whether brackets and braces nest deeper than the limit, strings apart; reads no further than it must."""
    depth = 0
    in_string = False
    skip = -1
    for match in _BRACKETS.finditer(text):
        at, mark = match.start(), match.group()
        if at == skip:
            continue
        if mark == "\n":
            in_string = False
        elif mark == "\\":
            skip = at + 1 if in_string else -1
        elif mark == '"':
            in_string = not in_string
        elif not in_string:
            depth = depth + 1 if mark in "[{" else max(depth - 1, 0)
            if depth > limit:
                return True
    return False


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
