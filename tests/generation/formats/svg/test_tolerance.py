"""Browser tolerance as a rule of the suite: strict, or as a browser shows it (seed 002)."""

from __future__ import annotations

import pytest

from generation.formats.base import Answer
from generation.formats.svg import FORMAT

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">{}</svg>'
BROWSER = {"tolerance": "browser"}
FAULTS = {
    "a bare ampersand": ("<text>Tom & Jerry</text>", "Tom &amp; Jerry"),
    "an entity of HTML": ("<text>a&nbsp;b</text>", "a\u00a0b"),
    "an attribute in braces": ("<path d={'M0 0h5'} strokeWidth={2}/>", 'stroke-width="2"'),
    "a style in braces": ("<rect width='5' height='5' style={{fillOpacity: 0.5, fill: 'red'}}/>", "fill-opacity:0.5"),
    "a comment in braces": ("{/* the body */}<rect width='5' height='5' fill={`blue`}/>", 'fill="blue"'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_browser_shows_is_repaired_and_flagged_where_the_suite_says_so(fault):
    body, shown = FAULTS[fault]

    tolerant = FORMAT.extract(Answer(SVG.format(body), options=BROWSER))

    assert shown in tolerant.drawing
    assert "browser_tolerance" in tolerant.flags and tolerant.facts["tolerated"]
    assert FORMAT.measure(tolerant.drawing, Answer(SVG.format(body), options=BROWSER))["tags"] == 2


@pytest.mark.parametrize("fault", ["a bare ampersand", "an entity of HTML", "an attribute in braces"])
def test_it_is_strict_unless_the_suite_says_otherwise(fault):
    extraction = FORMAT.extract(Answer(SVG.format(FAULTS[fault][0])))

    assert (extraction.valid, extraction.reason) == (False, "not_well_formed")


def test_a_name_in_jsx_is_taken_as_the_attribute_it_stands_for():
    text = SVG.format(
        '<clipPath id="c"><rect width="5" height="5"/></clipPath><circle r="4" clipPath="url(#c)" strokeWidth="2"/>'
    )

    tolerant = FORMAT.extract(Answer(text, options=BROWSER)).drawing

    assert 'clip-path="url(#' in tolerant and "<clipPath" in tolerant
    assert "stroke-width" not in FORMAT.extract(Answer(text)).drawing


@pytest.mark.parametrize("body", ['<circle r="4" fill="&#35;f00"/>', "<text>&lt;&amp;&gt;</text>"])
def test_a_drawing_without_fault_is_the_same_under_both_rules(body):
    strict, tolerant = (FORMAT.extract(Answer(SVG.format(body), options=options)) for options in ({}, BROWSER))

    assert (strict.drawing, strict.flags) == (tolerant.drawing, tolerant.flags)


def test_braces_bring_nothing_past_the_sanitiser():
    body = "<rect width='5' height='5' onClick={alert} onload={evil()} fill={'url(http://x/)'}/><script>{1}</script>"

    drawing = FORMAT.extract(Answer(SVG.format(body), options=BROWSER)).drawing

    assert "alert" not in drawing and "evil" not in drawing and "http://x" not in drawing and "script" not in drawing
