"""Formats are found by name: built in, or in an installed package; what is wrong with one is said at start-up."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from django.conf import settings

from generation import formats
from generation.formats import find_faults, format_names, format_to_show, get_format
from generation.formats.base import Answer, Extraction, Format, FormatError, Picture
from tests.generation.formats.packages import install

FORMATS, DEMO = (settings.BASE_DIR / "generation" / room for room in ("formats", "demo"))
HAIKU = "tests.generation.formats.haiku:FORMAT"
HEAD = "from generation.formats.base import Extraction, Format\n\n"


class Whole(Format):
    """Any text is a drawing."""

    name = "whole"
    shown_as = "text"
    example = "anything"

    def extract(self, answer: Answer) -> Extraction:
        return Extraction(answer.text)


class Nameless(Whole):
    name = ""


class Renamed(Whole):
    name = "other"


class Sounding(Whole):
    shown_as = "sound"


class Pictureless(Whole):
    shown_as = "image"


class Unexemplary(Whole):
    def extract(self, answer: Answer) -> Extraction:
        return Extraction(None, "never", "Nothing is a drawing here.")


class Unmeasured(Whole):
    measure_backends = ()


class Pictured(Pictureless):
    def render(self, drawing: str, *, variant: str = "") -> Picture | None:
        return Picture("image/svg+xml", b"<svg/>")


@pytest.fixture
def built_in(monkeypatch):
    """A module that ends with an object of the class, and its line in the registry."""

    def add(cls):
        module = ModuleType(f"module_of_{cls.__name__}")
        module.FORMAT = cls()
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(formats.BUILT_IN, "whole", module.__name__)

    return add


def test_every_shipped_format_is_complete():
    assert find_faults() == []
    assert format_names() == ["ascii_art", "svg", "pixel_art", "science_birds"]


@pytest.mark.parametrize("complete", [Whole, Pictured])
def test_one_line_adds_a_format(built_in, complete):
    built_in(complete)

    assert isinstance(get_format("whole"), complete)
    assert find_faults() == []


@pytest.mark.parametrize(
    ("unfinished", "fault"),
    [
        (Nameless, "lacks `name`."),
        (Renamed, "calls itself 'other': both names must be the same."),
        (Sounding, 'is shown as \'sound\': `shown_as` must be "text" or "image".'),
        (Pictureless, 'lacks `render`, which every format with shown_as = "image" needs.'),
        (Unexemplary, "does not accept its own `example`: never. Nothing is a drawing here."),
        (Unmeasured, "has no `measure_backends`: name at least one."),
        (dict, "is 'dict', not an object of a class derived from generation.formats.base.Format."),
    ],
)
def test_what_was_forgotten_is_said(built_in, unfinished, fault):
    built_in(unfinished)

    [sentence] = find_faults()

    assert sentence.startswith(f"The format 'whole' (module_of_{unfinished.__name__}) {fault}")
    assert "docs/formats.md" in sentence
    with pytest.raises(FormatError, match="whole"):
        get_format("whole")


def test_an_installed_package_needs_no_line(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(install(tmp_path, name="haiku", value=HAIKU))

    assert format_names()[-1] == "haiku"
    assert get_format("haiku").extract(Answer("one\ntwo\nthree")).drawing == "one\ntwo\nthree"
    assert find_faults() == []


def test_a_format_that_is_gone_is_still_shown(tmp_path, monkeypatch):
    with monkeypatch.context() as installed:
        installed.syspath_prepend(install(tmp_path, name="haiku", value=HAIKU))
        assert get_format("haiku").name == "haiku"

    with pytest.raises(FormatError, match=r"There is no format 'haiku'; there are ascii_art, .*install"):
        get_format("haiku")
    gone = format_to_show("haiku")
    assert (gone.shown_as, gone.describe({"score": 0.5})) == ("text", "score 0.50")
    with pytest.raises(FormatError, match="'haiku' is not installed"):
        gone.extract(Answer(""))


def test_a_package_cannot_take_a_built_in_name(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(install(tmp_path, name="svg", value=HAIKU, package="other-svg"))

    [fault] = find_faults()

    assert fault.startswith(
        f"Two formats are called 'svg': that of the package other-svg 1.0 ({HAIKU}) "
        "and that of Benchsite (generation.formats.svg)."
    )
    assert "uninstall" in fault


def test_two_packages_cannot_share_a_name(tmp_path, monkeypatch):
    for package in ("haiku-one", "haiku-two"):
        install(tmp_path, name="haiku", value=HAIKU, package=package)
    monkeypatch.syspath_prepend(tmp_path)

    [fault] = find_faults()

    assert "haiku-one 1.0" in fault
    assert "haiku-two 1.0" in fault


BROKEN = {
    "raises": (
        "raise OSError('no fonts here')\n",
        "cannot be loaded: OSError: no fonts here. Update the package, or unin",
    ),
    "empty": ("# nothing\n", "cannot be loaded: AttributeError"),
    "forgetful": (f"{HEAD}class Broken(Format):\n    name = 'broken'\nFORMAT = Broken()\n", "abstract method"),
    "unnamed": (
        f"{HEAD}class Broken(Format):\n    def extract(self, answer): ...\nFORMAT = Broken()\n",
        "lacks `name`.",
    ),
}


def test_start_up_names_broken_packages(tmp_path):
    for kind, (code, _) in BROKEN.items():
        install(tmp_path, name=kind, value=f"broken_{kind}:FORMAT", package=f"{kind}-format", code=code)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "VAR_DIR": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True
    )

    assert done.returncode == 1
    for kind, (_, fault) in BROKEN.items():
        [sentence] = [line for line in done.stderr.splitlines() if f"The format '{kind}'" in line]
        assert f"the package {kind}-format 1.0 (broken_{kind}:FORMAT)" in sentence
        assert fault in sentence


def names_in(path: Path) -> set[str]:
    """Formats that a module asks for: by import, by a string, or by what it compares a `.format` with.

    `svg` alone says nothing: it is also the name of an element and of a file's form.
    """
    asked_for = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.ImportFrom(module=str(module)) if module.startswith("generation.formats."):
                asked_for.add(module.split(".")[2])
            case ast.Constant(value=str(text)) if text != "svg":
                asked_for.add(text)
            case ast.Compare() if any(getattr(part, "attr", "") == "format" for part in ast.walk(node)):
                asked_for |= {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
    return asked_for & set(format_names())


def test_no_module_outside_the_rooms_asks_for_a_format_by_name():
    paths = [
        path
        for app in ("benchsite", "generation", "judging", "ranking")
        for path in (settings.BASE_DIR / app).rglob("*.py")
    ]
    outside = [path for path in paths if not path.is_relative_to(FORMATS) and not path.is_relative_to(DEMO)]
    outside = [path for path in outside if "migrations" not in path.parts]

    asking = {str(path): names for path in outside if (names := names_in(path))}

    assert len(outside) > 100
    assert asking == {}


def test_no_template_asks_for_a_format_by_name():
    pages = sorted((settings.BASE_DIR / "templates").rglob("*.html"))
    by_name = re.compile(r"""\.format\s*(==|!=|in)\s|["'](ascii_art|pixel_art|science_birds)["']""")

    asking = [str(page) for page in pages if by_name.search(page.read_text())]

    assert len(pages) > 50
    assert asking == []
