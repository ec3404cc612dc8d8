"""Strict YAML: a file becomes nodes that know their file, line and key, or one clear error.

Only the plain part of YAML is taken. Anchors, aliases, merge keys, tags, duplicate keys, second documents and the values
that YAML 1.1 reads in surprising ways (`no`, `12:30:45`, `010`) are refused, so that a file means what it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

MAX_BYTES = 512 * 1024
MAX_DEPTH = 16
MAX_VALUES = 20_000
KEPT = 16 * 1024  # characters of a file that is remembered

# A file can break several rules at once; what would silently run code or lose data is named first.
PROBLEM_ORDER = ("unsafe_tag", "duplicate_key", "merge_key", "aliases_forbidden", "wrong_type")

INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")
BARE = re.compile(r"while parsing a flow \w+: expected .*, but (?:got|found) '([?:])'")
OCTAL = re.compile(r"0o[0-7]+")
WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "~": None, "": None}
RESOLVER = yaml.SafeLoader("")


class SuiteError(ValueError):
    """What is wrong in a suite's files, where, and what to do about it; `reason` is a stable code."""

    def __init__(self, file: str, line: int, key: str, message: str, hint: str = "", reason: str = "invalid") -> None:
        self.file, self.line, self.key, self.message, self.hint, self.reason = file, line, key, message, hint, reason
        super().__init__(file, line, key, message, hint, reason)

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, f"line {self.line}" if self.line else "", self.key) if part)
        advice = f"; {self.hint}" if self.hint else ""
        return f"{place}: {self.message}{advice}."


@dataclass(frozen=True)
class Node:
    """One value of a file: a scalar, a list of nodes or a dict of nodes."""

    value: Any
    file: str
    line: int
    key: str = ""

    def error(self, message: str, hint: str = "", *, reason: str = "wrong_type", key: str = "") -> SuiteError:
        full = f"{self.key}.{key}".lstrip(".") if key else self.key
        return SuiteError(self.file, self.line, full, message, hint, reason)


@dataclass
class _Source:
    file: str
    events: Iterator[yaml.Event]
    problems: list[SuiteError] = field(default_factory=list)
    values: int = 0

    def refuse(self, event: yaml.Event, key: str, message: str, hint: str, reason: str) -> None:
        line = _line(event)
        self.problems.append(SuiteError(self.file, line, key, message, hint, reason))


def short_name(path: Path) -> str:
    return "/".join(path.absolute().parts[-3:]).lstrip("/")


def load_yaml(path: Path) -> Node:
    """The one document of a file as nodes; raises SuiteError and nothing else."""
    name = short_name(path)
    text = _read(path, name)
    return _kept(text, name) if len(text) < KEPT else parse_yaml(text, name)


@lru_cache(maxsize=64)
def _kept(text: str, name: str) -> Node:
    """Pages read the same files again and again; what was read is kept while the text is the same."""
    return parse_yaml(text, name)


def parse_yaml(text: str, name: str) -> Node:
    """The one document of a text as nodes; `name` is what errors call it."""
    try:
        loader = yaml.SafeLoader(text)
        return _parse(loader, name)
    except SuiteError:
        raise
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SuiteError(name, line, "", "a character that YAML does not allow", "delete it", "not_yaml") from None
    except (yaml.MarkedYAMLError, ValueError, OverflowError) as error:
        # Not only YAML errors: PyYAML lets chr() complain about escapes such as "\UFFFFFFFF".
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None) or loader
        problem = getattr(error, "problem", None) or "an escape that is no character"
        hint = "check the indentation, quotes and colons there"
        if bare := BARE.fullmatch(f"{getattr(error, 'context', '')}: {problem}"):
            problem = f"“{bare[1]}” stands within {{ }} or [ ]"
            hint = 'put the text that holds it in quotes, as in {en: "Who are you?"}'
        raise SuiteError(name, mark.line + 1, "", f"not YAML: {problem}", hint, "not_yaml") from None


def _read(path: Path, name: str) -> str:
    try:
        # A pipe or a device would block for ever.
        if not path.is_file():
            raise SuiteError(name, 0, "", "there is no such file", "create it", "missing_file")
        with path.open("rb") as stream:
            body = stream.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise SuiteError(name, 1, "", f"the file is over {MAX_BYTES // 1024} KiB", "split the suite", "oversize")
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise SuiteError(name, line, "", "the file is not UTF-8", "save it as UTF-8", "not_utf8") from None
    except OSError as error:
        raise SuiteError(
            name, 0, "", f"cannot be read ({error.strerror})", "check its permissions", "unreadable"
        ) from None


