"""Why a pixel-art answer lost points, in words: its score and the points below add up to 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from generation.formats.base import Extraction, Part, ScorePart
from generation.formats.pixel_art.grid import SIDE, SOFT_CAP, WEIGHTS

SCORE_PARTS = tuple(
    ScorePart(key, label, WEIGHTS[key])
    for key, label in (("json", "JSON"), ("render", "Render"), ("quality", "Quality"))
)
# Shares of the whole score, by the formulas of docs/suites/pixel-art-lite.md.
POINTS = {
    "json": WEIGHTS["json"],
    "height": WEIGHTS["render"] / 3,
    "width": WEIGHTS["render"] / 3,
    "type": WEIGHTS["render"] / 3,
    "diversity": 0.7 * WEIGHTS["quality"],
    "density": 0.3 * WEIGHTS["quality"],
}
LABELS = {
    "json": "Valid JSON",
    "height": "Height",
    "width": "Width",
    "type": "Cell values",
    "diversity": "Colours",
    "density": "Filled cells",
}


def parts_of(values: Mapping[str, Any], extraction: Extraction) -> tuple[Part, ...]:
    """The six parts of one answer's score."""
    parts = []
    for name, most in POINTS.items():
        share = float(values.get(name, 0.0))
        why = "" if share >= 1 else why_lost(name, share, values, extraction)
        parts.append(Part(LABELS[name], most, most * share, why))
    return tuple(parts)


def why_lost(name: str, share: float, values: Mapping[str, Any], extraction: Extraction) -> str:
    if name == "json":
        return extraction.detail or "No JSON object could be read."
    if not values.get("json"):
        return "Nothing was read, so there is no grid."
    facts = extraction.facts
    if "rows" not in facts:
        return extraction.detail if extraction.reason else "There is no grid."
    rows, cells, valid = facts["rows"], facts["cells"], facts["valid_cells"]
    return {
        "height": f"{rows} rows instead of {SIDE}.",
        "width": f"Rows are {cells / rows:.1f} cells long on average instead of {SIDE}."
        if rows
        else "There are no rows.",
        "type": f"{cells - valid} of {cells} cells are not whole numbers from 0 to 9.",
        "diversity": f"{round(share * SOFT_CAP)} different values; {SOFT_CAP} give all points.",
        "density": f"{round(share * SIDE**2)} of the {SIDE**2} cells of the picture are filled.",
    }[name]
