"""The vendored fonts are there, and the table of what they cover is theirs."""

from __future__ import annotations

import importlib.util
import json
import re
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from generation.formats.raster.cells import fonts

ROOT = Path(__file__).resolve().parents[3]


def test_coverage_table_is_that_of_the_vendored_files():
    loader = SourceFileLoader("vendor_fonts", str(ROOT / "script" / "vendor_fonts"))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("vendor_fonts", loader))
    loader.exec_module(script)
    table = json.loads((ROOT / "generation" / "formats" / "raster" / "font_coverage.json").read_text(encoding="ascii"))

    assert tuple(script.FACES) == fonts()
    assert {face: script.ranges(script.covered(files)) for face, files in script.FACES.items()} == table


def test_every_font_in_the_stylesheet_is_vendored_with_its_licence():
    css = (ROOT / "static" / "css" / "fonts.css").read_text(encoding="utf-8")
    files = {path.name for path in (ROOT / "static" / "fonts").iterdir()}
    used = set(re.findall(r'url\("\.\./fonts/([^"]+)"\)', css))

    assert used == {name for name in files if name.endswith(".woff2")}
    assert {name for name in files if name.endswith(".LICENSE")} == {
        "courier-prime.LICENSE",
        "dejavu.LICENSE",
        "fira-code.LICENSE",
    }


def stylesheet_faces(family: str) -> dict[str, set[int]]:
    """The code points that the stylesheet gives to each file of a family."""
    css = (ROOT / "static" / "css" / "fonts.css").read_text(encoding="utf-8")
    rule = rf'font-family: "{family}"; src: url\("\.\./fonts/([^"]+)"\)[^}}]*unicode-range: ([^;]+);'
    return {
        name: {
            code
            for part in spans.replace("U+", "").split(", ")
            for code in range(int(part.partition("-")[0], 16), int(part.rpartition("-")[2], 16) + 1)
        }
        for name, spans in re.findall(rule, css)
    }


@pytest.mark.parametrize("family", ["Bench DejaVu", "Consolas"])
def test_each_character_of_dejavu_is_in_the_one_file_that_the_stylesheet_names_for_it(family):
    faces = stylesheet_faces(family)
    held = {name: set(TTFont(ROOT / "static" / "fonts" / name).getBestCmap()) for name in faces}
    whole = set(TTFont(ROOT / "generation" / "formats" / "raster" / "fonts" / "dejavu.ttf").getBestCmap())

    assert len(faces) == 4
    assert sum(map(len, faces.values())) == len(set.union(*faces.values()))
    assert [name for name, codes in faces.items() if (codes & whole) - held[name]] == []
    assert set.union(*faces.values()) >= whole
