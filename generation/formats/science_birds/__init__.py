"""The Science Birds format: an answer's `drop_block` calls become a level, fall for ten seconds and are looked at."""

from __future__ import annotations

from typing import Any

from generation.formats.base import Answer, Extraction, Picture
from generation.formats.science_birds.drawing import draw_replay, draw_still
from generation.formats.science_birds.extraction import read_code, read_drops
from generation.formats.science_birds.level import Block, IllegalDrop, build_level, level_xml
from generation.formats.science_birds.physics import Pose, settle
from generation.formats.science_birds.similarity import LETTERS, classify


class ScienceBirds:
    """How Science Birds levels are read, measured and shown; the drawing is the plain list of calls."""

    name = "science_birds"
    shown_as = "image"
    version = 1
    measure_backends = ("glyphs", "vit")

    def extract(self, answer: Answer) -> Extraction:
        code = read_code(answer.text)
        facts = {"fences": code.fences, "calls": len(code.drops)}
        if not code.drops:
            detail = (
                "The last fence has no literal drop_block('b..', n) call."
                if code.fences
                else "There is no closed fence of backticks without a backtick inside."
            )
            return Extraction(None, "no_code", detail, code.flags, facts)
        try:
            build_level(code.drops)
        except IllegalDrop as error:
            return Extraction(None, error.reason, f"{error} One illegal drop loses the level.", code.flags, facts)
        flags = code.flags + (("truncated",) if answer.finish_reason == "length" else ())
        drawing = "\n".join(f"drop_block('{drop.kind}', {drop.x})" for drop in code.drops)
        return Extraction(drawing, flags=flags, facts=facts)

    def measure(self, drawing: str, answer: Answer, *, backend: str) -> dict[str, Any]:
        """Stability, similarity to the target letter and the softmax vector it was read from (seed 003)."""
        settled = settle(blocks_of(drawing))
        vector = classify(settled.blocks, settled.final, backend=backend).tolist()
        ranked = sorted(zip(vector, LETTERS, strict=True), key=lambda pair: (-pair[0], pair[1]))
        return {
            "stability": settled.stability,
            "similarity": vector[LETTERS.index(target_of(answer))],
            "vector": vector,
            "total_blocks": len(settled.blocks),
            "moved_blocks": settled.moved,
            "top3": [[letter, chance] for chance, letter in ranked[:3]],
            "backend": backend,
        }

    def measure_invalid(self, answer: Answer, extraction: Extraction, *, backend: str) -> dict[str, Any]:
        """A lost level is a missing trial: zeros, and no vector, so that it adds nothing to diversity."""
        zeros = {"stability": 0.0, "similarity": 0.0, "vector": None, "total_blocks": 0, "moved_blocks": 0}
        return {**zeros, "top3": [], "backend": backend}

    def render(self, drawing: str, *, variant: str = "") -> Picture | None:
        """`variant` is "" for the level as dropped, `after` for ten seconds later, `replay` for the fall."""
        blocks = blocks_of(drawing)
        if variant == "replay":
            svg = draw_replay(settle(blocks))
        elif variant == "after":
            svg = draw_still(blocks, settle(blocks).final, title="The level after ten seconds")
        else:
            svg = draw_still(blocks, [Pose(block.x, block.y) for block in blocks], title="The level as dropped")
        return Picture("image/svg+xml", svg.encode())

    def xml(self, drawing: str) -> str:
        """The level file that the game itself loads."""
        return level_xml(blocks_of(drawing))


def blocks_of(drawing: str) -> tuple[Block, ...]:
    return build_level(read_drops(drawing))


def target_of(answer: Answer) -> str:
    target = str(answer.prompt_facts.get("target", ""))
    if len(target) != 1 or target not in LETTERS:
        raise ValueError(f"The prompt's fact `target` must be one capital letter, not {target!r}.")
    return target


FORMAT = ScienceBirds()
