"""CSS as tokens, by the standard's own grammar; what is kept is written back as the model spelled it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import tinycss2
from tinycss2 import ast

Tokens = Sequence[ast.Node]

MAX_NESTING = 32  # brackets in brackets; no drawing needs more
LONG_NUMBER = re.compile(r"\d{400}")  # no browser reads it, and the tokeniser would refuse it
URL_START = re.compile(r"(url\()[ \n\t]*+", re.IGNORECASE)
UNENDED = frozenset({"eof-in-string", "eof-in-url"})  # browsers close these
BRACKETS = {"() block": ("(", ")"), "[] block": ("[", "]"), "{} block": ("{", "}"), "function": ("(", ")")}


class Unwritable(Exception):
    """Tokens that hold an error, an escape, or brackets nested too deep."""


class Css:
    """A piece of CSS, its tokens, and the way back to text."""

    def __init__(self, text: str) -> None:
        # As the tokeniser does, so that its places are places in our text.
        self.text = text.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
        self.is_readable = LONG_NUMBER.search(self.text) is None
        self.tokens: Tokens = tinycss2.parse_component_value_list(self.text) if self.is_readable else []
        self.lines = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def write(self, tokens: Tokens, depth: int = 0) -> str:
        """The text of tokens, comments and white space as one space; raises Unwritable."""
        if depth > MAX_NESTING:
            raise Unwritable
        return "".join(self._write_one(token, depth) for token in tokens).strip(" " if depth == 0 else "")

    def _write_one(self, token: ast.Node, depth: int) -> str:
        kind = token.type
        if kind in ("whitespace", "comment"):
            return " "
        if kind in BRACKETS:
            start = self._as_written(token, token.name) if kind == "function" else ""
            opening, closing = BRACKETS[kind]
            content = token.arguments if kind == "function" else token.content
            return f"{start}{opening}{self.write(content, depth + 1)}{closing}"
        if kind == "error":
            if token.kind in UNENDED:
                return ""
            raise Unwritable
        return self._write_leaf(token, kind)

    def _write_leaf(self, token: ast.Node, kind: str) -> str:
        if kind == "string":
            quote = self.text[self._place(token)]
            return quote + self._as_written(token, token.value, skipped=1) + quote
        if kind == "url":
            start = URL_START.match(self.text, self._place(token))
            if start is None:
                raise Unwritable
            return f"{start[1]}{self._as_written(token, token.value, skipped=len(start[0]))})"
        if kind == "dimension":
            return self._as_written(token, token.representation + token.unit)
        mark = {"at-keyword": "@", "hash": "#"}.get(kind)
        if mark or kind == "ident":
            return self._as_written(token, (mark or "") + token.value)
        return str(token.serialize())

    def _as_written(self, token: ast.Node, value: str, *, skipped: int = 0) -> str:
        """The value, if that is how the text spells it: an escape can spell any word."""
        if not self.text.startswith(value, self._place(token) + skipped):
            raise Unwritable
        return value

    def _place(self, token: ast.Node) -> int:
        place: int = self.lines[token.source_line - 1] + token.source_column - 1
        return place


def rules_of(tokens: Tokens) -> Iterator[tuple[Tokens, Tokens | None]]:
    """(prelude, body) of each rule; body is None for a statement such as `@import …;`."""
    start = 0
    for at, token in enumerate(tokens):
        if token.type == "{} block":
            yield tokens[start:at], token.content
            start = at + 1
        elif is_mark(token, ";") or (token.type == "error" and token.kind == "}"):
            if any(part.type not in ("whitespace", "comment") for part in tokens[start:at]):
                yield tokens[start:at], None
            start = at + 1


def split(tokens: Tokens, mark: str) -> list[Tokens]:
    """Parts between marks, brackets kept whole."""
    parts: list[Tokens] = []
    start = 0
    for at, token in enumerate(tokens):
        if is_mark(token, mark):
            parts.append(tokens[start:at])
            start = at + 1
    return [*parts, tokens[start:]]


def is_mark(token: ast.Node, mark: str) -> bool:
    return bool(token.type == "literal" and token.value == mark)
