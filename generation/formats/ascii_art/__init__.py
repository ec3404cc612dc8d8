"""ASCII art: the first fenced block of an answer, shown as text in three fonts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

from benchsite.lib.text import REPLACEMENT, visible
from generation.formats.ascii_art import demo
from generation.formats.base import Answer, DemoAnswer, Extraction, Format
from generation.formats.fences import Block, fenced_blocks, strip_reasoning
from generation.formats.identity import find_signature
from generation.formats.raster.cells import ZWJ, cells_of, coverage, is_blank, is_combining, is_wide, width_of
from generation.formats.raster.robustness import similarity
from generation.formats.tokens import least_tokens

MAX_COLUMNS = 500
MAX_LINES = 500
MAX_MARKS = 8
LEAST_MARKS, LEAST_SIGNS = 2, 12  # of a drawing that can be damaged beyond doubt

_ANSI = re.compile("[\x1b\x90\x98\x9b\x9d\x9e\x9f]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BROKEN = re.compile(f"[{REPLACEMENT}\ud800-\udfff]")
# Browsers break lines at these too.
_LINE_BREAKS = str.maketrans(dict.fromkeys("\x85\u2028\u2029", "\n"))
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Zero-width characters, tags and variation selectors beyond the emoji one: they can carry a message no eye sees.
_HIDDEN = re.compile(
    "[\u00ad\u034f\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufe00-\ufe0e\ufeff\ufff0-\ufffb]"
    "|[\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_EMOJI_JOIN = re.compile("([\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])")
_JOIN_STAND_IN = "\ue000"
_PLAIN_INFO = re.compile(r"[A-Za-z0-9_+.#-]{0,32}")
_TO_JUDGE = re.compile(
    r"\bjudges?\b|\b(?:press|hit|type|choose|select|pick)\s+\[?[adsf]\]?(?![a-z])|\bvote\b|\bdisqualif"
    r"|\bother (?:drawing|candidate|side|image|picture|one)\b|\b(?:left|right) is better\b|\bignore (?:all|previous)\b"
)


class AsciiArt(Format):
    """The rules of docs/suites/ascii.md."""

    name = "ascii_art"
    label = "ASCII art"
    version = 3  # tokens are counted here where the provider does not
    shown_as = "text"
    example = "```\n /\\_/\\\n( o.o )\n > ^ <\n```"
    shown_in_fonts = True

    def extract(self, answer: Answer) -> Extraction:
        """`options["names"]` are names a signature may carry, beside the well-known ones."""
        text, reasoned = strip_reasoning(answer.text)
        flags = ["reasoning_in_content"] if reasoned else []
        if over_limit(answer):
            return _invalid("truncated", _limit_detail(answer), flags)
        blocks = fenced_blocks(text)
        if not blocks and REPLACEMENT in text:
            return _invalid("invalid_utf8", "The answer is not UTF-8 text and has no fenced code block.", flags)
        if not blocks:
            return _invalid("no_code_block", "The answer has no fenced code block.", flags)
        block = blocks[0]
        facts = {"blocks": len(blocks), "info": visible(block.info[:80])}
        flags += _block_flags(block, len(blocks))
        if not block.closed:
            return _invalid("unterminated_code_block", "The code block is never closed.", flags, facts)
        content = block.content.translate(_LINE_BREAKS)
        drawing = trim_blank_lines(remove_hidden(content))
        reason, detail = _fault(content, drawing)
        if reason:
            return _invalid(reason, detail, flags, facts)
        if not content.isascii() and len(remove_hidden(content)) != len(content):
            flags.append("hidden_characters")
        signed = find_signature(drawing, answer.options.get("names", ()))
        if signed:
            flags.append("identity_leak")
            facts["signed"] = signed
        return Extraction(drawing, flags=tuple(flags + _drawing_flags(drawing)), facts=facts)

    def damage(self, drawing: str, *, random: Random) -> str | None:
        """Signs swap places all over the drawing, and some become signs that stand elsewhere in it."""
        lines = drawing.expandtabs().splitlines()
        marks = sorted({sign for line in lines for sign in line if not sign.isspace()})
        width = max((len(line) for line in lines), default=0)
        cells = [sign for line in lines for sign in line.ljust(width)]
        if len(marks) < LEAST_MARKS or sum(not sign.isspace() for sign in cells) < LEAST_SIGNS:
            return None
        random.shuffle(cells)
        lost = random.uniform(0.1, 0.3)
        cells = [
            random.choice(marks) if random.random() < lost / 3 else " " if random.random() < lost else sign
            for sign in cells
        ]
        rows = ["".join(cells[start : start + width]).rstrip() for start in range(0, len(cells), width)]
        return trim_blank_lines("\n".join(rows)) or None

    def measure(self, drawing: str, answer: Answer, *, backend: str = "builtin") -> dict[str, Any]:
        lines = drawing.split("\n")
        cells = cells_of(drawing)
        fonts, faces = coverage(cells), similarity(drawing)
        return {
            "width": max(width_of(line) for line in lines),
            "height": len(lines),
            "cells": len(cells),
            "fonts": fonts,
            "coverage": min(fonts.values()),
            "similarity": faces,
            "robustness": min(faces.values()),
        }

    def demo_answer(self, turns: Sequence[str], *, skill: float, random: Random) -> DemoAnswer:
        return DemoAnswer(demo.draw(turns[-1], skill, random))


def over_limit(answer: Answer) -> bool:
    """Cut off by the provider, or longer than allowed: by the provider's own count, else by the least it can be."""
    if answer.finish_reason == "length":
        return True
    if answer.max_tokens is None:
        return False
    return _tokens(answer) > answer.max_tokens


