"""A file of answers, line by line: what each line says, or what is wrong with it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchsite.lib.file_errors import BadField, BadLine
from benchsite.lib.json_lines import JsonError, read_object
from benchsite.lib.text import clean_text

LONGEST_LINE = 8 * 2**20
MOST_ATTEMPTS = 1000
NO_MODEL_NAME = "is not a model's name of 1 to 200 printable characters"


@dataclass(frozen=True)
class Line:
    """One answer as a file tells it."""

    number: int
    model_id: str
    prompt_text: str
    attempt: int
    text: str
    category: str | None = None
    program: str = ""
    finish_reason: str = ""
    completion_tokens: int | None = None
    source: str = "file"

    def bad(self, field: str, problem: str) -> BadLine:
        # A line of a folder is a file of its own, and has no number.
        number = 0 if self.source.endswith(".svg") else self.number
        return BadLine(self.source, number, field, problem)


def read_lines(stream: Iterable[bytes], source: str) -> tuple[list[Line], list[BadLine]]:
    """Every line that can be read and every one that cannot; blank lines are neither."""
    lines, bad = [], []
    for number, raw in enumerate(stream, start=1):
        if not raw.strip():
            continue
        try:
            lines.append(_line(_object(raw, first=number == 1), number, source))
        except BadField as error:
            bad.append(BadLine(source, number, error.field, error.message))
    if not lines and not bad:
        bad.append(BadLine(source, 0, "", "the file is empty"))
    return lines, bad


def _object(raw: bytes, *, first: bool) -> dict[str, Any]:
    if len(raw) > LONGEST_LINE:
        raise BadField("", f"the line is over {LONGEST_LINE} bytes")
    try:
        return read_object(raw.decode("utf-8-sig" if first else "utf-8"))
    except UnicodeDecodeError:
        raise BadField("", "the line is not UTF-8") from None
    except JsonError as error:
        raise BadField("", f"the line {error}") from None


def _line(found: dict[str, Any], number: int, source: str) -> Line:
    model_id = _text(found, "model_id")
    if not is_model_name(model_id):
        raise BadField("model_id", NO_MODEL_NAME)
    return Line(
        number=number,
        model_id=model_id,
        prompt_text=_text(found, "prompt_text"),
        attempt=_number(found, "attempt_number", least=1, most=MOST_ATTEMPTS),
        text=_text(found, "raw_output"),
        category=_text(found, "category") if found.get("category") is not None else None,
        program=_text(found, "program") if found.get("program") is not None else "",
        finish_reason=(
            clean_text(_text(found, "finish_reason"))[0][:40] if found.get("finish_reason") is not None else ""
        ),
        completion_tokens=(
            _number(found, "completion_tokens", least=0, most=10**9)
            if found.get("completion_tokens") is not None
            else None
        ),
        source=source,
    )


def is_model_name(text: str) -> bool:
    return 0 < len(text) <= 200 and text.isprintable() and text == text.strip()


def _text(found: dict[str, Any], name: str) -> str:
    if name not in found:
        raise BadField(name, "is missing")
    if not isinstance(found[name], str):
        raise BadField(name, f"is {type(found[name]).__name__}, not text")
    return found[name]


def _number(found: dict[str, Any], name: str, *, least: int, most: int) -> int:
    value = found.get(name)
    if name not in found:
        raise BadField(name, "is missing")
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadField(name, f"is not a whole number from {least} to {most}")
    return value


def slug(name: str) -> str:
    """A name as file names write it: lower case, without accents, words joined by dashes."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return re.sub(r"[^a-z0-9]+", "-", plain.replace("♀", "f").replace("♂", "m")).strip("-")
