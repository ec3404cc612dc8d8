"""Pictures of whatever was stored: shown, or not found; never an error, and never slow."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from django.http import Http404

from generation.models import Run, Sample
from generation.pictures import LONGEST_DRAWING, picture_response

WIDE = {"grid": [[n % 10 for n in range(2000)]] * 2000, "palette": ["<script>"] * 10}
HOSTILE = {
    "pixel_art": [
        "",
        "{",
        "[]",
        "7",
        json.dumps({"grid": 3, "palette": {}}),
        json.dumps({"grid": [[99]]}),
        "[" * 90_000,
    ],
    "science_birds": [
        "",
        "drop_block('b99', 3)",
        "drop_block('b11', 99)\n" * 9000,
        "\n".join(["drop_block('b11', 1)"] * 99),
    ],
    "svg": ["", "x" * (LONGEST_DRAWING + 1)],
    "ascii_art": ["", "cat"],
    "gone": ["x"],
}


@pytest.mark.parametrize("variant", ["", "after", "replay", "?"])
@pytest.mark.parametrize("format_name", HOSTILE)
def test_a_stored_text_that_no_reader_made_is_not_found_or_drawn_small(format_name, variant):
    for drawing in HOSTILE[format_name]:
        sample = Sample(run=Run(format=format_name), drawing=drawing, code="x")
        began = time.process_time()

        with contextlib.suppress(Http404):
            assert len(picture_response(sample, variant=variant).content) < 10_000

        assert time.process_time() - began < 1


def test_a_grid_larger_than_any_reader_makes_is_drawn_as_its_window():
    sample = Sample(run=Run(format="pixel_art"), drawing=json.dumps(WIDE)[:LONGEST_DRAWING], code="x")
    small = json.dumps({**WIDE, "grid": WIDE["grid"][:200]})
    with pytest.raises(Http404):
        picture_response(sample)
    began = time.process_time()

    picture = picture_response(Sample(run=Run(format="pixel_art"), drawing=small, code="x"))

    assert time.process_time() - began < 1
    assert len(picture.content) < 60_000
    assert b"<script>" not in picture.content
