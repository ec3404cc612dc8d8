"""SVG drawings: found in an answer, weighed, made safe to show, and measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from lxml import etree

from benchsite.lib.text import REPLACEMENT, clean_text
from generation.formats.base import Answer, DemoAnswer, Extraction, Format, Picture
from generation.formats.identity import find_signature
from generation.formats.svg import demo, gate, parsing
from generation.formats.svg.names import ANIMATION, SHAPES
from generation.formats.svg.paint.scattering import scatter
from generation.formats.svg.parsing import local, texts_of
from generation.formats.svg.sanitising import Copy, sanitise
from generation.formats.svg.source import Source, find_source
from generation.formats.svg.statistics import describe_structure
from generation.formats.svg.tolerance import is_tolerant, repair
from generation.formats.svg.words import read_in_order, read_lines

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
MAX_TEXT = 4000  # characters of words kept as facts


class SvgFormat(Format):
    """The `svg` format; a drawing is the judged copy, shown only through `<img>`."""

    name = "svg"
    label = "SVG"
    version = 2  # CSS is read by the standard's grammar
    shown_as = "image"
    asked_by = r"(?s)^(?!.*ascii).*svg"
    example = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="4" fill="red"/></svg>'
    )

    def extract(self, answer: Answer) -> Extraction:
        """`options["names"]` are names a signature may carry, beside the well-known ones."""
        text, cleaned = clean_text(answer.text)
        source = find_source(text)
        if source is None:
            if REPLACEMENT in text:
                return Extraction(None, "invalid_utf8", "The answer is not UTF-8 text and holds no <svg>.", cleaned)
            return Extraction(None, "no_svg", "The answer holds no <svg> element.", cleaned)
        if source.defines_entities:
            detail = "The drawing brings its own document type definition."
            return Extraction(None, "doctype_forbidden", detail, cleaned)
        try:
            gate.check_bytes(source.text)
            text, tolerated = _readable(source.text, answer)
            root, repairs = parsing.parse(text)
            gate.check_tree(root)
            copy = sanitise(root)
            copy.flags |= gate.check_cost(copy.root)
        except gate.TooMuch as limit:
            return Extraction(None, limit.reason, limit.detail, cleaned)
        except parsing.NotWellFormed as error:
            return Extraction(None, *_explain(error, source, answer), cleaned)
        if _is_blank(copy.root):
            removed = tuple(sorted({*cleaned, *copy.flags}))
            return Extraction(None, "blank_output", "The drawing has no shape to show.", removed)
        facts = _facts(source, repairs, copy, answer.options.get("names", ()))
        facts["tolerated"] = tolerated
        flags = {*cleaned, *copy.flags, *_flags(source, facts, copy)}
        return Extraction(copy.text, flags=tuple(sorted(flags)), facts=facts)

    def measure(self, drawing: str, answer: Answer, *, backend: str = "builtin") -> dict[str, Any]:
        """The structure of the drawing as the model wrote it; of the drawing given where the answer is not at hand."""
        source = find_source(clean_text(answer.text)[0])
        text = _readable(source.text, answer)[0] if source else drawing
        return describe_structure(text, parsing.parse(text)[0])

    def demo_answer(self, turns: Sequence[str], *, skill: float, random: Random) -> DemoAnswer:
        return DemoAnswer(demo.draw(turns[-1], skill, random), fence="svg")

    def damage(self, drawing: str, *, random: Random) -> str | None:
        return scatter(drawing, random)

    def render(self, drawing: str, *, variant: str = "") -> Picture | None:
        return Picture("image/svg+xml", drawing.encode("utf-8"))


def _readable(text: str, answer: Answer) -> tuple[str, list[str]]:
    """The text to parse, and what was put right where the suite takes drawings as a browser does."""
    return repair(text) if is_tolerant(answer.options) else (text, [])


def _explain(error: parsing.NotWellFormed, source: Source, answer: Answer) -> tuple[str, str]:
    detail = f"The parser stopped at {error}."
    if "depth" in detail.lower():
        return "too_deep", f"Elements are nested more than {gate.MAX_DEPTH} deep."
    if CONTROL.search(source.text):
        return "control_character", f"{detail} The drawing has control characters, which no XML may hold."
    if answer.finish_reason == "length":
        detail += " The answer was cut off at the token limit."
    elif not source.complete:
        detail += " The closing tag never came."
    return "not_well_formed", detail


def _is_blank(root: etree._Element) -> bool:
    """Without a shape nothing is painted, unless a filter floods its region."""
    return not any(local(element) in SHAPES or local(element) == "filter" for element in root.iter("*"))


def _flags(source: Source, facts: dict[str, Any], copy: Copy) -> list[str]:
    by_flag = {
        "reasoning_in_content": source.reasoned,
        "extracted_from_html": source.in_html,
        "doctype_removed": source.has_doctype,
        "several_drawings": source.several,
        "namespace_added": bool(facts["repairs"]),
        "browser_tolerance": bool(facts["tolerated"]),
        "identity_leak": bool(facts["signed"] or facts["signed_unseen"]),
        "stylesheet_instruction": "<?xml-stylesheet" in source.head or "<?xml-stylesheet" in source.text,
    }
    return [flag for flag, holds in by_flag.items() if holds]


def _facts(source: Source, repairs: list[str], copy: Copy, names: Iterable[str]) -> dict[str, Any]:
    """JSON-able; `signed_text` was dropped and could name its maker, `shown_text` is what a judge can read."""
    elements = list(copy.root.iter("*"))
    dropped = "\n".join(filter(None, [_comments(source.head), copy.signed_text]))[:MAX_TEXT]
    shown = "\n".join(text for element in elements for text in _words(element))
    ids = "\n".join(element.get("id", "") for element in elements)
    return {
        "repairs": repairs,
        "removed": dict(copy.removed),
        "animated": bool(copy.keyframes.frames) or any(local(element) in ANIMATION for element in elements),
        "signed_text": dropped,
        "shown_text": shown[:MAX_TEXT],
        "signed": find_signature("\n".join((shown, *read_lines(copy.root), read_in_order(copy.root), ids)), names),
        "signed_unseen": find_signature(dropped, names),
    }


def _words(element: etree._Element) -> list[str]:
    texts = [" ".join(texts_of(element)).strip()] if local(element) == "text" else []
    return [text for text in texts if text]


def _comments(head: str) -> str:
    """Comments before the drawing: they never reach a judge, but may say who drew it."""
    return "\n".join(part.partition("-->")[0].strip() for part in head.split("<!--")[1:] if "-->" in part)


FORMAT = SvgFormat()
