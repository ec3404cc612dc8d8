"""How well the built-in classifier reads levels it never saw. `script/bench glyphs [--full] [--fonts FOLDER] [--json FILE]`.

Two kinds: the 26 levels that the competition's evaluator judged, and levels built from the letters of ten font families that no
training used. Their Debian packages are installed, or unpacked in a folder that GLYPH_FONTS or --fonts names: see `script/train_glyphs --help`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures.table import make_parser, show, write_json
from generation.formats.science_birds.physics import settle
from generation.formats.science_birds.similarity import classify, load_glyphs, logits_of, softmax
from script.glyph_letters import LETTERS, TEST, find_masks
from script.glyph_levels import make_levels
from tests.generation.formats.science_birds.birds import REFERENCE, level

SEED = 9  # as `script/train_glyphs` reports on
LEVELS = 1_300
AT_ONCE = 500


def reference() -> dict[str, Any]:
    """What is read in the levels of the competition."""
    settled = {letter: settle(level(entry["plan"])) for letter, entry in REFERENCE.items()}
    read = {letter: LETTERS[int(classify(one.blocks, one.final).argmax())] for letter, one in settled.items()}
    wrong = [f"{letter} as {seen}" for letter, seen in read.items() if letter != seen]
    return {"of": len(read), "read": len(read) - len(wrong), "wrong": ", ".join(wrong)}


def unseen(fonts: Path, count: int) -> dict[str, Any]:
    """Shares of levels that are read right, and the error of each letter."""
    images, labels, moved = make_levels(find_masks(fonts, TEST), count, SEED)
    parts = np.array_split(images / 9, max(1, len(images) // AT_ONCE))
    chances = np.concatenate([softmax(logits_of(part, load_glyphs())) for part in parts])
    best = np.argsort(-chances, axis=1)
    right = best[:, 0] == labels
    return {
        "levels": len(labels),
        "right": float(right.mean()),
        "top_three": float((best[:, :3] == labels[:, None]).any(axis=1).mean()),
        "stood": float(right[moved == 0].mean()),
        "fell": float(right[moved > 0].mean()),
        "letters": [
            {
                "letter": letter,
                "levels": int((own := labels == number).sum()),
                "error": round(float(1 - right[own].mean()), 3),
                "taken_for": ", ".join(taken_for(best[own & ~right, 0])),
            }
            for number, letter in enumerate(LETTERS)
        ],
    }


def taken_for(wrong: np.ndarray) -> list[str]:
    """The letters that a letter is most often taken for."""
    counts = np.bincount(wrong, minlength=len(LETTERS))
    return [LETTERS[number] for number in np.argsort(-counts, kind="stable")[:3] if counts[number]]


def main() -> None:
    parser = make_parser(__doc__, "four times the levels")
    parser.add_argument("--fonts", type=Path, default=Path(os.environ.get("GLYPH_FONTS", "/usr/share/fonts")))
    options = parser.parse_args()
    figures = {"reference": reference(), "unseen": unseen(options.fonts, LEVELS * (4 if options.full else 1))}
    show("Levels of the competition", [figures["reference"]])
    show("Levels of unseen fonts", [{key: value for key, value in figures["unseen"].items() if key != "letters"}])
    show("Error by letter", figures["unseen"]["letters"])
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
