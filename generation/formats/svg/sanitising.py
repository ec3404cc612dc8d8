"""The judged copy: the drawing rebuilt from what may stay, with everything that acts, reaches out or signs left behind."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field

from lxml import etree

from generation.formats.svg import names
from generation.formats.svg.css import (
    MAX_SIDE,
    Keyframes,
    clean_declarations,
    clean_stylesheet,
    is_external,
    read_keyframes,
)
from generation.formats.svg.motion import find_strobes
from generation.formats.svg.parsing import SVG, XHTML, XLINK, XML, attributes_of, local, namespace, texts_of
from generation.formats.svg.tokens import Css

CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f]")
ACTING = re.compile(r"(?:java|vb|live)script:|data:text|data:image/svg|data:application", re.IGNORECASE)
LENGTH = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(px|pt|pc|mm|cm|in|em|rem|ex|%|)\s*")
FETCHING_ATTRIBUTES = frozenset({"src", "ping", "formaction", "action"})
MAX_SIGNED = 4000


@dataclass
class Copy:
    """A judged copy and what was left behind on the way to it."""

    root: etree._Element
    flags: set[str] = field(default_factory=set)
    removed: Counter[str] = field(default_factory=Counter)
    signed: list[str] = field(default_factory=list)  # words of comments, titles, descriptions, metadata, data-*
    keyframes: Keyframes = field(default_factory=lambda: Keyframes({}))
    styles: dict[etree._Element, Css] = field(default_factory=dict)
    declarations: dict[str, tuple[str, set[str]]] = field(default_factory=dict)  # of `style` attributes, by text
    strobes: set[etree._Element] = field(default_factory=set)

    @property
    def text(self) -> str:
        return etree.tostring(self.root, encoding="unicode")

    @property
    def signed_text(self) -> str:
        return "\n".join(words.strip() for words in self.signed if words.strip())[:MAX_SIGNED]


def sanitise(root: etree._Element) -> Copy:
    copy = Copy(etree.fromstring(f'<svg xmlns="{SVG}"/>'))
    copy.styles = {style: Css("".join(texts_of(style))) for style in root.iter(f"{{{SVG}}}style")}
    copy.keyframes = Keyframes(
        {name: f for css in copy.styles.values() for name, f in read_keyframes(css.tokens).items()}
    )
    copy.strobes = find_strobes(root)
    for key, value in _attributes(root, copy).items():
        copy.root.set(key, value)
    _copy_children(root, copy.root, copy)
    _clamp(copy)
    return copy


def _copy_children(source: etree._Element, target: etree._Element, copy: Copy) -> None:
    keeps_text = local(source) in names.TEXT
    last: etree._Element | None = None
    words = [source.text or ""]  # since the last child that stays
    for child in source:
        made = _copy_element(child, target, copy)
        if made is not None:
            _set_words(target, last, words if keeps_text else [])
            last, words = made, []
        words.append(child.tail or "")
    _set_words(target, last, words if keeps_text else [])


def _set_words(target: etree._Element, last: etree._Element | None, words: list[str]) -> None:
    text = "".join(words)
    if last is not None:
        last.tail = text or None
    else:
        target.text = text or None


def _copy_element(child: etree._Element, target: etree._Element, copy: Copy) -> etree._Element | None:
    name = local(child)
    if not name or namespace(child) != SVG or name not in names.ALLOWED:
        _leave(child, name, copy)
        return None
    if name in names.ANIMATION and not _may_animate(child, copy):
        copy.removed[name] += 1
        return None
    if name == "style":
        return _copy_style(child, target, copy)
    attributes = _attributes(child, copy)
    if name in ("use", "mpath") and "href" not in attributes:
        copy.removed[name] += 1
        return None
    made = etree.SubElement(target, child.tag, attributes)
    _copy_children(child, made, copy)
    return made


def _leave(child: etree._Element, name: str, copy: Copy) -> None:
    if not name:
        copy.signed.append(child.text or "")
        return
    copy.removed[name] += 1
    if name in names.SIGNING or namespace(child) not in (SVG, XHTML):
        copy.signed.append(" ".join(texts_of(child)))
    if name in names.ACTIVE or namespace(child) == XHTML:
        copy.flags.add("active_content_removed")
    elif name in names.EXTERNAL:
        copy.flags.add("external_reference_removed")


def _copy_style(child: etree._Element, target: etree._Element, copy: Copy) -> etree._Element | None:
    text, flags = clean_stylesheet(copy.styles[child], copy.keyframes)
    copy.flags |= flags
    if not text:
        return None
    made = etree.SubElement(target, f"{{{SVG}}}style")
    made.text = text
    media = child.get("media")
    if media and not is_external(media):
        made.set("media", media)
    return made


def _attributes(source: etree._Element, copy: Copy) -> dict[str, str]:
    """What may stay of an element's attributes."""
    kept: dict[str, str] = {}
    for key, value in attributes_of(source):
        if key in names.PLAIN and "(" not in value:
            kept[key] = value  # nearly all are numbers, colours and words
        elif key.startswith("{"):
            _keep_foreign(key, value, source, kept, copy)
        elif key == "href":
            _keep_reference(value, kept, copy)
        elif key.lower().startswith("on"):
            _drop(key, "active_content_removed", copy)
        elif key.startswith(("data-", "aria-")) or key in ("role", "lang"):
            copy.signed.append(value)
        elif key == "style":
            _keep_declarations(value, kept, copy)
        else:
            _keep_value(key, value, kept, copy)
    return kept


