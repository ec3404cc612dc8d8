"""Numbers and log lines as pages write them, and one spelling throughout."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchsite.templatetags.wording import chance, percent_to, released
from generation.templatetags.curation import done_words, measured

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("low", "high", "text"), [(0.4, 0.81, "40–81%"), (0, 0.004, "0–<1%"), (0.84, 1, "84–100%"), (None, None, "–––")]
)
def test_an_interval_of_shares_has_one_percent_sign(low, high, text):
    assert percent_to(low, high) == text


def test_a_chance_is_never_called_certain():
    assert [chance(share) for share in (0.998, 0.9901, 0.5, 0.0004)] == [">99%", ">99%", "50%", "<1%"]


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("open_judging", "Opened judging"),
        ("exclude_samples", "Excluded samples"),
        ("write study", "Wrote study"),
        ("retry", "Retried"),
    ],
)
def test_a_log_says_what_was_done(verb, words):
    assert done_words(verb) == words


def test_figures_of_a_backend_are_words_and_no_code():
    assert measured({"courier": 0.55, "fira": 0.67}) == "courier 0.55, fira 0.67"
    assert [measured([1, 2]), measured(22), measured("A")] == ["1, 2", "22", "A"]


def test_colours_are_spelt_alike():
    files = [*ROOT.glob("templates/**/*.html"), *ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    spelt = {
        path.name: re.findall(r"\bcolors?\b(?![-:=])", path.read_text(encoding="utf-8"), re.IGNORECASE)
        for path in files
    }

    assert {name: words for name, words in spelt.items() if words} == {}


def test_apostrophes_are_typographic():
    comment = re.compile(r"{#.*?#}|{%\s*comment\s*%}.*?{%\s*endcomment\s*%}", re.DOTALL)
    straight = {
        str(path.relative_to(ROOT)): re.findall(
            r"\w+[}>]*'(?:s|t|re|ve)\b", comment.sub("", path.read_text(encoding="utf-8"))
        )
        for path in ROOT.glob("templates/**/*.html")
    }

    assert {name: words for name, words in straight.items() if words} == {}


@pytest.mark.parametrize(("moment", "words"), [("2026-06", "June 2026"), ("2026-08-12", "12 August 2026")])
def test_a_release_is_a_month_or_a_day_in_words(moment, words):
    assert released(moment) == words
