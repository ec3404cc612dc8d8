"""Drawings as models write them are accepted, and cleaning them changes no pixel, at rest or while they move."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image, ImageChops

from benchmarks.numbers.corpus import corpus, judged, pictures

DRAWINGS = corpus()
SIDE = {"width": 240, "height": 240}


def test_there_are_many_drawings():
    assert len(DRAWINGS) >= 40


@pytest.mark.parametrize("part", range(4))
def test_the_judged_copy_has_the_pixels_of_the_answer(page, part):
    page.set_viewport_size(SIDE)
    others = []
    for name, text in list(DRAWINGS.items())[part::4]:
        copy = judged(text)
        assert copy, f"{name} is refused"
        for answer, cleaned in zip(pictures(page, text), pictures(page, copy), strict=True):
            if answer != cleaned and largest_difference(answer, cleaned) > 0:
                others.append(name)

    assert others == []


def largest_difference(one, other):
    pair = [Image.open(BytesIO(picture)).convert("RGB") for picture in (one, other)]
    return max(high for _, high in ImageChops.difference(*pair).getextrema())
