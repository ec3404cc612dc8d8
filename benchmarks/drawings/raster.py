"""Drawings as pixels: how many a core draws in a second, and what a bomb costs. `script/bench raster [--full] [--json FILE]`."""

from __future__ import annotations

import random
import resource
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.drawings.corpus import corpus, judged
from benchmarks.drawings.svg import make_drawing
from benchmarks.figures.table import make_parser, show, write_json
from generation.formats import get_format
from generation.formats.base import Answer, Format
from generation.formats.raster.vector import RASTERISER, SECONDS, CannotDraw

SIDE = 192  # as galleries show them
DRAWINGS = 200
SLOWEST = 10
SUBJECTS = ("Pikachu", "Charizard", "Ditto", "Arceus", "Snorlax", "Gyarados", "Voltorb", "Scizor")
PROMPTS = {
    "ascii_art": "Draw a cat in ASCII art",
    "pixel_art": "Subject: the sun",
    "science_birds": "Write drop_block calls that stack blocks into the letter A",
    "svg": "Generate the SVG code for the Pokémon {subject}",
}
BOMBS = Path(__file__).parents[2] / "tests" / "hostile" / "svg"


def demo_drawings(form: Format, count: int) -> list[str]:
    """What demo players of every skill draw, as far as it is valid."""
    drawings: list[str] = []
    for number in range(count):
        prompt = PROMPTS[form.name].format(subject=SUBJECTS[number % len(SUBJECTS)])
        answer = form.demo_answer([prompt], skill=number / count, random=random.Random(number))
        text = answer.text if answer.fence is None else f"```{answer.fence}\n{answer.text}\n```"
        drawing = form.extract(Answer(text, prompt_facts={"target": "A"})).drawing
        drawings += [drawing] if drawing else []
    return drawings


def crowded_drawings(count: int) -> list[str]:
    """As `script/bench svg` makes them: large translucent shapes over each other, many with a blur of their own."""
    rng, form = random.Random(2), get_format("svg")
    drawings = (form.extract(Answer(make_drawing(rng))).drawing for _ in range(count))
    return [drawing for drawing in drawings if drawing]


def measure(form: Format, drawings: Sequence[str], kind: str) -> dict[str, Any]:
    """Processor time of parent and child for each drawing; the first, which starts a child, does not count."""
    form.png(drawings[0], side=SIDE)
    times = []
    for drawing in drawings:
        start = spent()
        form.png(drawing, side=SIDE)
        times.append(spent() - start)
    return {
        "format": form.name,
        "drawings": kind,
        "number": len(times),
        "median_ms": 1e3 * statistics.median(times),
        "mean_ms": 1e3 * statistics.mean(times),
        "per_second": len(times) / max(sum(times), 1e-9),
    }


def spent() -> float:
    """Seconds of processor time, of this process and of its idle children, by nanoseconds where the kernel counts them."""
    return time.process_time() + sum(_spent_by(child.process.pid) for child in RASTERISER.idle)


def spent_by_children() -> float:
    """The same of children alone, those that were ended too."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + sum(_spent_by(child.process.pid) for child in RASTERISER.idle)


def _spent_by(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def bomb_costs() -> list[dict[str, Any]]:
    """Processor time of what passes no gate, handed to the renderer all the same; and that the next drawing is drawn."""
    rows = []
    for name in ("use_bomb", "filter_bomb", "path_bomb"):
        svg = (BOMBS / f"{name}.svg").read_bytes()
        start = spent_by_children()
        try:
            RASTERISER.png(svg, side=SIDE)
            outcome = "drawn"
        except CannotDraw:
            outcome = "ended"
        seconds = spent_by_children() - start
        survived = bool(RASTERISER.png(get_format("svg").example.encode(), side=SIDE))
        rows.append(
            {"bomb": name, "outcome": outcome, "seconds": seconds, "limit_s": SECONDS, "next_is_drawn": survived}
        )
    return rows


def main() -> None:
    options = make_parser(__doc__, "five times the drawings").parse_args()
    count = DRAWINGS * (5 if options.full else 1)
    rows = [measure(get_format(name), demo_drawings(get_format(name), count), "demo") for name in PROMPTS]
    svg = get_format("svg")
    copies = {name: copy for name, text in corpus().items() if (copy := judged(text))}
    written = measure(svg, [*copies.values()] * (count // 40), "as models write")
    by_drawing = [measure(svg, [copy] * (count // 40), name) for name, copy in copies.items()]
    slowest = sorted(by_drawing, key=lambda row: -row["mean_ms"])[:SLOWEST]
    crowded = measure(svg, crowded_drawings(count // 4), "crowded")
    show(f"Drawings as {SIDE} × {SIDE} pixels, a core", [*rows, written, crowded])
    show("The slowest of those that models write", slowest)
    bombs = bomb_costs()
    show("Bombs", bombs)
    by_format = {row["format"]: row for row in rows}
    tables = {"rows": [*rows, written, crowded], "bombs": bombs}
    write_json(
        options.json,
        {"side": SIDE, "formats": by_format, "written": written, "crowded": crowded, "slowest": slowest, **tables},
    )
    RASTERISER.stop()


if __name__ == "__main__":
    main()
