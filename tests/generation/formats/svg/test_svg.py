"""SVG drawings as the suite finds, weighs and shows them."""

from __future__ import annotations

import pytest
from lxml import etree

from benchsite.lib.text import decode
from generation.formats import get_format
from generation.formats.base import Answer
from generation.formats.svg import FORMAT
from generation.formats.svg.parsing import SVG
from tests.hostile import case_bytes, cases

CIRCLE = '<circle cx="50" cy="50" r="40" fill="gold"/>'


def extract(text: str, **facts):
    return FORMAT.extract(Answer(text, **facts))


def svg(inside: str, attributes: str = 'viewBox="0 0 100 100"') -> str:
    return f'<svg xmlns="{SVG}" {attributes}>{inside}</svg>'


ACCEPTED = [case for case in cases("svg") if case["verdict"] != "invalid"]


def test_it_works():
    extraction = get_format("svg").extract(Answer(f"Here it is:\n```svg\n{svg(CIRCLE)}\n```"))

    assert extraction.drawing == svg(CIRCLE)
    assert (extraction.reason, extraction.flags) == ("", ())
    assert FORMAT.render(extraction.drawing).media_type == "image/svg+xml"
    assert FORMAT.render(extraction.drawing).body == svg(CIRCLE).encode()


@pytest.mark.parametrize("case", cases("svg"), ids=lambda case: case["id"])
def test_hostile_case_meets_its_index(case):
    extraction = extract(decode(case_bytes(case))[0])

    if case["verdict"] == "invalid":
        assert (extraction.drawing, extraction.reason) == (None, case["reason"])
        assert extraction.detail
    elif case["verdict"] == "accept":
        assert extraction.valid
        assert extraction.flags == ()
    else:
        assert extraction.valid
        assert case["reason"] in extraction.flags


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case["id"])
def test_judged_copy_of_hostile_case_cannot_act(case):
    drawing = extract(decode(case_bytes(case))[0]).drawing

    for element in etree.fromstring(drawing.encode()).iter():
        assert element.tag.startswith(f"{{{SVG}}}")
        assert element.tag.rpartition("}")[2] not in ("script", "foreignObject", "image", "title", "desc", "metadata")
        assert not [name for name in element.attrib if name.startswith(("on", "data-"))]
        assert element.get("href", "#").startswith("#")
    for word in ("198.51.100.7", "javascript", "document.title", "@import", "position", "<!--"):
        assert word not in drawing.lower()


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case["id"])
def test_judged_copy_read_again_is_the_same(case):
    drawing = extract(decode(case_bytes(case))[0]).drawing

    assert extract(drawing).drawing == drawing


# Finding


@pytest.mark.parametrize(
    "before, after",
    [
        ("", ""),
        ("```xml\n", "\n```"),
        ("~~~\n", "\n~~~"),
        ('<?xml version="1.0" encoding="latin-1"?>\n', ""),
        ("The `<svg>` element ends with `</svg>`:\n```\n", "\n```"),
        ("I will write an <svg> element.\n\n```svg\n", "\n```"),
        ("Here is the <svg> code: ", " Enjoy!"),
        ("As inline code `", "`."),
        ("<think><svg><rect/></svg></think>\n", ""),
        ("so, an <svg/> then</think>\n", ""),
        ("<!-- <svg> -->", ""),
    ],
)
def test_drawing_is_found_wherever_it_stands(before, after):
    assert extract(before + svg(CIRCLE) + after).drawing == svg(CIRCLE)


def test_first_drawing_wins():
    extraction = extract(svg(CIRCLE) + "\nor\n" + svg("<rect/>"))

    assert extraction.drawing == svg(CIRCLE)
    assert extraction.flags == ("several_drawings",)


def test_nested_drawing_is_kept_whole():
    nested = svg(f'<svg x="1"><svg>{CIRCLE}</svg></svg><rect width="1" height="1"/>')

    assert extract(nested).drawing == nested


