"""The pair that a vote's answer holds: the template's own words, filled in without rendering it anew."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from generation.models import Run
from judging.pairs.pages import PLACES, SIZES, pair_html, shown
from judging.pairs.serving import take_seat
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db


def pair_of(run, **changes):
    pair = take_seat(make_seat(run).pk).current
    for name, value in changes.items():
        setattr(pair, name, value)
    return pair


@pytest.mark.parametrize("drawing_format", ["ascii_art", "svg"])
@pytest.mark.parametrize("category", ["animal", ""])
def test_filled_places_give_what_the_template_gives(drawing_format, category):
    run = make_run(entrants=3, prompts=2)
    Run.objects.filter(pk=run.pk).update(format=drawing_format)
    pair = pair_of(Run.objects.get(pk=run.pk), category=category)

    html = pair_html(pair)

    assert html == render_to_string("judging/_pair.html", {"pair": shown(pair)})


def test_drawings_and_prompts_that_look_like_markup_or_places_stay_text():
    pair = pair_of(make_run(entrants=3, prompts=2))
    hostile = f"<script>alert('&')</script> {PLACES['right']} {SIZES['rows']} %s {{{{ x }}}}"
    pair.prompt.text = hostile
    pair.left_sample.drawing = f"{hostile}\n\t\\g<0>"
    pair.right_sample.drawing = PLACES["left"]

    html = pair_html(pair)

    assert html == render_to_string("judging/_pair.html", {"pair": shown(pair)})
    assert "<script" not in html
