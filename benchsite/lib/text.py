"""Text from outside made safe to store, to print, and to put in a spreadsheet or a page of Markdown."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable

REPLACEMENT = "\ufffd"
NUL_REPLACED = "nul_replaced"
SURROGATE_REPLACED = "surrogate_replaced"
INVALID_UTF8 = "invalid_utf8"

_SURROGATES = re.compile("[\ud800-\udfff]")
# A spreadsheet reads a cell that starts like this as a formula; the full-width forms are folded by some of them.
_FORMULA_STARTS = frozenset("=+-@\t\r\n＝＋－＠")
_CSV_MARK = "'"
_MARKUP = re.compile(r"[\\|`*_\[\]<>#]")


def clean_text(text: str) -> tuple[str, tuple[str, ...]]:
    """The text as both databases can store it, with a flag for each kind of repair.

    - U+0000 (refused by PostgreSQL) and lone surrogates (no UTF-8 form) become U+FFFD.
    - Surrogates that make up a pair are joined into the character they mean.
    """
    flags = []
    if "\0" in text:
        text = text.replace("\0", REPLACEMENT)
        flags.append(NUL_REPLACED)
    if _SURROGATES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        if _SURROGATES.search(text):
            text = _SURROGATES.sub(REPLACEMENT, text)
            flags.append(SURROGATE_REPLACED)
    return text, tuple(flags)


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """UTF-8 bytes as text; what is not UTF-8 becomes U+FFFD, and a flag says so."""
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), (INVALID_UTF8,)


def _visible_character(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def visible(text: str, *, newlines: bool = False) -> str:
    """The text with every character shown that a terminal would obey or hide.

    ESC becomes ␛ and so on; C1 controls, bidi marks, zero-width and tag characters, surrogates and line separators
    become backslash escapes. Line feeds and tabs stay with `newlines=True`, and are shown as ␊ and ␉ otherwise.
    """
    if text.isascii() and text.isprintable():
        return text
    kept = "\n\t" if newlines else ""
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    return "".join(_visible_character(c) if unicodedata.category(c) in hidden and c not in kept else c for c in text)


def csv_cell(text: str) -> str:
    """The text as a CSV cell no spreadsheet runs; `csv_uncell` gives the text back exactly.

    The rule: an apostrophe goes in front of a text that starts with = + - @ (also full-width), tab, CR, LF or an
    apostrophe. Reading back: a leading apostrophe goes if one of those follows it.
    """
    return _CSV_MARK + text if text[:1] in _FORMULA_STARTS or text.startswith(_CSV_MARK) else text


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as a CSV file that no spreadsheet runs."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([csv_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


def csv_uncell(cell: str) -> str:
    if cell.startswith(_CSV_MARK) and (cell[1:2] in _FORMULA_STARTS or cell[1:2] == _CSV_MARK):
        return cell[1:]
    return cell


def markdown_cell(text: str) -> str:
    """The text in one line that cannot break a Markdown table or act as markup."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
