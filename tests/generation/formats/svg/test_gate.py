"""Drawings that would hang a browser never reach one; rich ones do."""

from __future__ import annotations

import pytest

from generation.formats.base import Answer
from generation.formats.svg import FORMAT
from generation.formats.svg.parsing import SVG

FULL = '<rect width="100" height="100" {}/>'
CIRCLE = '<circle cx="50" cy="50" r="40" fill="gold"/>'


def extract(text: str, **facts):
    return FORMAT.extract(Answer(text, **facts))


def svg(inside: str, attributes: str = 'viewBox="0 0 100 100"') -> str:
    return f'<svg xmlns="{SVG}" {attributes}>{inside}</svg>'


# Each step takes the one before twice.
DOUBLED = (
    '<filter id="f"><feOffset result="r0"/>'
    + "".join(f'<feBlend in="r{n}" in2="r{n}" result="r{n + 1}"/>' for n in range(30))
    + f'</filter>{FULL.format("""filter="url(#f)" """)}'
)


def dashed(attributes: str = "") -> str:
    return f'<circle cx="50" cy="50" r="190" fill="none" stroke="red" {attributes}/>'


def chain(length: int, copies: int) -> str:
    uses = [f'<use href="#u{level}"/>' * copies for level in range(length)]
    return f'<g id="u0">{CIRCLE}</g>' + "".join(f'<g id="u{level}">{use}</g>' for level, use in enumerate(uses, 1))


def nested_patterns(length: int) -> str:
    fills = [f'<rect fill="url(#p{level + 1})"/>' * 9 for level in range(length)]
    return "".join(f'<pattern id="p{level}">{fill}</pattern>' for level, fill in enumerate(fills))


def animated(name: str, values: str, more: str = "") -> str:
    return f'<animate attributeName="{name}" values="{values}" dur="1s" repeatCount="indefinite" {more}/>'


FILTERED = FULL.format('filter="url(#f)"')
BLUR = '<filter id="f"><feGaussianBlur stdDeviation="2"/></filter>'
WAVE = "M0 50" + "".join(f"q5 {9 - n} 10 0" for n in range(18))
LINES = "M0 0" + "".join(f"L{n * 37 % 100} {n * 61 % 100}" for n in range(10_000))
GROWN = "".join(
    f'<circle id="c{n}" cx="50" cy="50" r=".1" filter="url(#f)"/><g>' + animated("r", "1;60", f'href="#c{n}"') + "</g>"
    for n in range(40)
)
# Cheap as they stand; an animation makes them dear.
MOVED = (
    f'<filter id="f"><feGaussianBlur stdDeviation=".1">{animated("stdDeviation", ".1;100")}</feGaussianBlur></filter>{FILTERED * 16}',
    f'<filter id="f"><feGaussianBlur id="b" stdDeviation=".1"/></filter>{FILTERED * 16}<g>{animated("stdDeviation", "9;99", """href="#b" """)}</g>',
    f'<filter id="f"><feTurbulence>{animated("numOctaves", "1;2", """accumulate="sum" """)}</feTurbulence></filter>{FILTERED * 9}',
    f'<filter id="f"><feMorphology radius="0">{animated("radius", "0;20")}</feMorphology></filter>{FILTERED * 6}',
    f'<filter id="f" width=".01" height=".01"><feGaussianBlur/>{animated("width", ".01;3")}</filter>{FILTERED * 99}',
    BLUR + f'<rect width="100" height="100">{animated("filter", "none;url(#f)")}</rect>' * 99,
    f'<mask id="m">{CIRCLE}</mask>' + f'<rect width="100" height="100">{animated("mask", "none;url(#m)")}</rect>' * 200,
    BLUR + GROWN,
    f"<path>{animated('d', f'{LINES};{LINES}')}</path>",
)


