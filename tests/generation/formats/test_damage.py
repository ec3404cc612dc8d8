"""Damaged copies for checks: of every built-in format, spoiled by chance, still shown as its drawings are."""

from __future__ import annotations

from random import Random

import pytest

from generation.formats import get_format
from generation.formats.base import Answer, Format

PROMPTS = {
    "science_birds": "Draw the target letter A.",
    "svg": "a cat",
    "pixel_art": "a cat",
    "ascii_art": "a cat",
}
SMALL = {
    "ascii_art": "o",
    "svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3"/></svg>',
    "pixel_art": '{"grid": [[0, 1]], "palette": ["#000000", "#ffffff"]}',
    "science_birds": "drop_block('b11', 4)",
}


def drawing_of(name):
    """What a good demo player draws."""
    format = get_format(name)
    answer = format.demo_answer([PROMPTS[name]], skill=1.0, random=Random(4))
    text = answer.text if answer.fence is None else f"```{answer.fence}\n{answer.text}\n```"
    return format, format.extract(Answer(text, prompt_facts={"target": "A"})).drawing


@pytest.mark.parametrize("name", PROMPTS)
def test_a_damaged_drawing_is_another_each_time_and_is_shown_like_any(name):
    format, drawing = drawing_of(name)

    damaged = {format.damage(drawing, random=Random(seed)) for seed in range(8)}

    assert len(damaged) == 8
    assert drawing not in damaged
    assert None not in damaged
    for copy in damaged:
        if format.shown_as == "image":
            assert format.render(copy) is not None
        fenced = f"```\n{copy}\n```"
        assert format.extract(Answer(fenced, prompt_facts={"target": "A"})).valid


@pytest.mark.parametrize("name", PROMPTS)
def test_what_is_too_small_to_be_spoiled_beyond_doubt_is_left_alone(name):
    assert get_format(name).damage(SMALL[name], random=Random(1)) is None


def test_a_format_without_a_way_to_damage_has_no_checks():
    assert Format.damage(get_format("svg"), "<svg/>", random=Random(1)) is None
