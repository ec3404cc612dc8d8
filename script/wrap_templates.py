"""Breaks the lines of templates at 120 characters, and only where a browser shows the same page.

That is at spaces in text or between attributes, and around elements that begin a line of their own; never inside a Django tag
(which is one line), a quoted value, <pre>, <textarea> or a script. With --check it only names the lines that are too long.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

WIDTH, INDENT = 120, "  "
TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
BLOCKS = (
    "p|div|section|article|header|footer|main|nav|h[1-6]|ul|ol|li|dl|dt|dd|details|fieldset|figure|figcaption|option"
)
BLOCKS += "|table|caption|thead|tbody|tfoot|tr|th|td"
KEPT = re.compile(
    r"{%\s*(?P<block>comment|verbatim)\b.*?{%\s*end(?P=block)\s*%}|{%.*?%}|{{.*?}}|{#.*?#}"
    r"|<!--.*?-->|<(?P<element>pre|textarea|script|style)\b.*?(?:</(?P=element)\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
TAG = re.compile(r"</?[a-z][a-z0-9]*", re.IGNORECASE)
OPENING, CLOSING = re.compile(rf"<({BLOCKS})\b", re.IGNORECASE), re.compile(rf"</({BLOCKS})>|<br>", re.IGNORECASE)
CELL = re.compile(r"<(td|th|li|dd)", re.IGNORECASE)
# How many characters of a line are given up rather than to break it here.
AROUND_BLOCK, IN_TEXT, IN_TAG, IN_CELL, AFTER_NAME, BEFORE_END = 0, 30, 40, 40, 70, 100


def places_to_break(text: str) -> dict[int, int]:
    """Where a line may end, and how unwelcome that is."""
    places: dict[int, int] = {}
    place, inside, quote = 0, "", ""
    while place < len(text):
        if kept := KEPT.match(text, place):
            place = kept.end()
        elif quote or (inside and text[place] in "\"'"):
            quote = "" if text[place] == quote else quote or text[place]
            place += 1
        elif closing := CLOSING.match(text, place):
            places[closing.end()] = AROUND_BLOCK
            place = closing.end()
        elif not inside and (tag := TAG.match(text, place)):
            if OPENING.match(text, place):
                places[place] = AROUND_BLOCK
            place, inside = tag.end(), tag[0]
        else:
            if text[place] == " ":
                after_name = inside and text.endswith(inside, 0, place)
                places[place] = AFTER_NAME if after_name else IN_TAG if inside else IN_TEXT
            elif inside and text[place] == ">":
                places[place - (text[place - 1] == "/")] = BEFORE_END
                if CELL.fullmatch(inside):
                    places[place + 1] = IN_CELL
                inside = ""
            place += 1
    return places


def wrap(text: str) -> str:
    """The same template with no line over 120 characters, as far as there is a place to break it."""
    places, start, lines = places_to_break(text), 0, []
    for line in text.split("\n"):
        within = {place - start: cost for place, cost in places.items() if start < place < start + len(line)}
        lines += wrap_line(line, within)
        start += len(line) + 1
    return "\n".join(lines)


def wrap_line(line: str, places: dict[int, int]) -> list[str]:
    margin = line[: len(line) - len(line.lstrip())]
    lines, begin, indent = [], 0, ""
    while len(line) - begin + len(indent) > WIDTH:
        room = begin + WIDTH - len(indent)
        ahead = [place for place in places if line[begin:place].strip()]
        fitting = [place for place in ahead if place <= room]
        if not ahead:
            break
        place = max(fitting, key=lambda place: place - places[place]) if fitting else min(ahead)
        lines.append((indent + line[begin:place]).rstrip())
        begin, indent = place, margin + INDENT
        begin += len(line[begin:]) - len(line[begin:].lstrip())
    return [*lines, indent + line[begin:]]


def main(arguments: list[str]) -> int:
    code = 0
    for path in sorted(TEMPLATES.rglob("*.html")):
        text = path.read_text()
        if "--check" not in arguments and (wrapped := wrap(text)) != text:
            path.write_text(text := wrapped)
        for number, line in enumerate(text.split("\n"), start=1):
            if len(line) > WIDTH:
                print(f"{path.relative_to(TEMPLATES.parent)}:{number}: {len(line)} characters, over {WIDTH}")
                code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
