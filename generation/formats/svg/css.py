"""The little of CSS that a drawing needs: rules and declarations that reach nothing outside the drawing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

from generation.formats.svg.motion import OTHER_CHANGES, PAINT, PAINT_CHANGES
from generation.formats.svg.names import ALLOWED
from generation.formats.svg.tokens import Css, Tokens, Unwritable, is_mark, rules_of, split

URL = re.compile(r"url\(\s*+[\"']?+\s*+(.?)", re.IGNORECASE | re.DOTALL)
LOCAL_URL = re.compile(r"url\(\s*+[\"']?+\s*+#([^\"')\s]+)", re.IGNORECASE)
FETCHING = re.compile(r"\b(?:image-set|image|src|cross-fade|element)\(", re.IGNORECASE)
PROPERTY = re.compile(r"-{0,2}[a-z_][\w-]*")
STOPS = re.compile(r"[\w.%, ]+")
TIME = re.compile(r"(?<![\w.-])(\d++(?:\.\d++)?|\.\d++)(m?s)\b", re.IGNORECASE)
NUMBER = re.compile(r"\d*\.?\d+(?:e[+-]?\d+)?", re.IGNORECASE)
# Of selectors: what names no element.
PLAIN_TOKENS = frozenset(["whitespace", "comment", "literal", "hash", "[] block"])
NESTING = frozenset({"media", "supports"})
MAX_DEPTH = 3  # of rules in such rules

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


class Keyframes:
    """The `@keyframes` of a drawing: name -> (changes in one cycle, whether paint changes)."""

    def __init__(self, frames: Mapping[str, tuple[int, bool]]) -> None:
        self.frames = frames
        # An animation that names none may mean any: the ones that change most stand for all.
        by_paint = {paints: changes for changes, paints in sorted(frames.values())}
        self.quickest = tuple((changes, paints) for paints, changes in by_paint.items())


def is_external(value: str) -> bool:
    """Whether a value names anything but a part of the same drawing."""
    return any(url[1] != "#" for url in URL.finditer(value)) or FETCHING.search(value) is not None


def clean_declarations(css: Css, tokens: Tokens, keyframes: Keyframes) -> tuple[str, set[str]]:
    """The declarations that may stay, as `a:b;c:d`, and a flag for each reason to drop one."""
    kept: list[str] = []
    flags: set[str] = set() if css.is_readable else {"style_removed"}
    for part in split(tokens, ";"):
        colon = next((at for at, token in enumerate(part) if is_mark(token, ":")), None)
        if colon is None:
            continue
        try:
            name, value = css.write(part[:colon]), css.write(part[colon + 1 :])
        except Unwritable:
            flags.add("style_removed")
            continue
        flag = _objection(name.lower(), value, keyframes)
        if flag:
            flags.add(flag)
        elif value:
            kept.append(f"{name if name.startswith('--') else name.lower()}:{value}")
    return ";".join(kept), flags


def clean_stylesheet(css: Css, keyframes: Keyframes) -> tuple[str, set[str]]:
    """The rules that may stay and the flags of those that may not.

    A selector that names an element SVG does not have is meant for the page around the drawing: `style_scoped`.
    """
    flags: set[str] = {"active_content_removed"} if "<" in css.text else set()
    if not css.is_readable:
        flags.add("style_removed")
    text, more = _clean_rules(css, css.tokens, keyframes, depth=0)
    return text, flags | more


def _clean_rules(css: Css, tokens: Tokens, keyframes: Keyframes, *, depth: int) -> tuple[str, set[str]]:
    kept: list[str] = []
    flags: set[str] = set()
    for prelude, body in rules_of(tokens):
        word = at_word(prelude)
        if body is None or word == "font-face":
            flags.add("external_reference_removed" if word in ("import", "font-face") else "style_removed")
            continue
        if word in NESTING and depth < MAX_DEPTH:
            inner, more = _clean_rules(css, body, keyframes, depth=depth + 1)
        elif word in ("keyframes", "-webkit-keyframes"):
            inner, more = _clean_keyframes(css, body, keyframes)
        elif word:
            inner, more = "", {"style_removed"}
        else:
            inner, more = clean_declarations(css, body, keyframes)
        selector, dropped = _clean_prelude(css, prelude, word)
        flags |= more | dropped
        if selector and inner and not re.search(r"[<\\]", selector):
            kept.append(f"{selector}{{{inner}}}")
    return "".join(kept), flags


def read_keyframes(tokens: Tokens, *, depth: int = 0) -> dict[str, tuple[int, bool]]:
    """Of each `@keyframes`: how many changes one cycle has, and whether paint changes."""
    frames: dict[str, tuple[int, bool]] = {}
    for prelude, body in rules_of(tokens):
        word = at_word(prelude)
        if body is None:
            continue
        if word.endswith("keyframes"):
            names = [token.value for token in prelude if token.type in ("ident", "string")]
            if len(names) == 1:
                frames[names[0]] = _count_changes(body)
        elif word in NESTING and depth < MAX_DEPTH:
            frames |= read_keyframes(body, depth=depth + 1)
    return frames


def at_word(prelude: Tokens) -> str:
    """`media` for `@media …`; empty for a rule with a selector."""
    first = next((token for token in prelude if token.type not in ("whitespace", "comment")), None)
    return str(first.lower_value) if first is not None and first.type == "at-keyword" else ""


def _count_changes(body: Tokens) -> tuple[int, bool]:
    stops: set[str] = set()
    paints = False
    for selectors, inside in rules_of(body):
        stops |= {_stop(part) for part in split(selectors, ",")}
        paints = paints or any(_property(part) in PAINT for part in split(inside or (), ";"))
    return max(2, len(stops) - 1), paints


def _property(declaration: Tokens) -> str:
    first = next((token for token in declaration if token.type not in ("whitespace", "comment")), None)
    return str(first.lower_value) if first is not None and first.type == "ident" else ""


def _stop(selector: Tokens) -> str:
    """A keyframe's selector, such as `50%`, as a key; what else it may hold makes it a stop of its own."""
    return "".join(token.serialize() for token in selector if token.type in ("ident", "percentage", "number")).lower()