def _parse(loader: yaml.SafeLoader, name: str) -> Node:
    source = _Source(name, iter(loader.get_event, None))
    next(source.events)
    first = next(source.events)
    if isinstance(first, yaml.StreamEndEvent):
        raise SuiteError(name, 1, "", "the file is empty", "write the suite's keys into it", "wrong_type")
    node = _build(source, next(source.events), "", 0)
    next(source.events)
    after = next(source.events)
    if not isinstance(after, yaml.StreamEndEvent):
        source.refuse(
            after, "", "a second document starts here", "keep one document a file, without ---", "multi_document"
        )
    if source.problems:
        order = {reason: place for place, reason in enumerate(PROBLEM_ORDER)}
        raise min(source.problems, key=lambda problem: order.get(problem.reason, len(order)))
    return node


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def _build(source: _Source, event: Any, key: str, depth: int) -> Node:
    line = _line(event)
    source.values += 1
    if source.values > MAX_VALUES:
        hint = f"stay within {MAX_VALUES} keys and values"
        raise SuiteError(source.file, line, key, "the file holds too much", hint, "oversize")
    if depth > MAX_DEPTH:
        raise SuiteError(source.file, line, key, "nested too deeply", f"stay within {MAX_DEPTH} levels", "too_deep")
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
        hint = "write the value out in full" if sign == "*" else "remove it and write the value out where it is used"
        source.refuse(event, key, f"the anchor or alias {sign}{event.anchor} is not allowed", hint, "aliases_forbidden")
    if isinstance(event, yaml.AliasEvent):
        return Node(None, source.file, line, key)
    if event.tag is not None:
        source.refuse(
            event, key, f"the tag {event.tag!r} is not allowed", "write plain text, numbers or lists", "unsafe_tag"
        )
    if isinstance(event, yaml.ScalarEvent):
        return Node(_scalar(source, event, key), source.file, line, key)
    if isinstance(event, yaml.SequenceStartEvent):
        return Node(_sequence(source, key, depth), source.file, line, key)
    return Node(_mapping(source, key, depth), source.file, line, key)


def _sequence(source: _Source, key: str, depth: int) -> list[Node]:
    nodes: list[Node] = []
    while not isinstance(event := next(source.events), yaml.SequenceEndEvent):
        nodes.append(_build(source, event, f"{key}[{len(nodes)}]", depth + 1))
    return nodes


def _mapping(source: _Source, key: str, depth: int) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    while not isinstance(event := next(source.events), yaml.MappingEndEvent):
        name = _build(source, event, key, depth + 1).value
        if not isinstance(name, str):
            source.refuse(event, key, f"the key {_shown(event)} is not text", "put it in quotes", "wrong_type")
            name = str(name) if not isinstance(name, (list, dict)) else ""
        full = f"{key}.{name}".lstrip(".")
        if name == "<<":
            source.refuse(event, full, "merge keys are not allowed", "write the values out in full", "merge_key")
        elif name in nodes:
            hint = f"it was already given on line {nodes[name].line}; keep one of them"
            source.refuse(event, full, "this key is given twice", hint, "duplicate_key")
        # A block starts on the line below its key; the key is where a writer looks.
        child = _build(source, next(source.events), full, depth + 1)
        nodes[name] = replace(child, line=_line(event))
    return nodes


def _shown(event: yaml.Event) -> str:
    return event.value[:40] if isinstance(event, yaml.ScalarEvent) else "(a list or mapping)"


def _scalar(source: _Source, event: yaml.ScalarEvent, key: str) -> Any:
    text = event.value
    if not event.implicit[0]:
        return text
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return int(text)
    if NUMBER.fullmatch(text):
        return float(text)
    # What one YAML turns into a date, a base-60 or octal number or a yes-or-no, another reads as text: the writer must choose.
    tag = RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    if OCTAL.fullmatch(text) or tag != "tag:yaml.org,2002:str":
        hint = "put it in quotes if it is text; else write true, false, null or a plain decimal number"
        source.refuse(event, key, f"YAML would not read {text[:40]!r} as written", hint, "wrong_type")
    return text
