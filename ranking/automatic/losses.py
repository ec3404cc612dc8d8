"""Why a pixel-art answer lost points, in words: its score and the points below add up to 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generation.formats.pixel_art.grid import SIDE, SOFT_CAP
from ranking.automatic.scores import WEIGHTS

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


@dataclass(frozen=True)
class Part:
    """One part of the score: what it could give, what it gave, and why not more (empty where it gave all)."""

    label: str
    most: float
    points: float
    why: str

    @property
    def lost(self) -> float:
        return self.most - self.points


def parts_of(values: Mapping[str, Any], *, facts: Mapping[str, Any], reason: str = "", detail: str = "") -> list[Part]:
    """The six parts of one answer's score; `facts`, `reason` and `detail` are those of its extraction."""
    found = []
    for name, most in POINTS.items():
        share = float(values.get(name, 0.0))
        why = "" if share >= 1 else why_lost(name, share, values, facts, reason, detail)
        found.append(Part(LABELS[name], most, most * share, why))
    return found


def why_lost(
    name: str, share: float, values: Mapping[str, Any], facts: Mapping[str, Any], reason: str, detail: str
) -> str:
    if name == "json":
        return detail or "No JSON object could be read."
    if not values.get("json"):
        return "Nothing was read, so there is no grid."
    if "rows" not in facts:
        return detail if reason else "There is no grid."
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
