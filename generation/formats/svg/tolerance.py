"""Faults that stop an XML parser and no browser, put right where a suite says `format_options: {tolerance: browser}`.

A bare `&`, entities of HTML such as `&nbsp;`, and what is left of JSX: `strokeWidth={2}`, `className`, `style={{…}}`, comments in
braces. Every repair is named, so that it can be flagged. Each pattern is bounded, so that reading stays linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html.entities import html5
from typing import Any

STRICT, BROWSER = "strict", "browser"
AMPERSAND = re.compile(r"&(?:#(?:[0-9]{1,7}|x[0-9A-Fa-f]{1,6});|([A-Za-z][A-Za-z0-9]{1,31});)?")
XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
COMMENT = re.compile(r"\{/\*(?:(?!\*/)[\s\S]){0,300}\*/\}")
STYLE = re.compile(r"(?<=\s)style=\{\{([^{}<>]{0,2000})\}\}")
BRACES = re.compile(r"""(?<=\s)([A-Za-z][\w:-]{0,60})=\{\s{0,20}["'`]?([^{}<>"'`]{0,1000})["'`]?\s{0,20}\}""")
WORDS = "stroke fill stop clip font text color flood lighting marker dominant alignment baseline letter word pointer paint shape"
CAMEL = re.compile(rf"(?<=\s)(?:{'|'.join(WORDS.split())})(?:[A-Z][a-z]{{1,20}}){{1,3}}(?==)")
RENAMED = {"className": "class", "xlinkHref": "xlink:href", "xmlnsXlink": "xmlns:xlink", "xmlSpace": "xml:space"}
OTHER = re.compile(rf"(?<=\s)(?:{'|'.join(RENAMED)})(?==)")
QUOTES = " \n\t\"'`"
CAPITAL = re.compile(r"[A-Z]")


def is_tolerant(options: Mapping[str, Any]) -> bool:
    return bool(options.get("tolerance", STRICT) == BROWSER)


def repair(text: str) -> tuple[str, list[str]]:
    """The text as a browser would take it, and what was put right."""
    repairs = []
    for name, pattern, replace in REPAIRS:
        repaired = pattern.sub(replace, text)
        if repaired != text:
            text = repaired
            repairs.append(name)
    return text, repairs


def _entity(match: re.Match[str]) -> str:
    whole, name = match[0], match[1]
    if whole == "&":
        return "&amp;"
    if name is None or name in XML_ENTITIES:
        return whole
    return "".join(f"&#{ord(sign)};" for sign in html5[f"{name};"]) if f"{name};" in html5 else f"&amp;{name};"


def _style(match: re.Match[str]) -> str:
    """`{{fontSize: 12, fill: 'red'}}` as CSS."""
    rules = (rule.partition(":") for rule in match[1].split(",") if ":" in rule)
    text = ";".join(f"{_kebab(key.strip(QUOTES))}:{value.strip(QUOTES)}" for key, _, value in rules)
    return f'style="{text.replace(chr(34), "")}"'


def _kebab(name: str) -> str:
    return CAPITAL.sub(lambda capital: f"-{capital[0].lower()}", name)


REPAIRS: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    ("comment in braces removed", COMMENT, lambda match: ""),
    ("style in braces", STYLE, _style),
    ("attribute in braces", BRACES, lambda match: f'{match[1]}="{match[2].strip()}"'),
    ("attribute's name", CAMEL, lambda match: _kebab(match[0])),
    ("attribute's name", OTHER, lambda match: RENAMED[match[0]]),
    ("& escaped", AMPERSAND, _entity),
)
