"""Drawings as models write them: what a browser paints of the answer and of the judged copy, and what that costs.

The drawings are files in tests/generation/formats/svg/drawings.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops
from playwright.sync_api import Page

from benchmarks.drawings.paint import FREEZE, address_of, painter
from generation.formats.base import Answer
from generation.formats.svg import FORMAT

FOLDER = Path(__file__).parents[2] / "tests/generation/formats/svg/drawings"
MOMENTS = (500, 1500)  # milliseconds of its animations at which a drawing is looked at
NOISE = 8  # of 255: far below what an eye sees; two pictures of one document are the same


def corpus() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.svg"))}


def judged(text: str) -> str:
    """The copy that judges see, or nothing where the drawing is refused."""
    return FORMAT.extract(Answer(f"```svg\n{text}\n```")).drawing


def pictures(page: Page, text: str) -> list[bytes]:
    """The drawing as a document of its own, at some moments of its animations."""
    page.goto(address_of(text))
    shots = []
    for moment in (0, *MOMENTS):
        page.evaluate(FREEZE, moment)
        shots.append(page.screenshot())
    return shots[1:]  # the first may still show the moment at which the document was loaded


def largest_difference(page: Page, text: str, other: str) -> int:
    """Of any colour of any pixel, from 0 to 255."""
    most = 0
    for pair in zip(pictures(page, text), pictures(page, other), strict=True):
        one, two = (Image.open(BytesIO(picture)).convert("RGB") for picture in pair)
        most = max(most, *(int(high) for _, high in ImageChops.difference(one, two).getextrema()))
    return most


def corpus_table() -> list[dict[str, Any]]:
    """Of each drawing: whether it is accepted, whether the judged copy looks the same, and the seconds it takes to paint."""
    rows = []
    with painter() as chromium:
        for name, text in corpus().items():
            copy = judged(text)
            same = bool(copy) and largest_difference(chromium.page, text, copy) <= NOISE
            rows.append(
                {
                    "drawing": name,
                    "accepted": bool(copy),
                    "same pixels": same,
                    "seconds": round(chromium.seconds(text), 2),
                }
            )
    return rows
