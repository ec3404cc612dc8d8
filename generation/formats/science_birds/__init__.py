"""The Science Birds format: an answer's `drop_block` calls become a level, fall for ten seconds and are looked at."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from generation.formats.base import Answer, DemoAnswer, Explanation, Extraction, Format, Picture, Progress, View
from generation.formats.science_birds import demo
from generation.formats.science_birds.drawing import draw_replay, draw_still
from generation.formats.science_birds.extraction import Drop, read_code, read_drops
from generation.formats.science_birds.level import COLUMNS, Block, IllegalDrop, build_level, level_xml
from generation.formats.science_birds.physics import Pose, settle
from generation.formats.science_birds.similarity import LETTERS, VIT_DIR, classify, missing_packages, vit_is_ready
from generation.formats.science_birds.weights import fetch_weights

LEAST_BLOCKS = 6  # of a level that can be damaged beyond doubt


class ScienceBirds(Format):
    """How Science Birds levels are read, measured and shown; the drawing is the plain list of calls."""

    name = "science_birds"
    label = "Science Birds"
    version = 2  # calls of blocks that do not exist lose their block, as in the competition's extraction
    shown_as = "image"
    asked_by = r"(?s)drop_block|b31|blocks.*letter|letter.*blocks"
    example = "```\ndrop_block('b11', 4)\ndrop_block('b11', 6)\ndrop_block('b31', 5)\n```"
    measure_backends = ("glyphs", "vit")
    backend_names = {"glyphs": "the built-in classifier", "vit": "vit-base-uppercase-english-characters"}
    variants = {"after": "after ten seconds"}
    scoring = "competition"

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

    def damage(self, drawing: str, *, random: Random) -> str | None:
        """Its blocks in another order at random columns: a heap instead of a letter."""
        kinds = [drop.kind for drop in read_drops(drawing)]
        if len(kinds) < LEAST_BLOCKS:
            return None
        random.shuffle(kinds)
        kept = kinds[: max(LEAST_BLOCKS, round(len(kinds) * random.uniform(0.6, 0.9)))]
        while len(kept) >= LEAST_BLOCKS:
            drops = [Drop(kind, random.randrange(1, COLUMNS - 1)) for kind in kept]
            try:
                build_level(drops)
            except IllegalDrop:  # too high: fewer blocks fit
                kept.pop()
                continue
            return "\n".join(f"drop_block('{drop.kind}', {drop.x})" for drop in drops)
        return None

    def score(self, values: Mapping[str, Any]) -> float | None:
        """What a trial gives, before the letter's weight."""
        if "stability" not in values or "similarity" not in values:
            return None
        return float(values["stability"] * values["similarity"])

    def describe(self, values: Mapping[str, Any]) -> str:
        if not values.get("total_blocks"):
            return ""
        return f"stable {values['stability']:.2f}, similarity {values['similarity']:.2f}"

    def describe_more(self, values: Mapping[str, Any]) -> str:
        return " · ".join(f"{letter} {chance:.0%}" for letter, chance in values.get("top3", ()))

    def explain(
        self, values: Mapping[str, Any], *, extraction: Extraction, prompt_facts: Mapping[str, Any]
    ) -> Explanation | None:
        """The level before and after the fall, and the letters it was taken for."""
        trial = self.score(values)
        if trial is None:
            return None
        guesses = tuple((letter, chance) for letter, chance in values.get("top3", ()))
        data = {"level": values, "top": guesses, "trial": trial}
        if not extraction.valid:
            return Explanation(sentence="", data=data)
        return Explanation(
            sentence=f"Stability {values['stability']:.2f}, similarity {values['similarity']:.2f}.",
            data=data,
            views=views_of(moved=values["moved_blocks"], total=values["total_blocks"]),
            guesses=guesses,
            asked=str(prompt_facts.get("target", "")),
            note=f"This trial gives stability × similarity = {trial:.3f}, times the letter’s weight.",
        )

    def demo_answer(self, turns: Sequence[str], *, skill: float, random: Random) -> DemoAnswer:
        if demo.wants_plan(turns):
            return DemoAnswer(demo.plan(turns), fence=None)
        return DemoAnswer(demo.draw(turns, skill, random))

    def default_backend(self) -> str:
        """The competition's own classifier where it was fetched, else ours."""
        return "vit" if vit_is_ready() else self.measure_backends[0]

    def fetch_backend(self, backend: str, *, revision: str, progress: Progress) -> str:
        folder = Path(os.environ[VIT_DIR])
        fetched = fetch_weights(folder, revision=revision, progress=progress)
        done = f"{fetched['model']} at {fetched['revision'][:12]}, verified, is in {folder}."
        if missing := missing_packages():
            return f"{done}\nTo run it: pip install {' '.join(missing)}. Until then new runs are measured by glyphs."
        return f"{done}\nNew runs are measured by {self.default_backend()}."

    def missing(self) -> str:
        return "" if find_spec("Box2D") else "Levels cannot be measured: pip install Box2D"

    def xml(self, drawing: str) -> str:
        """The level file that the game itself loads."""
        return level_xml(blocks_of(drawing))


def views_of(*, moved: int, total: int) -> tuple[View, ...]:
    after = f"After ten seconds: {moved} of {total} block{'' if total == 1 else 's'} moved"
    return (
        View("", "As dropped"),
        View("after", after, alt="after ten seconds"),
        View("replay", "10-second loop", title="Watch it fall" if moved else "Watch it stand"),
    )


def blocks_of(drawing: str) -> tuple[Block, ...]:
    return build_level(read_drops(drawing))


def target_of(answer: Answer) -> str:
    target = str(answer.prompt_facts.get("target", ""))
    if len(target) != 1 or target not in LETTERS:
        raise ValueError(f"The prompt's fact `target` must be one capital letter, not {target!r}.")
    return target


FORMAT = ScienceBirds()
