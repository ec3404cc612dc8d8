"""Drawings as pixels: every format has them, they are the same everywhere, and a bomb costs its limit and nothing else."""

from __future__ import annotations

import hashlib
import os
import signal
from io import BytesIO

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from generation.formats import BUILT_IN, get_format
from generation.formats.base import Answer
from generation.formats.raster.cells import covered, fonts
from generation.formats.raster.text import FONTS, draw_text
from generation.formats.raster.vector import FONT, RASTERISER, CannotDraw, NotDrawnNow, Rasteriser
from tests.hostile import FOLDER

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100">{}</svg>'
RED = SVG.format('<rect width="200" height="100" fill="red"/>').encode()
BOMBS = {
    "use_bomb": (FOLDER / "svg/use_bomb.svg").read_bytes(),
    "filter_bomb": (FOLDER / "svg/filter_bomb.svg").read_bytes(),
    "deep": b"<svg xmlns='http://www.w3.org/2000/svg'>" + b"<g opacity='.9'>" * 200_000 + b"</g>" * 200_000 + b"</svg>",
}
# SHA-256 of the pixels, the first sixteen digits: they change only with a pinned renderer or a vendored font.
EXPECTED = {
    "ascii_art": "87dbcb6b1cf2b572",
    "svg": "e29ab0dce98a500a",
    "pixel_art": "8e2295b65b37dace",
    "science_birds": "770a5a3a43dfb16d",
    "courier": "0a29440de2d64fe1",
    "dejavu": "61e80a4b30ead108",
    "fira": "72bab61b8f67406b",
    "words": "e81da17a3cb2bc99",
}


def pixels(body):
    return Image.open(BytesIO(body)).convert("RGB")


def digest(picture):
    return hashlib.sha256(picture.convert("RGB").tobytes()).hexdigest()[:16]


@pytest.fixture
def rasteriser():
    pool = Rasteriser(workers=1, seconds=0.5)
    yield pool
    pool.stop()


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_format_gives_a_square_of_the_same_pixels_on_every_machine(name):
    form = get_format(name)
    drawing = form.extract(Answer(form.example)).drawing

    picture = pixels(form.png(drawing, side=96))

    assert picture.size == (96, 96)
    assert len(picture.getcolors(96 * 96)) > 1, "something is drawn"
    assert digest(picture) == EXPECTED[name]


@pytest.mark.parametrize("face", fonts())
def test_a_text_has_the_same_pixels_on_every_machine_in_each_face(face):
    assert digest(draw_text("  /\\_/\\\n ( o.o )\n  > ^ <\n ║é字~", side=120, face=face)) == EXPECTED[face]


@pytest.mark.parametrize("face", fonts())
def test_a_face_for_pixels_has_the_characters_that_judges_see_in_it(face):
    there = TTFont(FONTS / f"{face}.ttf").getBestCmap().keys()

    assert {ord(character) for character in covered(face)} <= there


def test_a_drawing_stands_whole_in_the_middle_of_white(rasteriser):
    picture = pixels(rasteriser.png(RED, side=100))

    assert [picture.getpixel(at) for at in ((50, 10), (50, 50), (2, 50), (97, 50), (50, 90))] == [
        (255, 255, 255), (255, 0, 0), (255, 0, 0), (255, 0, 0), (255, 255, 255),
    ]  # fmt: skip


def test_words_are_drawn_in_the_vendored_font_whatever_family_they_ask_for(rasteriser):
    words = '<text x="10" y="50" font-size="30"{}>Hello, world</text>'
    families = ["", ' font-family="Arial"', ' style="font-family:Georgia,serif"', ' font-family="monospace"']

    drawn = [pixels(rasteriser.png(SVG.format(words.format(family)).encode(), side=200)) for family in families]

    assert {digest(picture) for picture in drawn} == {EXPECTED["words"]}
    assert (np.asarray(drawn[0]) < 100).any(), "the words are there"


def test_no_file_is_read_for_a_drawing(rasteriser, tmp_path):
    Image.new("RGB", (50, 50), "blue").save(tmp_path / "secret.png")
    link = f'<image href="{tmp_path}/secret.png" width="200" height="100"/>'

    without = rasteriser.png(SVG.format("<rect/>").encode(), side=50)

    assert rasteriser.png(SVG.format(link).encode(), side=50) == without


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_costs_its_limit_and_nothing_else(rasteriser, bomb):
    rasteriser.png(RED, side=20)
    before = rasteriser.idle[0].process

    with pytest.raises(CannotDraw):
        rasteriser.png(BOMBS[bomb], side=300)

    assert pixels(rasteriser.png(RED, side=20)).getpixel((10, 10)) == (255, 0, 0)
    if before.poll() is not None:  # else it was refused before it cost anything
        with pytest.raises(CannotDraw):
            rasteriser.png(BOMBS[bomb], side=300)
        assert rasteriser.idle[0].process.poll() is None, "what failed once costs nothing again"


def test_a_drawing_that_wants_more_memory_than_the_limit_is_refused():
    pool = Rasteriser(workers=1, memory=96 << 20)
    blur = '<filter id="f"><feGaussianBlur stdDeviation="2"/></filter>'
    layers = "".join(f'<g opacity=".9" filter="url(#f)"><rect x="{n}" width="200" height="100"/>' for n in range(40))
    try:
        with pytest.raises(CannotDraw):
            pool.png(SVG.format(blur + layers + "</g>" * 40).encode(), side=2048)

        assert pool.png(RED, side=20)
    finally:
        pool.stop()


def test_children_are_used_again_and_a_fork_starts_its_own():
    RASTERISER.png(RED, side=20)
    ours = {child.process.pid for child in RASTERISER.idle}

    RASTERISER.png(RED, side=21)
    assert {child.process.pid for child in RASTERISER.idle} == ours

    child = os.fork()
    if child == 0:
        done = RASTERISER.png(RED, side=20) and not ours & {each.process.pid for each in RASTERISER.idle}
        os._exit(0 if done else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert RASTERISER.png(RED, side=22)


def test_what_is_no_svg_is_refused_with_a_reason(rasteriser):
    with pytest.raises(CannotDraw, match="error"):
        rasteriser.png(b"<svg", side=20)

    assert FONT.is_file()


def test_what_a_busy_machine_did_not_draw_in_time_is_drawn_later(rasteriser):
    rasteriser.png(RED, side=20)
    os.kill(rasteriser.idle[0].process.pid, signal.SIGSTOP)  # as if others had the processor
    rasteriser.patience = 0.2

    with pytest.raises(NotDrawnNow):
        rasteriser.png(RED, side=21)
    rasteriser.patience = 30

    assert pixels(rasteriser.png(RED, side=21)).getpixel((10, 10)) == (255, 0, 0)


def test_strokes_of_small_type_are_thicker():
    art = "\n".join(["/" + "-" * 16 + "\\"] * 12)

    inked = [(np.asarray(draw_text(art, side=side)) < 190).mean() for side in (96, 480)]

    assert inked[0] > 2 * inked[1]
