"""The one reader of `database.jsonl`: what each line says, or what is wrong with it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import BadField, BadLine, unreadable
from benchsite.lib.json_lines import JsonError, json_type, read_object
from benchsite.lib.text import clean_text

LONGEST_LINE = 8 * 2**20
MOST_ATTEMPTS = 1000
NO_MODEL_NAME = "is not a model's name of 1 to 200 printable characters"


@dataclass(frozen=True)
class SampleLine:
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
    label: str = ""  # of a model that is new to the run, as are the next two
    note: str = ""
    made: str = ""  # how: by a subagent, through a proxy

    def bad(self, field: str, problem: str) -> BadLine:
        # A line of a folder is a file of its own, and has no number.
        number = 0 if self.source.endswith(".svg") else self.number
        return BadLine(self.source, number, field, problem)


@dataclass(frozen=True)
class SampleRow:
    """One line as it was read; its fields are checked as they are asked for, and a bad one raises BadLine."""

    source: str
    number: int
    fields: dict[str, Any]

    def bad(self, field: str, problem: str) -> BadLine:
        return BadLine(self.source, self.number, field, problem)

    def text(self, name: str) -> str:
        if name not in self.fields:
            raise self.bad(name, "is missing")
        value = self.fields[name]
        if not isinstance(value, str):
            raise self.bad(name, f"is {json_type(value)}, not text")
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self.fields.get(name) is None else self.text(name)

    def whole_number(self, name: str, *, least: int, most: int) -> int:
        if name not in self.fields:
            raise self.bad(name, "is missing")
        value = self.fields[name]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.bad(name, f"is not a whole number from {least} to {most}")
        return value


def read_rows(stream: Iterable[bytes], source: str) -> Iterator[SampleRow | BadLine]:
    """Every line that is a JSON object, and what is wrong with every other; blank lines are neither."""
    for number, raw in enumerate(stream, start=1):
        if raw.strip():
            try:
                yield SampleRow(source, number, _object(raw, first=number == 1))
            except BadField as error:
                yield BadLine(source, number, error.field, error.message)


def read_file(path: Path) -> Iterator[SampleRow]:
    """The rows of a file; raises BadLine at the first line that is none."""
    try:
        with path.open("rb") as stream:
            for row in read_rows(stream, path.name):
                if isinstance(row, BadLine):
                    raise row
                yield row
    except OSError as error:
        raise unreadable(path.name, error) from None


def read_lines(stream: Iterable[bytes], source: str) -> tuple[list[SampleLine], list[BadLine]]:
    """Every line that can be imported and every one that cannot."""
    lines: list[SampleLine] = []
    bad: list[BadLine] = []
    for row in read_rows(stream, source):
        try:
            if isinstance(row, BadLine):
                raise row
            lines.append(_line(row))
        except BadLine as error:
            bad.append(error)
    if not lines and not bad:
        bad.append(BadLine(source, 0, "", "the file is empty"))
    return lines, bad


def _object(raw: bytes, *, first: bool) -> dict[str, Any]:
    if len(raw) > LONGEST_LINE:
        raise BadField("", f"the line is over {LONGEST_LINE} bytes")
    try:
        return read_object(raw.decode("utf-8-sig" if first else "utf-8"))
    except UnicodeDecodeError:
        raise BadField("", "the line is not UTF-8 text; save the file as UTF-8") from None
    except JsonError as error:
        raise BadField("", f"the line {error}") from None


def _line(row: SampleRow) -> SampleLine:
    model_id = row.text("model_id")
    if not is_model_name(model_id):
        raise row.bad("model_id", NO_MODEL_NAME)
    counted = row.fields.get("completion_tokens") is not None
    return SampleLine(
        number=row.number,
        model_id=model_id,
        prompt_text=row.text("prompt_text"),
        attempt=row.whole_number("attempt_number", least=1, most=MOST_ATTEMPTS),
        text=row.text("raw_output"),
        category=row.optional_text("category"),
        program=row.optional_text("program") or "",
        finish_reason=clean_text(row.optional_text("finish_reason") or "")[0][:40],
        completion_tokens=row.whole_number("completion_tokens", least=0, most=10**9) if counted else None,
        source=row.source,
        **{name: _one_line(row, name, most) for name, most in (("label", 120), ("note", 200), ("made", 90))},
    )


def _one_line(row: SampleRow, name: str, most: int) -> str:
    return " ".join(clean_text(row.optional_text(name) or "")[0].split())[:most]


def is_model_name(text: str) -> bool:
    return 0 < len(text) <= 200 and text.isprintable() and text == text.strip()


def slug(name: str) -> str:
    """A name as file names write it: lower case, without accents, words joined by dashes."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return re.sub(r"[^a-z0-9]+", "-", plain.replace("♀", "f").replace("♂", "m")).strip("-")
