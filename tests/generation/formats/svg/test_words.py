"""Letters spread over a drawing are read as the eye reads them, and a name in them holds the drawing back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generation.formats.base import Answer
from generation.formats.svg import FORMAT
from generation.models import Sample
from generation.reading.answers import read_answer
from generation.runs.loaded import load_run
from tests.judging.make import make_run


def svg(inside: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100">{inside}<rect width="9" height="9"/></svg>'


SPREAD = {
    "in the order written": "".join(f"<text>{letter}</text>" for letter in "CLAUDE"),
    "by x, written backwards": "".join(
        f'<text x="{10 * at}" y="50">{letter}</text>' for at, letter in reversed(list(enumerate("CLAUDE")))
    ),
    "by a list of x": '<text y="9" x="10 30 50">CAD</text><text y="9" x="20 40 60">LUE</text>',
    "by dx": '<text x="50" y="9" dx="0 -20 -20">DUA</text><text x="5" y="9">CL</text><text x="60" y="9">E</text>',
    "by tspan": '<text><tspan x="60" y="9">ude</tspan><tspan x="20" y="9">Cla</tspan></text>',
    "by transform": '<g transform="translate(40 5)"><text>ude</text></g><text transform="matrix(1 0 0 1 10 5)">Cla</text>',
    "by line, then place": '<text x="9" y="80">bird</text><text x="60" y="20">ropic</text><text x="9" y="22">Anth</text>',
    "between words": "<text>Cl<tspan>au</tspan>de</text>",
    "a short name": '<text x="21" y="9">T</text><text x="10" y="9">GP</text><text x="90" y="9">cat</text>',
}


@pytest.mark.parametrize("inside", SPREAD.values(), ids=SPREAD)
def test_spread_letters_are_joined_before_they_are_searched(inside):
    extraction = FORMAT.extract(Answer(svg(inside)))

    assert extraction.facts["signed"]
    assert "identity_leak" in extraction.flags


@pytest.mark.parametrize(
    "inside",
    [
        "<text>Cat</text><text>Dog</text>",
        '<text x="9" y="9">A bird</text><text x="9" y="60">says meow</text>',
        '<text x="9" y="9">Cl</text><text x="9" y="60">ouds</text>',
    ],
)
def test_words_that_sign_nothing_are_not_held(inside):
    assert FORMAT.extract(Answer(svg(inside))).facts["signed"] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text, held",
    [
        (svg(SPREAD["by x, written backwards"]), True),
        (svg("<!-- by Claude -->"), False),
        (svg("<text>Cat</text>"), False),
    ],
)
def test_what_the_reader_finds_in_shown_text_holds_the_drawing(text, held):
    loaded = load_run(make_run(entrants=2, prompts=1, attempts=1, format="svg").pk)

    read = read_answer(loaded, prompt_pk=next(iter(loaded.prompts)), text=text)

    assert (read.verdict, read.held) == (Sample.Verdict.VALID, held)


@pytest.mark.django_db
@pytest.mark.parametrize("format", ["svg", "ascii_art"])
def test_the_run_s_own_names_are_found_however_their_letters_are_spread(format):
    loaded = load_run(make_run(entrants=1, prompts=1, attempts=1, format=format).pk)
    loaded = replace(loaded, more_names=("zorgon/zorgon-7",))
    letters = "".join(f'<tspan x="{9 * place}">{letter}</tspan>' for place, letter in enumerate("ZORGON"))
    text = f"<svg viewBox='0 0 99 9'><text>{letters}</text></svg>" if format == "svg" else "```\n/\\ z o r g o n\n```"

    read = read_answer(loaded, prompt_pk=next(iter(loaded.prompts)), text=text)

    assert (read.verdict, read.held) == (Sample.Verdict.VALID, True)
    assert read.facts["signed"] == ["zorgon/zorgon-7"]
