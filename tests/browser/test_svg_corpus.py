"""Drawings as models write them are accepted, and cleaning them changes no pixel, at rest or while they move."""

from __future__ import annotations

import pytest

from benchmarks.drawings.corpus import NOISE, corpus, judged, largest_difference

DRAWINGS = corpus()
SIDE = {"width": 240, "height": 240}


def test_there_are_many_drawings():
    assert len(DRAWINGS) >= 40


@pytest.mark.parametrize("part", range(4))
def test_the_judged_copy_has_the_pixels_of_the_answer(page, part):
    page.set_viewport_size(SIDE)
    mine = list(DRAWINGS.items())[part::4]

    refused = [name for name, text in mine if not judged(text)]
    changed = [name for name, text in mine if largest_difference(page, text, judged(text)) > NOISE]

    assert (refused, changed) == ([], [])


def test_a_change_is_seen(page):
    page.set_viewport_size(SIDE)
    text = DRAWINGS["pelican_bicycle"]

    assert largest_difference(page, text, text.replace("#ffb74d", "#ffb7ff")) > NOISE
