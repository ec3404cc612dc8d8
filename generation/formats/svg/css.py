"""The little of CSS that a drawing needs: rules and declarations that reach nothing outside the drawing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from generation.formats.svg.motion import OTHER_CHANGES, PAINT, PAINT_CHANGES
from generation.formats.svg.names import ALLOWED

COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
PIECE = re.compile(r""""[^"\n]*"|'[^'\n]*'|[{};,]""")
URL = re.compile(r"url\(\s*[\"']?\s*(.?)", re.IGNORECASE | re.DOTALL)
LOCAL_URL = re.compile(r"url\(\s*[\"']?\s*#([^\"')\s]+)", re.IGNORECASE)
FETCHING = re.compile(r"\b(?:image-set|image|src|cross-fade|element)\(", re.IGNORECASE)
PROPERTY = re.compile(r"-{0,2}[a-z_][\w-]*")
NOT_A_TYPE = re.compile(r"\[[^\]]*\]|[.#:]+[\w-]+(?:\([^)]*\))?")
WORD = re.compile(r"[A-Za-z][\w-]*")
TIME = re.compile(r"(?<![\w.-])(\d*\.?\d+)(m?s)\b", re.IGNORECASE)
NUMBER = re.compile(r"\d*\.?\d+(?:e[+-]?\d+)?", re.IGNORECASE)

LAYOUT = frozenset(
    [
        "position",
        "inset",
        "top",
        "right",
        "bottom",
        "left",
        "z-index",
        "float",
        "backdrop-filter",
        "pointer-events",
        "cursor",
    ]
)
SIZES = frozenset(["width", "height", "min-width", "min-height", "max-width", "max-height"])
MAX_SIDE = 8192

Keyframes = Mapping[str, tuple[int, bool]]  # name -> (changes in one cycle, whether paint changes)


def is_external(value: str) -> bool:
    """Whether a value names anything but a part of the same drawing."""
    return any(found[1] != "#" for found in URL.finditer(value)) or FETCHING.search(value) is not None


def clean_declarations(text: str, keyframes: Keyframes) -> tuple[str, set[str]]:
    """The declarations that may stay, as `a:b;c:d`, and a flag for each reason to drop one."""
    kept: list[str] = []
    flags: set[str] = set()
    for part in _split(strip_comments(text), ";"):
        name, colon, value = part.partition(":")
        name, value = name.strip(), " ".join(value.split())
        if not colon:
            continue
        flag = _objection(name.lower(), value, keyframes)
        if flag:
            flags.add(flag)
        elif value:
            kept.append(f"{name if name.startswith('--') else name.lower()}:{value}")
    return ";".join(kept), flags


def clean_stylesheet(text: str, keyframes: Keyframes, *, depth: int = 0) -> tuple[str, set[str]]:
    """The rules that may stay and the flags of those that may not.

    A selector that names an element SVG does not have is meant for the page around the drawing: `style_scoped`.
    """
    kept: list[str] = []
    flags: set[str] = {"active_content_removed"} if "<" in text else set()
    for prelude, body in blocks(strip_comments(text)):
        word = prelude.partition(" ")[0].lower()
        if body is None or word == "@font-face":
            flags.add("external_reference_removed" if word in ("@import", "@font-face") else "style_removed")
            continue
        if word in ("@media", "@supports") and depth < 3:
            inner, found = clean_stylesheet(body, keyframes, depth=depth + 1)
        elif word in ("@keyframes", "@-webkit-keyframes"):
            inner, found = _clean_keyframes(body, keyframes)
        elif word.startswith("@"):
            inner, found = "", {"style_removed"}
        else:
            prelude, found = _clean_selectors(prelude)
            inner, more = clean_declarations(body, keyframes)
            found |= more
        flags |= found
        if prelude and inner and not re.search(r"[<\\]", prelude):
            kept.append(f"{prelude}{{{inner}}}")
    return "".join(kept), flags


