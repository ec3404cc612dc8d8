"""What a judged copy keeps, what it loses, and what is said about it."""

from __future__ import annotations

import pytest

from generation.formats.base import Answer
from generation.formats.svg import FORMAT
from generation.formats.svg.parsing import SVG

CIRCLE = '<circle cx="50" cy="50" r="40" fill="gold"/>'


def extract(text: str, **facts):
    return FORMAT.extract(Answer(text, **facts))


def svg(inside: str, attributes: str = 'viewBox="0 0 100 100"') -> str:
    return f'<svg xmlns="{SVG}" {attributes}>{inside}</svg>'


@pytest.mark.parametrize(
    "inside",
    [
        '<rect fill="url(#g)" style="filter:url(&quot;#f&quot;);fill-opacity:.5"/>',
        "<style>.a&gt;#b,circle:nth-child(2){fill:url(#g)!important}@keyframes k{from{opacity:1}to{opacity:0}}</style>",
        '<rect><animate attributeName="x" values="0;9;0" dur="2s" repeatCount="indefinite"/></rect>',
        '<g><animateTransform attributeName="transform" type="rotate" from="0" to="9" dur="0.3s"/></g>',
        '<text xml:space="preserve">a <tspan>b</tspan> c</text>',
        '<defs><path id="p" d="M0 0"/></defs><text><textPath href="#p">round</textPath></text>',
    ],
)
def test_honest_drawing_stays_as_it_is(inside):
    extraction = extract(svg(inside + CIRCLE))

    assert (extraction.drawing, extraction.flags) == (svg(inside + CIRCLE), ())


@pytest.mark.parametrize(
    "inside, flag",
    [
        ('<rect ONCLICK="a()"/>', "active_content_removed"),
        ('<rect fill="url(http://a/b#c)"/>', "external_reference_removed"),
        ("<rect fill=\"url( '//a/b#c' )\"/>", "external_reference_removed"),
        ('<rect style="fill:u\\72l(http://a)"/>', "style_removed"),
        ('<rect style="fill:url(/**/http://a)"/>', "external_reference_removed"),
        ("<rect style=\"fill:image-set('http://a' 1x)\"/>", "external_reference_removed"),
        ('<image href="data:image/png;base64,AAAA"/>', "external_reference_removed"),
        ('<use href="other.svg#a"/>', "external_reference_removed"),
        ('<animate attributeName="style" to="x"/>', "active_content_removed"),
        ('<set attributeName="onclick" to="x"/>', "active_content_removed"),
        ("<style>@font-face{font-family:a;src:url(a.woff)}</style>", "external_reference_removed"),
        ("<style>circle{behavior:url(#x)}</style>", "active_content_removed"),
        ("<style>circle{--a:url(#x)}</style>", "style_removed"),
        ("<style>@page{margin:0}</style>", "style_removed"),
        ('<iframe xmlns="http://www.w3.org/1999/xhtml" src="/"/>', "active_content_removed"),
    ],
)
def test_what_acts_or_reaches_out_is_removed_and_flagged(inside, flag):
    extraction = extract(svg(inside + CIRCLE))

    assert flag in extraction.flags
    assert "http://a" not in extraction.drawing
    assert extraction.drawing.endswith(CIRCLE + "</svg>")


@pytest.mark.parametrize(
    "inside",
    [
        '<animate attributeName="opacity" values="0;1;0;1" keyTimes="0;.01;.02;.03" dur="0.4s" repeatCount="indefinite"/>',
        '<animate attributeName="fill" from="red" to="blue" dur="200ms" repeatDur="5s"/>',
        "".join(f'<set attributeName="fill" to="{c}" begin="{n / 20}s"/>' for n, c in enumerate(["red", "blue"] * 9)),
        '<set id="a" attributeName="fill" to="red" begin="0;b.end" dur="0.05s"/>'
        '<set id="b" attributeName="fill" to="blue" begin="a.end" dur="0.05s"/>',
        '<animateTransform attributeName="transform" type="scale" values="0;1" dur="50ms" repeatCount="99"/>',
    ],
)
def test_strobe_is_frozen(inside):
    extraction = extract(svg(f"<g>{inside}{CIRCLE}</g>"))

    assert (extraction.drawing, extraction.flags) == (svg(f"<g>{CIRCLE}</g>"), ("animation",))


def test_strobe_in_a_stylesheet_is_frozen():
    frames = "@keyframes k{0%{fill:red}50%{fill:blue}}"
    quick = extract(svg(f"<style>{frames}circle{{animation:k .1s infinite;r:9px}}</style>{CIRCLE}"))
    slow = extract(svg(f"<style>{frames}circle{{animation:k 2s infinite;r:9px}}</style>{CIRCLE}"))

    assert "circle{r:9px}" in quick.drawing
    assert quick.flags == ("animation",)
    assert "circle{animation:k 2s infinite;r:9px}" in slow.drawing
    assert (slow.flags, slow.facts["animated"]) == ((), True)


def test_words_that_sign_are_dropped_and_kept_as_facts():
    extraction = extract("<!-- by Ann --><svg><title>Bob</title><g data-m='Cy'/><!--Di--><text>Eve</text></svg>")

    assert extraction.facts["signed_text"].split() == ["by", "Ann", "Bob", "Cy", "Di"]
    assert extraction.facts["shown_text"] == "Eve"
    assert extraction.drawing == f'<svg xmlns="{SVG}"><g/><text>Eve</text></svg>'


def test_visible_signature_is_flagged():
    extraction = extract(svg("<text>drawn by demo-nine</text>"), options={"names": ["demo-nine"]})

    assert extraction.flags == ("identity_leak",)
    assert extraction.facts["signed"] == ["demo-nine"]


@pytest.mark.parametrize(
    "attributes, kept, flags",
    [
        ('width="400" height="300px"', 'width="400" height="300px" viewBox="0 0 400 300"', ()),
        ('width="100%" height="auto"', 'width="100%" height="auto"', ()),
        ('width="9000" height="9" viewBox="0 0 9 9"', 'height="9" viewBox="0 0 9 9"', ("dimensions_clamped",)),
        ('viewBox="0 0 0 9"', "", ("dimensions_clamped",)),
        ('width="inf" height="nan"', "", ("dimensions_clamped",)),
        ('style="width:99999px"', "", ("dimensions_clamped",)),
    ],
)
def test_size_is_kept_where_a_frame_can_hold_it(attributes, kept, flags):
    extraction = extract(svg(CIRCLE, attributes))

    assert extraction.drawing == f'<svg xmlns="{SVG}" {kept}>{CIRCLE}</svg>'.replace(" >", ">")
    assert extraction.flags == flags
