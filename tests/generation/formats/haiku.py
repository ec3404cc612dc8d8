"""A text format as a package outside the site would bring it: three lines, scored by their vowels."""

from __future__ import annotations

import re
from typing import Any

from generation.formats.base import Answer, Extraction, Format

WANTED = (5, 7, 5)
VOWELS = re.compile("[aeiouy]+")


class Haiku(Format):
    """Exactly three lines; the nearer to 5, 7 and 5 syllables, the better."""

    name = "haiku"
    shown_as = "text"
    example = "an old silent pond\na frog jumps into the pond\nsplash then silence"

    def extract(self, answer: Answer) -> Extraction:
        lines = [line.strip() for line in answer.text.lower().splitlines() if line.strip()]
        if len(lines) != len(WANTED):
            return Extraction(None, "not_three_lines", f"A haiku has three lines; the answer has {len(lines)}.")
        return Extraction("\n".join(lines))

    def measure(self, drawing: str, answer: Answer, *, backend: str) -> dict[str, Any]:
        counts = [len(VOWELS.findall(line)) for line in drawing.split("\n")]
        off = sum(abs(count - wanted) for count, wanted in zip(counts, WANTED, strict=True))
        return {"score": max(0.0, 1 - off / sum(WANTED))}

    def measure_invalid(self, answer: Answer, extraction: Extraction, *, backend: str) -> dict[str, Any]:
        return {"score": 0.0}


FORMAT = Haiku()