def test_text_that_looks_like_an_end_does_not_end_it():
    extraction = extract(svg("<!-- </svg> --><text><![CDATA[</svg>]]></text>" + CIRCLE))

    assert extraction.drawing == svg("<text>&lt;/svg&gt;</text>" + CIRCLE)


def test_drawing_with_nested_one_cut_off_is_not_taken_for_the_nested_one():
    assert extract(f'<svg xmlns="{SVG}" width="9"><svg>{CIRCLE}</svg><path d="M').reason == "not_well_formed"


def test_cut_off_drawing_says_where_and_why():
    extraction = extract(f'<svg xmlns="{SVG}">\n<g>\n<path d="M0', finish_reason="length")

    assert extraction.reason == "not_well_formed"
    assert "line 3" in extraction.detail
    assert "token limit" in extraction.detail


@pytest.mark.parametrize("text", ["", "No.", "< svg>", "<svgs></svgs>", "<think><svg></svg>"])
def test_answer_without_drawing(text):
    assert extract(text).reason == "no_svg"


@pytest.mark.parametrize("text", [svg("a & b"), svg('<path d="M0 <!-- x -->"/>'), svg("<g></p>"), svg("&nbsp;")])
def test_text_that_is_no_xml_is_not_repaired(text):
    assert extract(text).reason == "not_well_formed"


def test_plain_doctype_is_dropped_and_said():
    doctype = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    extraction = extract(doctype + svg(CIRCLE))

    assert (extraction.drawing, extraction.flags) == (svg(CIRCLE), ("doctype_removed",))


# Namespaces


@pytest.mark.parametrize(
    "root, repairs",
    [
        ("<svg>", ["xmlns added"]),
        ('<svg xmlns="https://www.w3.org/2000/svg/">', ["xmlns corrected"]),
        ('<svg xmlns="http://www.w3.org/2000/svg" xlink:title="a>b">', ["xmlns:xlink added"]),
        ('<svg inkscape:version="1" sodipodi:x="2">', ["xmlns added", "xmlns:inkscape added", "xmlns:sodipodi added"]),
    ],
)
def test_namespaces_are_repaired_and_named(root, repairs):
    extraction = extract(f"{root}<circle r='4'/></svg>")

    assert extraction.drawing == f'<svg xmlns="{SVG}"><circle r="4"/></svg>'
    assert extraction.facts["repairs"] == repairs
    assert extraction.flags == ("namespace_added",)


def test_undeclared_xlink_still_refers():
    extraction = extract(svg('<g id="a"/><use xlink:href="#a"/>'))

    assert extraction.drawing == svg('<g id="a"/><use href="#a"/>')


# What has no picture, and what is only flagged


@pytest.mark.parametrize("inside", ["", "<g/>", "<defs><linearGradient/></defs>", "<title>A cat</title>"])
def test_empty_drawing_is_not_shown(inside):
    assert extract(svg(inside)).reason == "blank_output"


def test_reference_that_leads_back_to_itself_is_flagged():
    cycle = '<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'
    shared = (
        '<g id="a"/><use href="#a"/><use href="#a"/><style>*{filter:url(#f)}</style><filter id="f"><feFlood/></filter>'
    )

    assert extract(svg(cycle + CIRCLE)).flags == ("reference_cycle",)
    assert extract(svg(shared + CIRCLE)).flags == ()


def test_stylesheet_instruction_is_flagged():
    assert extract(f'<?xml-stylesheet href="a.css"?>{svg(CIRCLE)}').flags == ("stylesheet_instruction",)


@pytest.mark.parametrize(
    "text, reason", [(svg("<text>\x01</text>"), "control_character"), ("\ufffd<\ufffds\ufffdv", "invalid_utf8")]
)
def test_odd_encodings_have_their_own_reasons(text, reason):
    assert extract(text).reason == reason
