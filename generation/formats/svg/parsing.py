"""SVG text to an element tree: no DTD, no entity, no network; missing namespaces are put in and named."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import cast

from lxml import etree

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
XML = "http://www.w3.org/XML/1998/namespace"
XHTML = "http://www.w3.org/1999/xhtml"

ROOT = re.compile(r"""<(?:([\w.-]+):)?svg(?:[^"'>]|"[^"]*"|'[^']*')*+>""")
DEFAULT_NAMESPACE = re.compile(r"""(\sxmlns\s*=\s*)("[^"]*"|'[^']*')""")
UNDEFINED = re.compile(r"Namespace prefix (\S+)")


def attributes_of(element: etree._Element) -> list[tuple[str, str]]:
    """Names and values. lxml's types allow bytes, which a parsed text never has."""
    return cast(list[tuple[str, str]], element.items())


def texts_of(element: etree._Element) -> list[str]:
    """The pieces of text in an element and below it."""
    return cast(list[str], list(element.itertext()))


class NotWellFormed(Exception):
    """The parser's own words on why a text is no XML, with its line."""


def parse(text: str) -> tuple[etree._Element, list[str]]:
    """The tree and the repairs made, such as `xmlns added`; raises NotWellFormed."""
    text, repairs = _repair_root(text)
    root, missing = _parse(text)
    if missing:
        names = {prefix: XLINK if prefix == "xlink" else f"urn:undeclared:{prefix}" for prefix in missing}
        declared = "".join(f' xmlns:{prefix}="{name}"' for prefix, name in names.items())
        root, missing = _parse(_insert(text, declared))
        repairs += [f"xmlns:{prefix} added" for prefix in names]
    if root is None:
        raise NotWellFormed(f"undeclared prefixes {', '.join(missing)}")
    return root, repairs


def local(element: etree._Element) -> str:
    """The name without its namespace; empty for comments and processing instructions."""
    tag = element.tag
    return _local(tag) if isinstance(tag, str) else ""


@lru_cache(maxsize=512)
def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def namespace(element: etree._Element) -> str:
    tag = element.tag
    return tag[1:].partition("}")[0] if isinstance(tag, str) and tag.startswith("{") else ""


def _parse(text: str) -> tuple[etree._Element | None, list[str]]:
    """The tree, or None and the prefixes that nobody declared; raises NotWellFormed for any other fault."""
    # A parser of its own for each drawing: the log of an exception also holds faults of earlier drawings.
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
    )
    try:
        return etree.fromstring(text.encode("utf-8"), parser), []
    except etree.XMLSyntaxError as error:
        matches = (UNDEFINED.match(entry.message) for entry in parser.error_log)
        missing = sorted({match[1] for match in matches if match})
        if not missing:
            raise NotWellFormed(_say(error)) from error
        return None, missing


def _repair_root(text: str) -> tuple[str, list[str]]:
    root = ROOT.match(text)
    if root is None:
        return text, []
    if root[1]:
        if re.search(rf"\sxmlns:{re.escape(root[1])}\s*=", root[0]):
            return text, []
        return _insert(text, f' xmlns:{root[1]}="{SVG}"'), [f"xmlns:{root[1]} added"]
    declared = DEFAULT_NAMESPACE.search(root[0])
    if declared is None:
        return _insert(text, f' xmlns="{SVG}"'), ["xmlns added"]
    if declared[2][1:-1] == SVG:
        return text, []
    return f'{text[: declared.start(2)]}"{SVG}"{text[declared.end(2) :]}', ["xmlns corrected"]


def _insert(text: str, attributes: str) -> str:
    name_end = text.index("svg") + 3
    return text[:name_end] + attributes + text[name_end:]


def _say(error: etree.XMLSyntaxError) -> str:
    line, column = error.position
    message = (error.msg or "not well-formed").partition(", line ")[0]
    return f"line {line}, column {column}: {message}"[:300]
