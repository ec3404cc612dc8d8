"""What an archive carries besides text: reference pictures, the pixels of drawings, and what Python programs asked."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils.timezone import now

from generation.models import Entrant, Run, Sample
from generation.pictures import thumbnail
from generation.runs.lifecycle import start_run
from generation.runs.loaded import load_run
from ranking.archive.importing import import_run
from ranking.archive.writing import write_archive
from tests.generation.drawing_room import MASTER, make_program, make_suite
from tests.generation.suites.test_prompt_images import picture
from tests.judging.make import make_curator

pytestmark = pytest.mark.django_db
ANSWERS = {
    "ascii_art": "```\n /\\_/\\\n( o.o )\n```",
    "svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="3" fill="red"/></svg>',
    "pixel_art": '{"grid": [[0, 1], [2, 3]], "palette": ["black", "red", "#00f", "green"]}',
    "science_birds": "```\ndrop_block('b13', 4)\ndrop_block('b31', 4)\n```",
}


def drawn_run(format_name: str, **changes) -> Run:
    """One drawing for a prompt that has a reference picture."""
    suite = make_suite(models=[MASTER], prompts=1, attempts=1, format=format_name, **changes)
    image = "data:image/png;base64," + base64.b64encode(picture()).decode()
    (prompt,) = suite.prompts
    suite = replace(suite, prompts=(replace(prompt, image=image, facts={"target": "T"}),))
    run = start_run(suite, draw=False)
    text = ANSWERS[format_name]
    run.samples.update(state=Sample.State.DRAWN, drawn_at=now(), answer=text, raw=text.encode())
    return run


def copy_of(run: Run, tmp_path) -> Run:
    write_archive(run, tmp_path / "run.zip")
    return import_run(tmp_path / "run.zip", copy=True, reason="a test")


def test_a_reference_picture_is_the_same_on_the_other_side_and_is_shown_there(tmp_path, client):
    run = drawn_run("svg")

    copy = copy_of(run, tmp_path)

    assert load_run(copy.pk).images == load_run(run.pk).images != {}
    client.force_login(make_curator())
    shown = client.get(reverse("judging:reference", args=[copy.prompts.get().code]))
    assert (shown["Content-Type"], shown.content) == ("image/png", picture())


@pytest.mark.parametrize("format_name", ANSWERS)
def test_a_drawing_has_the_same_pixels_on_the_other_side(format_name, tmp_path):
    run = drawn_run(format_name)
    here = copy_of(run, tmp_path).samples.get()

    there = copy_of(here.run, tmp_path).samples.get()

    assert here.verdict == "valid", here.detail
    assert there.picture_key == here.picture_key
    assert thumbnail(here, side=64) is not None
    assert thumbnail(there, side=64) == thumbnail(here, side=64)


def test_what_a_python_program_asked_comes_along(tmp_path):
    source = "def run(target, ask):\n    return ask('Draw.')\n"
    run = drawn_run("ascii_art", programs=[make_program("thinker", turns=(), python=source)])
    asked = [{"messages": [{"role": "user", "content": "Draw."}], "finish_reason": "stop", "completion_tokens": 9}]
    run.samples.update(questions=asked, earlier_answers=[ANSWERS["ascii_art"]])

    copy = copy_of(run, tmp_path)

    assert Entrant.objects.get(run=copy).python == source
    assert copy.samples.get().questions == asked
    assert copy.samples.get().earlier_answers == [ANSWERS["ascii_art"]]
