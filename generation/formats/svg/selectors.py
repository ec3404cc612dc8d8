"""Which elements a rule of a cleaned stylesheet may reach, by its last simple selector; never fewer than a browser finds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from generation.formats.svg.css import NESTING, at_word
from generation.formats.svg.parsing import local
from generation.formats.svg.tokens import Css, Tokens, rules_of

COMPOUND = re.compile(r"[\s>+~]+")

Selector = tuple[str, str]  # `.` and a class, `#` and an id, a tag alone, or `*` for everything
ALL: Selector = ("*", "")


def stylesheet_rules(root: etree._Element) -> Iterator[tuple[list[Selector], str]]:
    """The selectors and declarations of each rule; what keyframes declare may reach everything."""
    for style in root.iter("{*}style"):
        css = Css(style.text or "")
        yield from _rules(css, css.tokens)


def _rules(css: Css, tokens: Tokens) -> Iterator[tuple[list[Selector], str]]:
    for prelude, body in rules_of(tokens):
        word = at_word(prelude)
        if word in NESTING:
            yield from _rules(css, body or ())
        elif word:
            yield from (([ALL], css.write(inside or ())) for _, inside in rules_of(body or ()))
        else:
            yield [_last(selector) for selector in css.write(prelude).split(",")], css.write(body or ())


def _last(selector: str) -> Selector:
    last = COMPOUND.split(selector.strip())[-1].partition(":")[0].partition("[")[0]
    for mark in "#.":
        if mark in last:
            return mark, re.split(r"[.#]", last.partition(mark)[2])[0]
    return ("", last) if last and last != "*" else ALL


def selectors_of(element: etree._Element) -> list[Selector]:
    """All that an element answers to."""
    words = [(".", word) for word in element.get("class", "").split()]
    return [*words, ("#", element.get("id", "")), ("", local(element)), ALL]
