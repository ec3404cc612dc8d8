"""SVG markup: elements, text, lines and whole pictures.

Colours are presentation attributes, which a page's stylesheet overrules by class: the same text follows light and dark on a
page and stands alone as a file. Nothing is a style, so a strict content policy holds.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

INK, SOFT, LINE, ACCENT, PAPER = "#1d1c1a", "#5d5a54", "#d9d5cc", "#0b5cad", "#ffffff"
FACE = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"


class Svg(str):
    """Markup with every name escaped, which templates therefore show as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def tag(name: str, content: str = "", **attributes: object) -> Svg:
    """One element; underscores become hyphens, `class_` is class; content is already escaped."""
    pairs = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(str(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    return Svg(f"<{name}{pairs}>{content}</{name}>" if content else f"<{name}{pairs}/>")


def text(x: float | str, y: float, words: str, *, anchor: str = "start", soft: bool = False, size: int = 13) -> Svg:
    return tag(
        "text",
        escape(words),
        x=x,
        y=y,
        text_anchor=anchor,
        font_size=size,
        fill=SOFT if soft else INK,
        class_="soft" if soft else "ink",
    )


def line(
    x1: object, y1: object, x2: object, y2: object, *, kind: str, colour: str | None, width: float | None = 1
) -> Svg:
    """Without a colour and a width a page's stylesheet gives both by its class."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind, stroke=colour, stroke_width=width)


def picture(width: float, height: float, label: str, content: str, *, role: str = "img") -> Svg:
    """A whole drawing that grows with the page and says what it is."""
    return tag(
        "svg",
        tag("title", escape(label)) + content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        class_="chart",
        role=role,
        aria_label=label,
        font_family=FACE,
    )
