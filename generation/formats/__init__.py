"""Formats by name. A new one is a module here and a line below, or an installed package with an entry point."""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from generation.formats.base import Answer, Extraction, Format, FormatError

BUILT_IN = {
    "ascii_art": "generation.formats.ascii_art",
    "svg": "generation.formats.svg",
    "pixel_art": "generation.formats.pixel_art",
    "science_birds": "generation.formats.science_birds",
}
# Of runs that the site makes itself; no suite can name them.
INTERNAL = {"ballot": "generation.formats.ballot", "grade_sheet": "generation.formats.grade_sheet"}
GROUP = "benchsite.formats"
# Of a run that holds votes alone, and of a file of drawings that names no format.
DEFAULT_FORMAT = "ascii_art"

GUIDE = "docs/formats.md says what a format needs."


def format_names() -> list[str]:
    return [*BUILT_IN, *_installed()]


def get_format(name: str) -> Format:
    """The format of this name; raises FormatError with the way out."""
    if path := (BUILT_IN | INTERNAL).get(name):
        return _load_built_in(name, path)
    if entry := _installed().get(name):
        return _load_installed(entry)
    raise FormatError(
        f"There is no format {name!r}; there are {', '.join(format_names())}. If a package provides it, install that."
    )


def format_to_show(name: str) -> Format:
    """As `get_format`, for pages: the drawings of a format that is no longer installed are shown as their text."""
    try:
        return get_format(name)
    except FormatError:
        return _Uninstalled(name)


class _Uninstalled(Format):
    """Stands in for a format whose package is gone: shows what is stored and refuses to read anything new."""

    shown_as = "text"

    def __init__(self, name: str) -> None:
        self.name = name

    def extract(self, answer: Answer) -> Extraction:
        raise FormatError(f"The format {self.name!r} is not installed.")


def find_faults() -> list[str]:
    """A sentence for each format that cannot be used."""
    try:
        names = format_names()
    except FormatError as error:
        return [str(error)]
    return [fault for name in names if (fault := _fault_of(name))]


def _fault_of(name: str) -> str:
    try:
        get_format(name)
    except FormatError as error:
        return str(error)
    return ""


def _installed() -> dict[str, EntryPoint]:
    return _installed_on(tuple(sys.path))


@lru_cache(maxsize=4)
def _installed_on(path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Formats of installed packages by name, in the order of their names; looked for again where the path changes."""
    offered: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if entry.name in BUILT_IN or entry.name in offered:
            other = _package(offered[entry.name]) if entry.name in offered else f"Benchsite ({BUILT_IN[entry.name]})"
            raise FormatError(
                f"Two formats are called {entry.name!r}: that of {_package(entry)} and that of {other}. "
                f"Rename the package's entry point in the group {GROUP}, or uninstall the package."
            )
        offered[entry.name] = entry
    return offered


def _package(entry: EntryPoint) -> str:
    owner = f"the package {entry.dist.name} {entry.dist.version}" if entry.dist else "a package"
    return f"{owner} ({entry.value})"


@cache
def _load_built_in(name: str, path: str) -> Format:
    try:
        return _checked(name, getattr(import_module(path), "FORMAT", None), source=path)
    except TypeError as error:  # as of a class that still has abstract methods
        raise FormatError(f"The format {name!r} ({path}) cannot be made: {error}. {GUIDE}") from error


@cache
def _load_installed(entry: EntryPoint) -> Format:
    source = _package(entry)
    try:
        loaded = entry.load()
    except Exception as error:  # whatever a stranger's module raises
        raise FormatError(
            f"The format {entry.name!r} of {source} cannot be loaded: {type(error).__name__}: {error}. "
            "Update the package, or uninstall it."
        ) from error
    return _checked(entry.name, loaded, source=source)


def _checked(name: str, loaded: object, *, source: str) -> Format:
    """The object, once all that the site will ask of it is there."""
    if not isinstance(loaded, Format):
        raise FormatError(
            f"The format {name!r} ({source}) is {type(loaded).__name__!r}, not an object of a class derived from "
            f"generation.formats.base.Format. {GUIDE}"
        )
    if fault := _missing(name, loaded):
        raise FormatError(f"The format {name!r} ({source}) {fault} {GUIDE}")
    return loaded


def _missing(name: str, loaded: Format) -> str:
    lacking = [member for member in ("name", "shown_as", "example") if not getattr(loaded, member, None)]
    if lacking:
        return f"lacks `{lacking[0]}`."
    if loaded.name != name:
        return f"calls itself {loaded.name!r}: both names must be the same."
    if loaded.shown_as not in ("text", "image"):
        return f'is shown as {loaded.shown_as!r}: `shown_as` must be "text" or "image".'
    if loaded.shown_as == "image" and type(loaded).render is Format.render:
        return 'lacks `render`, which every format with shown_as = "image" needs.'
    if not loaded.measure_backends:
        return "has no `measure_backends`: name at least one."
    extraction = loaded.extract(Answer(loaded.example))
    return "" if extraction.valid else f"does not accept its own `example`: {extraction.reason}. {extraction.detail}"
