"""Pixel art: a JSON object with a 24 × 24 grid and a palette, graded by formula and drawn as crisp SVG rectangles."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from random import Random
from typing import Any

from PIL import Image

from benchsite.lib.json_lines import JsonError, Limits, read_json
from benchsite.lib.text import REPLACEMENT
from generation.formats.base import Answer, DemoAnswer, Explanation, Extraction, Format, Picture
from generation.formats.fences import fenced_blocks, json_objects, strip_reasoning
from generation.formats.pixel_art import demo
from generation.formats.pixel_art.grid import SIDE, Grid, grid_flags, read_grid, read_palette, score_grid
from generation.formats.pixel_art.losses import SCORE_PARTS, parts_of
from generation.formats.raster.text import png_of

STAGES = {
    "whole": "the whole answer was the object",
    "fence": "it was in a code fence",
    "object": "it was found between other words",
    "cleaned": "it was found once reasoning was taken out",
    "none": "no object was found",
}
STAGE_NOTES = {
    "whole": "The whole answer was the object, as asked.",
    "fence": "The object was in a code fence.",
    "object": "The object stood between other words.",
    "cleaned": "The object was found once reasoning was taken out.",
}
MAX_CANDIDATES = 1_000  # objects looked at in one answer
PIXEL = 20
LEAST_PIXELS = 40  # beside the background, of a drawing that can be damaged beyond doubt
KEYS = frozenset({"grid", "palette"})
LIMITS = Limits(characters=4_000_000, depth=32, digits=18)


@dataclass(frozen=True)
class Reading:
    """What the ladder found: the object and the stage it was found at, or why there is none."""

    object: dict[str, Any] | None
    stage: str = ""
    reason: str = ""
    detail: str = ""
    reasoned: bool = False
    grid: Grid | None = None  # None too where the object's `grid` is no list


class PixelArt(Format):
    """The rules of docs/suites/pixel-art-lite.md."""

    name = "pixel_art"
    shown_as = "image"
    asked_by = r"(?s)pixel.*grid|grid.*pixel"
    version = 2  # extra keys and further objects are flagged
    example = '{"grid": [[0, 1, 0], [1, 2, 1], [0, 1, 0]], "palette": ["white", "red", "#ffcc00"]}'
    score_parts = SCORE_PARTS
    stages = STAGES

    def extract(self, answer: Answer) -> Extraction:
        reading = climb(answer.text)
        flags = ["reasoning_in_content"] if reading.reasoned else []
        facts = {"stage": reading.stage}
        cut = answer.finish_reason == "length"
        if reading.object is None:
            reason, detail = reading.reason, reading.detail
            if reason == "no_json" and REPLACEMENT in answer.text:
                reason, detail = "invalid_utf8", "The answer is not UTF-8 text and has no JSON object."
            if cut and reason in ("invalid_json", "no_json"):
                reason, detail = "truncated", f"The answer ran over the token limit. {detail}"
            return Extraction(None, reason, detail, tuple(flags), facts)
        flags += ["truncated"] if cut else []
        flags += _object_flags(reading.object, answer.text)
        if reading.grid is None:
            return Extraction(None, "no_grid", "The object has no list named grid.", tuple(flags), facts)
        return _drawn(reading.grid, reading.object.get("palette"), flags, facts)

    def measure(self, drawing: str, answer: Answer, *, backend: str = "builtin") -> dict[str, Any]:
        reading = climb(answer.text)
        return {**score_grid(reading.grid, parsed=reading.object is not None), "stage": reading.stage}

    def measure_invalid(self, answer: Answer, extraction: Extraction, *, backend: str = "builtin") -> dict[str, Any]:
        return self.measure("", answer, backend=backend)

    def render(self, drawing: str, *, variant: str = "") -> Picture | None:
        """Read as strictly as an answer, so that no stored text can make it large."""
        return Picture("image/svg+xml", svg_of(*_stored(drawing)).encode("ascii"))

    def png(self, drawing: str, *, side: int, variant: str = "") -> bytes | None:
        """Every cell the same whole number of pixels wide, so that edges stay crisp."""
        grid, palette = _stored(drawing)
        picture = Image.new("RGB", (SIDE, SIDE), "#ffffff")
        for x, y, width, height, value in rectangles(grid):
            picture.paste(palette[value], (x, y, x + width, y + height))
        pixel = max(side // SIDE, 1)
        square = Image.new("RGB", (side, side), "#ffffff")
        place = (side - SIDE * pixel) // 2
        square.paste(picture.resize((SIDE * pixel, SIDE * pixel), Image.Resampling.NEAREST), (place, place))
        return png_of(square)

    def damage(self, drawing: str, *, random: Random) -> str | None:
        """Every pixel somewhere else."""
        stored = json.loads(drawing)
        window, _ = _stored(drawing)
        cells = [value for row in window for value in row]
        if sum(value != max(set(cells), key=cells.count) for value in cells) < LEAST_PIXELS:
            return None
        random.shuffle(cells)
        filled = [0 if value is None else value for value in cells]
        grid = [filled[start : start + SIDE] for start in range(0, len(filled), SIDE)]
        return json.dumps({"grid": grid, "palette": stored["palette"]})

    def explain(
        self, values: Mapping[str, Any], *, extraction: Extraction, prompt_facts: Mapping[str, Any]
    ) -> Explanation | None:
        """What each part gave and why not more."""
        if "score" not in values:
            return None
        parts, stage = parts_of(values, extraction), values.get("stage", "")
        return Explanation(
            sentence=f"Score {values['score']:.2f}.",
            data={"score": values["score"], "parts": parts, "stage": stage},
            parts=parts,
            note=STAGE_NOTES.get(stage, "No object was found in the answer."),
        )

    def demo_answer(self, turns: Sequence[str], *, skill: float, random: Random) -> DemoAnswer:
        return DemoAnswer(demo.draw(turns[-1], skill, random), fence="json")


# Reading and measuring follow each other on the same answer: the second need not climb again.
@lru_cache(maxsize=1)
def climb(text: str) -> Reading:
    """The first object with a `grid`, by the ladder; without one, the first object; without that, the first reason.

    whole: the text is JSON · fence: a closed fenced block is · object: a balanced {…} in it is · cleaned: as these
    three, in an answer with reasoning tags, once what is inside them is gone (a draft is not the answer).
    """
    first: Reading | None = None
    failure = Reading(None, reason="no_json", detail="The answer has no JSON object.")
    stripped, reasoned = strip_reasoning(text)
    for stage, candidate in islice(_candidates(stripped), MAX_CANDIDATES):
        stage = "cleaned" if reasoned else stage
        try:
            value = read_json(candidate, limits=LIMITS)
        except JsonError as error:
            # "Not JSON" says the least: any other reason is kept in its place.
            if failure.reason in ("no_json", "invalid_json") and (stage, "{" in candidate) != ("whole", False):
                failure = Reading(None, reason=error.reason, detail=f"The text {error}.", reasoned=reasoned)
            continue
        if isinstance(value, dict):
            grid = read_grid(value["grid"]) if isinstance(value.get("grid"), list) else None
            reading = Reading(value, stage, reasoned=reasoned, grid=grid)
            if "grid" in value:
                return reading
            first = first or reading
    return first or failure


def _candidates(text: str) -> Iterator[tuple[str, str]]:
    """Texts to try, in order; each stage is looked for only when those before it gave nothing."""
    yield "whole", text.strip()
    for block in fenced_blocks(text):
        if block.closed:
            yield "fence", block.content.strip()
    for piece in json_objects(text):
        yield "object", piece


def _object_flags(value: dict[str, Any], text: str) -> list[str]:
    drawings = sum('"grid"' in piece for piece in json_objects(strip_reasoning(text)[0]))
    flags = {"extra_keys": bool(value.keys() - KEYS), "multiple_objects": drawings > 1}
    return [flag for flag, holds in flags.items() if holds]


def _drawn(grid: Grid, palette: Any, flags: list[str], facts: dict[str, Any]) -> Extraction:
    flags = flags + grid_flags(grid)
    facts |= {"rows": len(grid.lengths), "cells": grid.cells, "valid_cells": grid.valid}
    used = frozenset(cell for row in grid.window for cell in row if cell is not None)
    if not used:
        return Extraction(None, "empty_grid", "The grid has no valid cell to draw.", tuple(flags), facts)
    colours, colour_flags = read_palette(palette, used)
    drawing = json.dumps({"grid": grid.window, "palette": colours}, separators=(",", ":"))
    return Extraction(drawing, flags=tuple(flags + colour_flags), facts=facts)


def _stored(drawing: str) -> tuple[list[list[int | None]], list[str]]:
    stored = json.loads(drawing)
    grid = read_grid(stored["grid"])
    return grid.window, read_palette(stored["palette"], grid.values)[0]


def svg_of(grid: list[list[int | None]], palette: list[str]) -> str:
    """Equal neighbours in a row become one rectangle, equal runs in rows below each other too."""
    size = SIDE * PIXEL
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 {SIDE} {SIDE}"'
        ' shape-rendering="crispEdges">',
        f'<rect width="{SIDE}" height="{SIDE}" fill="#ffffff"/>',
    ]
    parts += [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{palette[value]}"/>'
        for x, y, width, height, value in rectangles(grid)
    ]
    return "".join([*parts, "</svg>"])


def rectangles(grid: list[list[int | None]]) -> list[tuple[int, int, int, int, int]]:
    """(x, y, width, height, value) of runs merged across and then down; together they cover each valid cell once."""
    done: list[tuple[int, int, int, int, int]] = []
    growing: dict[tuple[int, int, int], tuple[int, int]] = {}  # (x, width, value) -> (y, height)
    for y, row in enumerate([*grid, []]):
        here: dict[tuple[int, int, int], tuple[int, int]] = {}
        x = 0
        for value, run in groupby(row):
            width = len(list(run))
            if value is not None:
                start, height = growing.pop((x, width, value), (y, 0))
                here[(x, width, value)] = (start, height + 1)
            x += width
        done += [(x, start, width, height, value) for (x, width, value), (start, height) in growing.items()]
        growing = here
    return done


FORMAT = PixelArt()