def _keep_foreign(key: str, value: str, source: etree._Element, kept: dict[str, str], copy: Copy) -> None:
    """Of attributes with a namespace only `xml:space`, and `xlink:href` unless the plain spelling is there, too."""
    if key == f"{{{XML}}}space":
        kept[key] = value
    elif key == f"{{{XLINK}}}href" and source.get("href") is None:
        _keep_reference(value, kept, copy)


def _keep_reference(value: str, kept: dict[str, str], copy: Copy) -> None:
    bare = CONTROL.sub("", value)
    if bare.startswith("#"):
        kept["href"] = bare
    else:
        acts = ACTING.match(bare) is not None
        _drop("href", "active_content_removed" if acts else "external_reference_removed", copy)


def _keep_declarations(value: str, kept: dict[str, str], copy: Copy) -> None:
    if value not in copy.declarations:  # drawings say the same of many shapes
        css = Css(value)
        copy.declarations[value] = clean_declarations(css, css.tokens, copy.keyframes)
    text, flags = copy.declarations[value]
    copy.flags |= flags
    if text:
        kept["style"] = text


def _keep_value(name: str, value: str, kept: dict[str, str], copy: Copy) -> None:
    if is_external(value) or name in FETCHING_ATTRIBUTES:
        _drop(name, "external_reference_removed", copy)
    elif ACTING.search(CONTROL.sub("", value)):
        _drop(name, "active_content_removed", copy)
    elif "\\" in value and "(" in value:
        _drop(name, "style_removed", copy)
    else:
        kept[name] = value


def _drop(name: str, flag: str, copy: Copy) -> None:
    copy.removed[f"@{name.lower()}"] += 1
    copy.flags.add(flag)


def _may_animate(element: etree._Element, copy: Copy) -> bool:
    """An animation may not write links, styles or handlers, and may not flash."""
    target = element.get("attributeName", "").strip().rpartition(":")[2].lower()
    values = " ".join(element.get(name, "") for name in ("values", "from", "to", "by"))
    if target in ("href", "style", "class") or target.startswith("on") or ACTING.search(CONTROL.sub("", values)):
        copy.flags.add("active_content_removed")
        return False
    if element in copy.strobes:
        copy.flags.add("animation")
        return False
    return True


def _clamp(copy: Copy) -> None:
    """Sizes that no frame can hold are dropped; a drawing with plain sizes and no view box gets one, so that it scales."""
    root = copy.root
    box = root.get("viewBox")
    if box is not None and not _is_view_box(box):
        del root.attrib["viewBox"]
        box = None
        copy.flags.add("dimensions_clamped")
    sizes = {side: _length(root.get(side, "100%")) for side in ("width", "height")}
    for side, length in sizes.items():
        if length is None:
            del root.attrib[side]
            copy.flags.add("dimensions_clamped")
    plain = [length for length in sizes.values() if length is not None and length[1] in ("", "px")]
    if box is None and len(plain) == 2:
        root.set("viewBox", f"0 0 {plain[0][0]} {plain[1][0]}")


def _length(text: str) -> tuple[str, str] | None:
    length = LENGTH.fullmatch(text)
    if text.strip() == "auto":
        return "100", "%"
    if length is None or not 0 < float(length[1]) <= MAX_SIDE:
        return None
    return length[1], length[2]


def _is_view_box(text: str) -> bool:
    try:
        numbers = [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        return False
    inside = all(math.isfinite(number) and abs(number) <= 1e6 for number in numbers)
    return len(numbers) == 4 and inside and min(numbers[2:]) > 0
