"""The format in docs/formats.md is a format: it is run here as it is printed there."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from xml.etree import ElementTree

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from generation.formats import BUILT_IN, get_format
from generation.formats.base import Answer, Format

PAGE = settings.BASE_DIR / "docs" / "formats.md"


@pytest.fixture(scope="module")
def dots() -> Format:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    module = ModuleType("dots_of_the_docs")
    sys.modules[module.__name__] = module
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    BUILT_IN["dots"] = module.__name__
    yield get_format("dots")
    del BUILT_IN["dots"], sys.modules[module.__name__]


def test_it_reads_draws_and_measures(dots):
    answer = Answer("Here:\ndot 3 4 red\ndot 9 0 blue\ndot 3 4 red\ndot 12 0 blue")

    extraction = dots.extract(answer)

    assert extraction.drawing == "3 4 red\n9 0 blue\n3 4 red"
    assert dots.measure(extraction.drawing, answer, backend="builtin") == {"score": 2 / 3, "dots": 3}
    picture = dots.render(extraction.drawing)
    assert len(list(ElementTree.fromstring(picture.body))) == 3


def test_it_says_why_there_is_no_drawing(dots):
    extraction = dots.extract(Answer("I would rather not."))

    assert (extraction.valid, extraction.reason) == (False, "no_dots")
    assert dots.measure_invalid(Answer(""), extraction, backend="builtin")["score"] == 0.0


@given(st.text(max_size=200))
def test_any_text_gives_a_drawing_or_a_reason(dots, text):
    extraction = dots.extract(Answer(text))

    assert extraction.valid != bool(extraction.reason)


def test_every_member_is_documented():
    page = PAGE.read_text()
    members = {name for name in (*vars(Format), *Format.__annotations__) if not name.startswith("_")}

    missing = {name for name in members - {"has_xml"} if not re.search(rf"`{name}\b", page)}

    assert members >= {"example", "explain"}
    assert missing == set()
