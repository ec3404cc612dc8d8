"""Visual robustness against simulated marks "breaks in this font". `script/bench robustness [--full] [--json FILE]`.

The judges here are simulated: they see each drawing in the three faces, as large as on the judge's page, and mark a drawing
whose ink lies elsewhere in one face, by distances that the measured number knows nothing of. There are no marks by people to compare with.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt
from scipy.stats import spearmanr

from benchmarks.figures.table import make_parser, show, write_json
from generation.formats.ascii_art import demo
from generation.formats.raster.cells import fonts
from generation.formats.raster.robustness import similarity
from generation.formats.raster.text import draw_text

SUBJECTS = ("cat", "dog", "house", "tree", "fish", "bicycle", "teapot", "owl sleeping", "rabbit under a tree", "castle")
JUDGES = 9
SIDE = 400
THRESHOLD = math.log(0.06)  # cells, of the usual judge

Ink = NDArray[np.bool_]
# Characters that the faces draw alike, those that every drawing has, and those that each face draws its own way.
PALETTES = {"alike": "ovw.+=x", "usual": "/\\|_-()o", "leaning": "^`*\"'_T", "box drawing": "─│┌┐└┘█"}


def drawings(count: int) -> list[tuple[str, str]]:
    """(kind, drawing): what demo players draw, and the same drawings made of other characters."""
    rows = []
    for number in range(count):
        rng = random.Random(number)
        text = demo.draw(f"Draw a {SUBJECTS[number % len(SUBJECTS)]} in ASCII art", rng.random(), rng)
        rows.append(("demo", text))
        for kind, palette in PALETTES.items():
            rows.append((kind, redrawn(text, palette)))
    return rows


def redrawn(text: str, palette: str) -> str:
    """The same drawing made of these characters: each always becomes the same one."""
    return "".join(mark if mark.isspace() else palette[ord(mark) % len(palette)] for mark in text)


def displacement(text: str) -> float:
    """How far the ink of the odd face out lies from that of the face most like it, in cells: no blur, no grid, no cosine."""
    inks = [ink_of(text, face) for face in fonts()]
    fields = [distance_transform_edt(~ink) for ink in inks]  # from each place to the nearest ink
    there = np.array([[field[ink].mean() for field in fields] for ink in inks])
    far = (there + there.T) / 2
    np.fill_diagonal(far, np.inf)
    lines = text.split("\n")
    cell = SIDE * min(1 / len(lines), 2 / max(map(len, lines)), 0.12)  # about the height of a line, in pixels
    return float(far.min(axis=1).max()) / cell


def ink_of(text: str, face: str) -> Ink:
    """A face's ink, moved so that its middle is the sheet's: nobody minds a picture that is shifted as a whole."""
    ink = np.asarray(draw_text(text, side=SIDE, face=face)) < 140
    middle = np.argwhere(ink).mean(axis=0)
    return np.roll(ink, tuple(np.round(SIDE / 2 - middle).astype(int)), axis=(0, 1))


def marks(text: str, rng: random.Random) -> float:
    """The share of judges who mark some face; each has a threshold of their own and overlooks one break in ten."""
    worst = displacement(text)
    seen = [worst > rng.lognormvariate(THRESHOLD, 0.5) and rng.random() > 0.1 for _ in range(JUDGES)]
    return sum(seen) / JUDGES


def run(count: int) -> dict[str, Any]:
    rng = random.Random(1)
    rows = [(kind, min(similarity(text).values()), marks(text, rng)) for kind, text in drawings(count)]
    kinds = [
        {
            "kind": kind,
            "drawings": len(own := [row for row in rows if row[0] == kind]),
            "robustness": float(np.median([row[1] for row in own])),
            "least": min(row[1] for row in own),
            "most": max(row[1] for row in own),
            "marked": float(np.mean([row[2] for row in own])),
        }
        for kind in ("demo", *PALETTES)
    ]
    plain = [row for row in rows if row[0] != "box drawing"]  # which anything would tell apart
    correlation = spearmanr([row[1] for row in plain], [row[2] for row in plain]).statistic
    by_kind = {row["kind"]: row["robustness"] for row in kinds}
    return {
        "correlation": float(correlation),
        "median_demo": by_kind["demo"],
        "alike_over_leaning": by_kind["alike"] - by_kind["leaning"],
        "kinds": kinds,
    }


def main() -> None:
    options = make_parser(__doc__, "ten times the drawings").parse_args()
    figures = run(200 if options.full else 20)
    show("Robustness and simulated marks", figures["kinds"])
    print(
        f"Spearman's correlation of robustness with the share of marks, without box drawing: {figures['correlation']:.2f}"
    )
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
