"""Where the drawing sits in an answer: the first `<svg …>` with its matching `</svg>`, found in one pass."""

from __future__ import annotations

import re
from dataclasses import dataclass

from generation.formats.fences import strip_reasoning

TOKEN = re.compile(r"<(?:!--|!\[CDATA\[|\?|/(?:[\w.-]+:)?svg\s*>|(?:[\w.-]+:)?svg(?=[\s/>]))|```|~~~")
SKIPPED = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}
HTML = re.compile(r"<(?:!doctype\s+html|html|head|body|div|main|section|figure)\b", re.IGNORECASE)
DOCTYPE = re.compile(r"<!doctype\b[^\[>]*+(\[?)", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """The drawing as the model wrote it, and the words before it."""

    text: str
    head: str
    complete: bool  # False when the closing tag never came
    several: bool  # another drawing follows
    reasoned: bool  # reasoning in tags was left out

    @property
    def in_html(self) -> bool:
        return HTML.search(self.head) is not None

    @property
    def has_doctype(self) -> bool:
        return DOCTYPE.search(self.head) is not None and not self.in_html

    @property
    def defines_entities(self) -> bool:
        return any(match[1] for match in DOCTYPE.finditer(self.head))


def find_source(answer: str) -> Source | None:
    """The first complete drawing outside the model's reasoning; else the first that was begun; else None."""
    text, reasoned = strip_reasoning(answer)
    start, end, complete = _find_span(text)
    if start < 0:
        return None
    several = complete and _find_span(text[end:])[2]
    return Source(text[start:end].rstrip(), text[:start], complete, several, reasoned)


def _find_span(text: str) -> tuple[int, int, bool]:
    """Start, end and whether it closes; (-1, -1, False) when there is no drawing.

    - A fence line inside an open drawing ends it: what was open was a mention in prose, or was cut off.
    - `` `<svg>` `` in backticks is a mention. So is a bare `<svg>` that never closes around one that does.
    """
    opened: list[int] = []
    inner = broken = None
    unclosed: set[str] = set()  # a terminator that is not ahead is looked for only once, so the scan stays linear
    at = 0
    while token := TOKEN.search(text, at):
        at, kind = token.end(), token[0]
        if kind in SKIPPED:
            at = _skip(text, at, SKIPPED[kind], unclosed)
        elif kind.startswith("</"):
            if not opened or text[token.start() - 1] == "`":
                continue
            span = (opened.pop(), at)
            if not opened:
                return *span, True
            inner = span if inner is None or span[0] < inner[0] else inner
        elif kind.startswith("<"):
            close = _skip(text, at, ">", unclosed)
            if ">" in unclosed or text[close : close + 1] == "`":
                broken = broken or ((token.start(), len(text)) if ">" in unclosed else None)
                continue
            if text[close - 2] != "/":
                opened.append(token.start())
            elif not opened:
                return token.start(), close, True
            at = close
        elif opened and _starts_line(text, token.start()):
            broken = broken or (opened[0], token.start())
            opened.clear()
            inner = None
    if inner and all(text.startswith("<svg>", start) for start in opened if start < inner[0]):
        return *inner, True
    broken = broken or ((opened[0], len(text)) if opened else (-1, -1))
    return *broken, False


def _starts_line(text: str, at: int) -> bool:
    """Whether at most three spaces stand before, as before a fence."""
    before = text[max(0, at - 4) : at].rpartition("\n")
    return not before[2].strip(" ") and (bool(before[1]) or at < 4)


def _skip(text: str, at: int, terminator: str, unclosed: set[str]) -> int:
    end = -1 if terminator in unclosed else text.find(terminator, at)
    if end < 0:
        unclosed.add(terminator)
        return at
    return end + len(terminator)
