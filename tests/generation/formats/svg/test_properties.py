"""Whatever a model writes: no exception, and a judged copy that reads as itself."""

from __future__ import annotations

import json
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from generation.formats.base import Answer
from generation.formats.svg import FORMAT
from generation.formats.svg.parsing import SVG

FRAGMENTS = (
    *(
        "<svg>",
        "</svg>",
        f'<svg xmlns="{SVG}" viewBox="0 0 9 9">',
        "<g>",
        "</g>",
        "<circle r='1'/>",
        "<text>a",
        "</text>",
    ),
    *(
        "<style>",
        "</style>",
        ".a{fill:red}",
        "@import 'a';",
        "@media print{",
        "}",
        "{",
        "/*",
        "*/",
        ";",
        "\\",
        '"',
        "'",
    ),
    *(
        "<use href='#a'/>",
        "<g id='a'>",
        "<![CDATA[",
        "]]>",
        "<?x?>",
        "```\n",
        "\n",
        "<think>",
        "</think>",
        "`",
        "<x:svg/>",
    ),
    *(
        "<path d='M0 0a1 1 0 11 2 2'/>",
        "<a href='java\tscript:x'>",
        "</a>",
        "<rect style='fill:url(//x);left:0'/>",
        "\0",
    ),
    *("<animate attributeName='fill' values='a;b' dur='.1s' repeatCount='9'/>", "<!DOCTYPE svg [", "<title>x</title>"),
    *("<!--", "-->", "&#9;", "&amp;", "&", "<"),
)
WELL_FORMED = (
    *(
        "<circle r='1'/>",
        "<style>.a{fill:red}b{x:y}</style>",
        "<text>a<tspan>b</tspan> c</text>",
        "<title>x</title>",
        "tail ",
    ),
    *(
        "<use href='#a'/>",
        "<g id='a'/>",
        "<use href='http://x'/>",
        "<!--c-->",
        "<script>x</script>",
        "<a href='#a'>b</a>",
    ),
    *("<rect style='fill:url(//x);left:0;opacity:.5'/>", "<text>a<desc>d</desc> c<!--x-->y</text>", "<svg width='2'/>"),
)


def svg(inside: str) -> str:
    return f'<svg xmlns="{SVG}" viewBox="0 0 100 100">{inside}</svg>'


ANSWERS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=25).map("".join)
STYLES = st.text(alphabet=string.ascii_lowercase + "@{}:;,.#()'\"/*%- \n0<&", max_size=60).map(
    lambda text: svg(f"<style><![CDATA[{text}]]></style><rect/>")
)
INLINE = st.text(alphabet=string.ascii_lowercase + ":;,.#()/*%- 0\\", max_size=60).map(
    lambda text: svg(f'<rect style="{text}" fill="{text}"/>')
)


@given(ANSWERS | ANSWERS.map(svg) | STYLES | INLINE)
@settings(max_examples=200, deadline=None)
def test_extraction_never_raises_and_is_idempotent(text):
    extraction = FORMAT.extract(Answer(text))

    json.dumps(extraction.facts)
    assert extraction.valid or extraction.reason
    if extraction.valid:
        again = FORMAT.extract(Answer(extraction.drawing))
        assert again.drawing == extraction.drawing
        assert FORMAT.measure(extraction.drawing, Answer(text), backend="builtin")["tags"] >= 1


@given(st.lists(st.sampled_from(WELL_FORMED), max_size=12))
@settings(max_examples=100, deadline=None)
def test_well_formed_drawing_is_accepted_and_idempotent(parts):
    first = FORMAT.extract(Answer(svg("".join([*parts, "<rect/>"]))))

    assert first.valid
    assert FORMAT.extract(Answer(first.drawing)).drawing == first.drawing