@pytest.mark.parametrize(
    "inside, reason",
    [
        ("<g>" * 120 + "</g>" * 120, "too_deep"),
        ("<g>" * 5000 + "</g>" * 5000, "too_deep"),
        ("<g/>" * 6_000, "too_complex"),
        ("<!--" + "x" * 600_000 + "-->", "too_large"),
        ("é" * 300_000, "too_large"),
        (chain(20, 2), "too_complex"),
        ('<path d="M0 0' + "h1" * 30_000 + '"/>', "too_complex"),
        ('<filter id="f"><feTurbulence numOctaves="99"/></filter>', "too_complex"),
        (
            '<filter id="f"><feGaussianBlur><animate attributeName="stdDeviation" to="9e9"/></feGaussianBlur></filter>',
            "too_complex",
        ),
        ('<filter id="f" width="9999%"/>', "too_complex"),
        ('<filter id="f"><feFlood/></filter>' + FULL.format('filter="url(#f)"') * 200, "too_complex"),
        (
            '<style>.a rect{filter:url(#f)}</style><filter id="f"><feFlood/></filter>' + FULL.format("") * 200,
            "too_complex",
        ),
        (
            '<filter id="f" width="10" height="900%"><feGaussianBlur/></filter>'
            + '<rect width="20" height="20" filter="url(#f)"/>' * 40,
            "too_complex",
        ),
        (
            '<filter id="f" filterUnits="userSpaceOnUse" width="999" height="999"><feFlood/></filter>'
            + FULL.format('filter="url(#f)"') * 150,
            "too_complex",
        ),
        ("<style>*{filter:blur(3px)}</style>" + FULL.format("") * 50, "too_complex"),
        ("<style>*{filter:blur(3000px)}</style><rect/>", "too_complex"),
        (f'<g opacity=".5">{FULL.format("")}{FULL.format("")}</g>' * 900, "too_complex"),
        (
            '<marker id="m">' + "<rect/>" * 99 + '</marker><path marker-mid="url(#m)" d="M0 0' + "h1" * 999 + '"/>',
            "too_complex",
        ),
        (nested_patterns(7), "too_complex"),
        (dashed('stroke-dasharray=".05"') * 200, "too_complex"),
        (dashed('style="stroke-dasharray:.05"') * 200, "too_complex"),
        ("<style>circle{stroke-dasharray:.05}</style>" + dashed() * 200, "too_complex"),
        ("<style>g .a{stroke-dasharray:.02}</style><g class='a'>" + dashed() * 200 + "</g>", "too_complex"),
        ("<style>:is(.a,.b){stroke-dasharray:.02}</style><g class='a'>" + dashed() * 200 + "</g>", "too_complex"),
        ('<g stroke-dasharray=".02">' + dashed() * 200 + "</g>", "too_complex"),
        (dashed('pathLength="1e6" stroke-dasharray="1"'), "too_complex"),
        (DOUBLED, "too_complex"),
        (dashed('stroke-dasharray=".0001%"') * 50, "too_complex"),
        (f'<g id="c">{dashed()}</g><use href="#c" stroke-dasharray=".001"/>', "too_complex"),
        (
            dashed() + '<circle r="9"><animate attributeName="stroke-dasharray" values="9;.001" dur="9s"/></circle>',
            "too_complex",
        ),
        ("<style>rect{-webkit-filter:blur(9px)}</style>" + FULL.format("") * 50, "too_complex"),
        ("<style>rect{-webkit-mask:linear-gradient(red,blue)}</style>" + FULL.format("") * 150, "too_complex"),
        (f'<g style="filter:{"blur(9px) " * 700}">{FULL.format("")}</g>', "too_complex"),
        (f'<text style="text-shadow:{",".join(["1px 1px 9px red"] * 500)}">a</text>', "too_complex"),
        *((moved, "too_complex") for moved in MOVED),
        (
            '<linearGradient id="g">' + "<stop/>" * 400 + "</linearGradient>" + FULL.format('fill="url(#g)"') * 300,
            "too_complex",
        ),
    ],
)
def test_bomb_is_refused(inside, reason):
    extraction = extract(svg(inside))

    assert (extraction.drawing, extraction.reason) == (None, reason)


@pytest.mark.parametrize(
    "motion",
    [
        '<circle r="2"><animate attributeName="cx" values="1;9" dur="1s" repeatCount="indefinite"/></circle>',
        "<style>.a{animation:a 1s infinite}@keyframes a{to{opacity:.5}}</style>",
    ],
)
def test_what_moves_may_take_half_a_second_a_frame(motion):
    blurs = '<filter id="f"><feGaussianBlur stdDeviation="2"/></filter>' + FULL.format('filter="url(#f)"') * 16

    still, moving, light = (extract(svg(inside)) for inside in (blurs, blurs + motion, motion + FULL.format("")))

    assert still.drawing and light.drawing
    assert (moving.drawing, moving.reason) == (None, "too_complex")
    assert "each frame of it" in moving.detail