def read_keyframes(text: str, *, depth: int = 0) -> dict[str, tuple[int, bool]]:
    found: dict[str, tuple[int, bool]] = {}
    for prelude, body in blocks(strip_comments(text)):
        words = prelude.split()
        if body is not None and len(words) == 2 and words[0].lower().endswith("keyframes"):
            stops = {stop.strip() for selectors, _ in blocks(body) for stop in selectors.split(",")}
            paints = any(part.partition(":")[0].strip().lower() in PAINT for part in re.split("[{;]", body))
            found[words[1]] = (max(2, len(stops) - 1), paints)
        elif body is not None and words[:1] in (["@media"], ["@supports"]) and depth < 3:
            found |= read_keyframes(body, depth=depth + 1)
    return found


def blocks(text: str) -> Iterator[tuple[str, str | None]]:
    """(prelude, body) of each top-level rule; body is None for a statement such as `@import …;`."""
    depth = start = opened = 0
    for piece in PIECE.finditer(text):
        mark = piece[0]
        if mark == "{":
            opened = piece.end() if depth == 0 else opened
            depth += 1
        elif mark == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                yield " ".join(text[start : opened - 1].split()), text[opened : piece.start()]
                start = piece.end()
        elif mark in ";}" and depth == 0:
            prelude = " ".join(text[start : piece.start()].split())
            if prelude:
                yield prelude, None
            start = piece.end()


def strip_comments(text: str) -> str:
    return COMMENT.sub(" ", text)


def _clean_keyframes(body: str, keyframes: Keyframes) -> tuple[str, set[str]]:
    kept: list[str] = []
    flags: set[str] = set()
    for prelude, inside in blocks(body):
        declarations, found = clean_declarations(inside or "", keyframes)
        flags |= found
        if declarations and re.fullmatch(r"[\w.%, ]+", prelude):
            kept.append(f"{prelude}{{{declarations}}}")
    return "".join(kept), flags


def _clean_selectors(prelude: str) -> tuple[str, set[str]]:
    selectors = [selector.strip() for selector in _split(prelude, ",")]
    kept = [selector for selector in selectors if selector and _may_match(selector)]
    return ",".join(kept), set() if len(kept) == len(selectors) else {"style_scoped"}


def _may_match(selector: str) -> bool:
    return all(word in ALLOWED for word in WORD.findall(NOT_A_TYPE.sub(" ", selector)))


def _objection(name: str, value: str, keyframes: Keyframes) -> str:
    low = value.lower()
    if "<" in low or "javascript:" in low or "expression(" in low or name in ("behavior", "-moz-binding"):
        return "active_content_removed"
    if is_external(value):
        return "external_reference_removed"
    # A backslash can spell any word; a custom property can carry a reference to where it is not counted.
    hidden = "\\" in name + value or "{" in value or (name.startswith("--") and "url(" in low)
    if hidden or name in LAYOUT or not PROPERTY.fullmatch(name):
        return "style_removed"
    if name in SIZES and any(float(number) > MAX_SIDE for number in NUMBER.findall(value)):
        return "dimensions_clamped"
    if name.startswith("animation") and _strobes(name, value, keyframes):
        return "animation"
    return ""


def _strobes(name: str, value: str, keyframes: Keyframes) -> bool:
    for part in value.split(","):
        times = TIME.findall(part)
        if not times or name == "animation-delay":
            continue
        seconds = float(times[0][0]) * (0.001 if times[0][1].lower() == "ms" else 1)
        named = [keyframes[word] for word in part.split() if word in keyframes]
        for changes, paints in named or (keyframes.values() if name != "animation" else []):
            if seconds > 0 and changes / seconds > (PAINT_CHANGES if paints else OTHER_CHANGES):
                return True
    return False


def _split(text: str, mark: str) -> list[str]:
    """Parts between marks; a mark inside quotes does not part."""
    parts: list[str] = []
    start = 0
    for piece in PIECE.finditer(text):
        if piece[0] == mark:
            parts.append(text[start : piece.start()])
            start = piece.end()
    return [*parts, text[start:]]