def _tokens(answer: Answer) -> int:
    return least_tokens(answer.text) if answer.completion_tokens is None else answer.completion_tokens


def _limit_detail(answer: Answer) -> str:
    used = f"{'at least ' if answer.completion_tokens is None else ''}{_tokens(answer)}"
    return f"The answer ran over the token limit ({used} of {answer.max_tokens or '?'} tokens)."


def _invalid(reason: str, detail: str, flags: list[str], facts: dict[str, Any] | None = None) -> Extraction:
    return Extraction(None, reason, detail, tuple(flags), facts or {})


def remove_hidden(text: str) -> str:
    """The text without invisible characters; joiners stay where they join two emoji."""
    if text.isascii():
        return text
    # The stand-in is private use; a text that has it already only loses its emoji joins.
    if ZWJ in text and _JOIN_STAND_IN not in text:
        text = _EMOJI_JOIN.sub(r"\1" + _JOIN_STAND_IN, text)
        return _HIDDEN.sub("", text).replace(_JOIN_STAND_IN, ZWJ)
    return _HIDDEN.sub("", text)


def trim_blank_lines(text: str) -> str:
    """The text without its blank first and last lines; every other line stays as it is, indent and all."""
    lines = text.split("\n")
    inked = [number for number, line in enumerate(lines) if not all(map(is_blank, line))]
    return "\n".join(lines[inked[0] : inked[-1] + 1]) if inked else ""


def _fault(content: str, drawing: str) -> tuple[str, str]:
    """Why the block cannot be shown to a judge: a reason and a sentence, or two empty strings."""
    if not content:
        return "empty_output", "The code block is empty."
    if _ANSI.search(content):
        return "ansi_escape", "The drawing has terminal escape codes, which the task forbids."
    if control := _CONTROL.search(content):
        return "control_character", f"The drawing has the control character U+{ord(control.group()):04X}."
    if _BROKEN.search(content):
        return "invalid_utf8", "The drawing has bytes that are not text."
    if not drawing:
        return "blank_output", "The code block has only white space."
    return _size_fault(drawing)


def _size_fault(drawing: str) -> tuple[str, str]:
    lines = drawing.split("\n")
    if len(lines) > MAX_LINES:
        return "too_many_lines", f"The drawing has {len(lines)} lines; {MAX_LINES} are allowed."
    marks = 0
    for character in "" if drawing.isascii() else drawing:
        marks = marks + 1 if is_combining(character) else 0
        if marks > MAX_MARKS:
            return "combining_flood", f"A character carries more than {MAX_MARKS} combining marks."
    columns = max(map(width_of, lines))
    if columns > MAX_COLUMNS:
        return "line_too_long", f"A line is {columns} columns wide; {MAX_COLUMNS} are allowed."
    return "", ""


def _block_flags(block: Block, count: int) -> list[str]:
    flags = {
        "multiple_code_blocks": count > 1,
        "nested_fence": block.nested,
        "tilde_fence": block.mark == "~",
        "odd_info_string": _PLAIN_INFO.fullmatch(block.info) is None,
    }
    return [flag for flag, there in flags.items() if there]


def _drawing_flags(drawing: str) -> list[str]:
    plain = drawing.isascii()
    flags = {
        "tabs": "\t" in drawing,
        "instructs_judge": _TO_JUDGE.search(drawing.lower()) is not None,
        "non_ascii": not plain,
        "wide_characters": not plain and any(map(is_wide, drawing)),
        "combining_characters": not plain and any(map(is_combining, drawing)),
        "bidi_control": not plain and _BIDI.search(drawing) is not None,
    }
    return [flag for flag, there in flags.items() if there]


FORMAT = AsciiArt()
