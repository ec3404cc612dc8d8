"""Formats by name. A new format is one module here and one line below."""

from __future__ import annotations

from importlib import import_module

from generation.formats.base import Format

FORMATS = {
    "ascii_art": "generation.formats.ascii_art",
    "svg": "generation.formats.svg",
    "pixel_art": "generation.formats.pixel_art",
    "science_birds": "generation.formats.science_birds",
}


def get_format(name: str) -> Format:
    return import_module(FORMATS[name]).FORMAT