def _clean_keyframes(css: Css, body: Tokens, keyframes: Keyframes) -> tuple[str, set[str]]:
    kept: list[str] = []
    flags: set[str] = set()
    for prelude, inside in rules_of(body):
        declarations, more = clean_declarations(css, inside or (), keyframes)
        flags |= more
        with suppress(Unwritable):
            stops = css.write(prelude)
            if declarations and STOPS.fullmatch(stops):
                kept.append(f"{stops}{{{declarations}}}")
    return "".join(kept), flags


def _clean_prelude(css: Css, prelude: Tokens, word: str) -> tuple[str, set[str]]:
    try:
        if word:
            return css.write(prelude), set()
        selectors = split(prelude, ",")
        kept = [text for selector in selectors if (text := css.write(selector)) and _may_match(selector)]
    except Unwritable:
        return "", {"style_removed"}
    return ",".join(kept), set() if len(kept) == len(selectors) else {"style_scoped"}


def _may_match(selector: Tokens) -> bool:
    """Whether every element it names is one of SVG's; what stands in brackets only narrows it."""
    before = ""
    for token in selector:
        qualifies = before in (".", ":") and token.type in ("ident", "function")
        if not qualifies and token.type not in PLAIN_TOKENS and not (token.type == "ident" and token.value in ALLOWED):
            return False
        before = token.value if token.type == "literal" else ""
    return True


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
        words = [word.strip("\"'") for word in part.split()]
        named = [keyframes.frames[word] for word in words if word in keyframes.frames]
        for changes, paints in named or (keyframes.quickest if name != "animation" else ()):
            if seconds > 0 and changes / seconds > (PAINT_CHANGES if paints else OTHER_CHANGES):
                return True
    return False
