"""Typed readers over YAML nodes; each gives a checked value or says file, line, key and what to do."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from generation.suites.yaml_source import Node

T = TypeVar("T")

MODEL_ID = re.compile(r"[A-Za-z0-9._:/@~-]{1,200}")
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
KINDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
}


def kind_of(value: Any) -> str:
    return "empty" if value is None else KINDS[type(value)]


def nearest(word: str, options: Collection[str]) -> str:
    """What to do about an unknown word: the option most like it, or all of them."""
    close = get_close_matches(word, list(options), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}" if close else f"use one of {', '.join(sorted(options))}"


def having(node: Node, required: Collection[str]) -> dict[str, Node]:
    """A mapping with these keys and perhaps others."""
    if not isinstance(node.value, dict):
        raise node.error(f"is {kind_of(node.value)}, not a mapping", "write key: value pairs")
    missing = [name for name in required if name not in node.value]
    if missing:
        names = " and ".join(filter(None, [", ".join(map(repr, missing[:-1])), repr(missing[-1])]))
        hint = f"add {', '.join(f'{name}:' for name in missing)}"
        problem = f"{names} {'is' if len(missing) == 1 else 'are'} missing"
        raise node.error(problem, hint, reason="missing_key", key=missing[0])
    return node.value


def mapping(node: Node, allowed: Collection[str], required: Collection[str] = ()) -> dict[str, Node]:
    # Unknown before missing: a misspelt key is both, and the misspelling is what the writer must see.
    for name, child in having(node, ()).items():
        if name not in allowed:
            raise child.error(f"unknown key {name[:60]!r}", nearest(name, allowed), reason="unknown_key")
    return having(node, required)


def items(node: Node, *, least: int = 0, most: int = 5000) -> list[Node]:
    if not isinstance(node.value, list):
        raise node.error(f"is {kind_of(node.value)}, not a list", "start each entry with a dash")
    if not least <= len(node.value) <= most:
        hint = f"give {least} to {most} entries"
        raise node.error(f"has {len(node.value)} entries", hint, reason="wrong_length")
    return node.value


def text(node: Node, *, blank: bool = False, limit: int = 20_000) -> str:
    value = node.value
    if not isinstance(value, str):
        raise node.error(f"is {kind_of(value)}, not text", "put the text in quotes, or delete the key")
    check_characters(node, value)
    if not blank and not value.strip():
        raise node.error("is blank", "write some text, or delete the key")
    if len(value) > limit:
        raise node.error(f"has {len(value)} characters", f"use at most {limit}", reason="wrong_length")
    return value


def check_characters(node: Node, value: str) -> None:
    """Control characters and lone surrogates are refused: no database and no page can be trusted with them."""
    for character in value:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t":
            raise node.error(f"has the control character U+{ord(character):04X}", "delete it", reason="bad_characters")


def line(node: Node, *, blank: bool = False, limit: int = 300) -> str:
    value = text(node, blank=blank, limit=limit)
    if "\n" in value.rstrip("\n"):
        raise node.error("has more than one line", "keep it on one line")
    return value.strip()


def matching(node: Node, pattern: re.Pattern[str], what: str) -> str:
    value = node.value
    if not isinstance(value, str):
        raise node.error(f"is {kind_of(value)}, not {what}", "put it in quotes")
    if not pattern.fullmatch(value):
        hint = f"{what} matches {pattern.pattern}"
        raise node.error(f"{value[:60]!r} is not {what}", hint, reason="bad_identifier")
    return value


def model_id(node: Node) -> str:
    value = matching(node, MODEL_ID, "a model id")
    if ".." in value.split("/"):
        raise node.error(f"{value[:60]!r} is not a model id", "write it as the provider does", reason="bad_identifier")
    return value


def key(node: Node) -> str:
    return matching(node, KEY, "a key")


def choice(node: Node, options: Collection[str], what: str) -> str:
    value = line(node)
    if value not in options:
        raise node.error(f"unknown {what} {value[:60]!r}", nearest(value, options), reason=f"unknown_{what}")
    return value


def boolean(node: Node) -> bool:
    if not isinstance(node.value, bool):
        raise node.error(f"is {kind_of(node.value)}, not true or false", "write true or false")
    return node.value


def number(node: Node, low: float, high: float) -> float:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise node.error(f"is {kind_of(value)}, not a number", "write it as in 0.5, without quotes")
    if not (math.isfinite(value) and low <= value <= high):
        raise node.error(f"{value} is out of range", f"use {low} to {high}", reason="out_of_range")
    return float(value)


def integer(node: Node, low: int, high: int) -> int:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int):
        raise node.error(f"is {kind_of(value)}, not a whole number", "write it as in 5, without quotes")
    if not low <= value <= high:
        raise node.error(f"{value} is out of range", f"use {low} to {high}", reason="out_of_range")
    return value


def plain(node: Node) -> Any:
    """The node as JSON-able values, for blocks whose keys are not ours to know."""
    value = node.value
    if isinstance(value, dict):
        for name in value:
            check_characters(node, name)
        return {name: plain(child) for name, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    if isinstance(value, str):
        check_characters(node, value)
    if isinstance(value, float) and not math.isfinite(value):
        raise node.error("is too large a number", "write a smaller one", reason="out_of_range")
    return value


def plain_mapping(node: Node) -> dict[str, Any]:
    return {name: plain(child) for name, child in having(node, ()).items()}


def optional(fields: Mapping[str, Node], name: str, read: Callable[[Node], T], default: T) -> T:
    """The field read, or its default where the key is absent."""
    return read(fields[name]) if name in fields else default


def unique(nodes: list[Node], values: list[str], what: str) -> None:
    seen: dict[str, Node] = {}
    for node, value in zip(nodes, values, strict=True):
        if value in seen:
            hint = f"the first is on line {seen[value].line}; change or delete one"
            raise node.error(f"{what} {value[:80]!r} appears twice", hint, reason=f"duplicate_{what.replace(' ', '_')}")
        seen[value] = node