@pytest.mark.parametrize(
    "inside",
    [
        chain(8, 2),
        "".join(f'<g id="c{n}"><use href="#c{(n + 1) % 3}"/></g>' for n in range(3)),
        '<filter id="f"><feGaussianBlur stdDeviation="4"/></filter>' + '<rect filter="url(#f)"/>' * 100,
        '<filter id="f" width="1200%" height="200%"><feGaussianBlur stdDeviation="3"/></filter><rect filter="url(#f)"/>',
        dashed('stroke-dasharray="4 2"') * 200,
        '<style>.stitch{stroke-dasharray:.05}</style><path class="stitch" d="M0 0h9"/>' + dashed() * 200,
        '<filter id="f"><feGaussianBlur stdDeviation=".5"/></filter>'
        + '<circle cx="5" cy="5" r="1" filter="url(#f)"/>' * 300,
        '<g transform="translate(9 9) scale(.5)"><g filter="url(#f)"><path d="M0 0h4v4z"/><path d="M5 5h2v2z"/></g></g>'
        * 200
        + '<filter id="f"><feDropShadow stdDeviation="1"/></filter>',
        '<mask id="m"><rect width="9" height="9" fill="#fff"/></mask>'
        + '<rect width="9" height="9" mask="url(#m)" style="mix-blend-mode:multiply"/>' * 600,
        '<path d="M0 0C9 9 80 80 90 90A5 5 0 01 10 10Z" stroke-dasharray="1000" stroke-dashoffset="1000"/>' * 50,
        '<text style="text-shadow:1px 1px 2px #000">a</text>' * 50,
        '<linearGradient id="g"><stop/></linearGradient>' + '<rect fill="url(#g)"/>' * 4000,
        f"<path>{animated('d', ';'.join([WAVE] * 5))}</path>" * 9,
        f'<filter id="f"><feGaussianBlur stdDeviation="1">{animated("stdDeviation", "1;3;1")}</feGaussianBlur></filter>'
        '<circle cx="50" cy="50" r="9" filter="url(#f)"/>',
    ],
)
def test_rich_drawing_is_not_refused(inside):
    assert extract(svg(inside)).valid


@pytest.mark.parametrize("piece", ["<svg ", "<svg>", "<!--", "```\n<svg>", "<svg a='", "<![CDATA[", "</svg>", "<?"])
def test_finding_takes_linear_steps(piece):
    # Twenty times the longest answer a run allows: a quadratic scan would not come back within the test's patience.
    assert extract(piece * 200_000).drawing is None


# The same shapes where they are small and where they cover the canvas, by size, by scale and by a reference.
@pytest.mark.parametrize(
    "shape",
    [
        '<rect width="{size}" height="{size}" filter="url(#f)"/>',
        '<g transform="scale({size})"><rect width="1" height="1" filter="url(#f)"/></g>',
        '<g filter="url(#f)"><path d="M0 0h{size}v{size}z"/></g>',
        '<use href="#u" transform="scale({size})"/>',
        '<ellipse rx="{size}" ry="{size}" style="filter:blur(1px)"/>',
    ],
)
def test_what_is_counted_is_the_area(shape):
    shared = '<filter id="f"><feGaussianBlur stdDeviation="1"/></filter>'
    shared += '<defs><rect id="u" width="1" height="1" filter="url(#f)"/></defs>'

    small, large = (svg(shared + shape.format(size=size) * 60) for size in (1, 100))

    assert extract(small).valid
    assert "paint it for about" in extract(large).detail


@pytest.mark.parametrize("huge", ["1e999", "-1e999", "9e307", "nan"])
def test_numbers_that_no_float_holds_make_nothing_small(huge):
    shape = f'<rect width="9" height="9" transform="rotate({huge}) skewX({huge}) scale({huge})" filter="url(#f)"/>'
    shape += f'<path d="M{huge} 0h{huge}" stroke="red" stroke-width="{huge}" font-size="{huge}" filter="url(#f)"/>'
    shape += f'<text x="{huge}" font-size="{huge}" filter="url(#f)">a</text>'

    few, many = (svg('<filter id="f"><feFlood/></filter>' + shape * count) for count in (1, 300))

    assert extract(few).valid
    assert extract(many).reason == "too_complex"
