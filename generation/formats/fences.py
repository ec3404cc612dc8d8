"""The one scanner for what models wrap answers in: fences, JSON objects, reasoning tags. One pass each, linear time."""

from __future__ import annotations

import re
from dataclasses import dataclass

# No person or model writes a fence line this long; beyond it the line is art or an attack.
MAX_FENCE_LINE = 1_000
REASONING_TAGS = ("think", "thinking", "thought", "reasoning", "reflection")

_JSON_MARKS = re.compile(r'["\\{}\n]')
_OPEN_TAG = re.compile(rf"\s{{0,3}}<({'|'.join(REASONING_TAGS)})>", re.IGNORECASE)
_ANY_TAG = re.compile(rf"</?(?:{'|'.join(REASONING_TAGS)})>", re.IGNORECASE)
_CLOSE_TAG = re.compile(rf"</(?:{'|'.join(REASONING_TAGS)})>", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """A fenced code block as CommonMark pairs it."""

    info: str
    content: str
    closed: bool
    nested: bool  # a line inside would itself open a fence
    mark: str = "`"  # what the fence is made of: ` or ~


def lines_of(text: str) -> list[str]:
    """Lines ended by LF, CRLF or CR; other separators are characters like any other."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _opening(line: str) -> tuple[str, int, int, str] | None:
    """(mark, length, indent, info) if the line opens a fence: at most 3 spaces, then three or more ` or ~."""
    rest = line.lstrip(" ")
    indent = len(line) - len(rest)
    mark = rest[:1]
    if indent > 3 or mark not in ("`", "~") or not rest.startswith(mark * 3) or len(line) > MAX_FENCE_LINE:
        return None
    info = rest.lstrip(mark)
    if mark == "`" and "`" in info:
        return None
    return mark, len(rest) - len(info), indent, info.strip(" \t")


def _closes(line: str, mark: str, length: int) -> bool:
    rest = line.lstrip(" ")
    if len(line) - len(rest) > 3 or not rest.startswith(mark * length):
        return False
    return not rest.lstrip(mark).strip(" \t")


def _without_indent(line: str, indent: int) -> str:
    """The line less the opening fence's own indent, as far as it has that many spaces."""
    here = len(line[:indent]) - len(line[:indent].lstrip(" "))
    return line[here:]


def fenced_blocks(text: str) -> list[Block]:
    """Every fenced block in order. An unclosed one runs to the end, so only the last can be unclosed.

    Top level only: fences inside block quotes, or indented four or more inside lists, are not looked for.
    """
    blocks: list[Block] = []
    inside: list[str] = []
    fence: tuple[str, int, int, str] | None = None
    nested = False
    for line in lines_of(text):
        if fence is None:
            fence, inside, nested = _opening(line), [], False
        elif _closes(line, fence[0], fence[1]):
            blocks.append(Block(fence[3], "\n".join(inside), True, nested, fence[0]))
            fence = None
        else:
            nested = nested or _opening(line) is not None
            inside.append(_without_indent(line, fence[2]))
    if fence is not None:
        blocks.append(Block(fence[3], "\n".join(inside), False, nested, fence[0]))
    return blocks


def strip_reasoning(text: str) -> tuple[str, bool]:
    """The text without `<think>…</think>` and its like, and whether there was any.

    - An opening tag counts at the start of a line outside a fence; the first closing tag after it ends it.
    - A closing tag without an opening one ends reasoning that began before the answer did.
    - Reasoning that never ends takes the rest of the text with it.
    """
    if not _ANY_TAG.search(text):
        return text, False
    kept: list[str] = []
    fence: tuple[str, int, int, str] | None = None
    thinking = reasoned = False
    for line in lines_of(text):
        if fence is not None:
            fence = None if _closes(line, fence[0], fence[1]) else fence
        else:
            rest, thinking, restart = _reasoning_line(line, thinking)
            reasoned = reasoned or thinking or rest != line
            line = rest
            kept = [] if restart else kept
            if thinking:
                continue
            fence = _opening(line)
        kept.append(line)
    return ("\n".join(kept), True) if reasoned else (text, False)


def _reasoning_line(line: str, thinking: bool) -> tuple[str, bool, bool]:
    """(what is left of the line, still thinking, an unopened tag closed here) for a line outside a fence."""
    restart = False
    at = 0
    while True:
        close = _CLOSE_TAG.search(line, at)
        if not thinking and (start := _OPEN_TAG.match(line, at)) is not None:
            at, thinking = start.end(), True
        elif close is None:
            return ("", True, restart) if thinking else (line[at:], False, restart)
        else:
            at, thinking, restart = close.end(), False, restart or not thinking


def json_objects(text: str) -> list[str]:
    """Every balanced `{…}` that no other balanced one contains, in order.

    Braces inside JSON strings do not count. A string ends at the line's end at the latest, as JSON demands, so a stray
    quote or brace in prose spoils no more than its own line.
    """
    spans: list[tuple[int, int]] = []
    starts: list[int] = []
    in_string = False
    skip = -1
    for match in _JSON_MARKS.finditer(text):
        at, mark = match.start(), match.group()
        if at == skip:
            continue
        if mark == "\n":
            in_string = False
        elif mark == "\\":
            skip = at + 1 if in_string else -1
        elif mark == '"':
            in_string = not in_string and bool(starts)
        elif in_string:
            continue
        elif mark == "{":
            starts.append(at)
        elif starts:
            begin = starts.pop()
            while spans and spans[-1][0] > begin:
                spans.pop()
            spans.append((begin, at + 1))
    return [text[begin:end] for begin, end in spans]
