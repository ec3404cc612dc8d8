"""script/bench pixel [--full] [--json FILE]: pixel-art answers scored a second on one core, and whether time is linear."""

from __future__ import annotations

import json
import random
import time

from benchmarks.figures.table import make_parser, write_json
from generation.formats.base import Answer
from generation.formats.pixel_art import FORMAT, climb

SEED = 1
TARGET = 2_000


def make_answers(count: int) -> list[str]:
    """Answers as models give them: mostly clean, some fenced, ragged, wordy, reasoned, cut off or not JSON at all."""
    rng = random.Random(SEED)
    palette = ["black", "white", "#ff0000", "green", "blue", "yellow", "orange", "purple", "brown", "pink"]
    answers = []
    for number in range(count):
        height = 24 if rng.random() < 0.72 else rng.randrange(8, 40)
        grid = [[rng.randrange(10) for _ in range(24)] for _ in range(height)]
        text = json.dumps({"grid": grid, "palette": palette})
        shapes = (text, text, text, f"```json\n{text}\n```", f"Here is {{it}}: {text} Enjoy!")
        more = (f"<think>a draft {{</think>{text}", text[:900], "I cannot draw that.", text.replace("[0", "[true", 20))
        answers.append((*shapes, *more)[number % 9])
    return answers


def score(text: str) -> dict:
    answer = Answer(text)
    extraction = FORMAT.extract(answer)
    return (
        FORMAT.measure(extraction.drawing, answer) if extraction.drawing else FORMAT.measure_invalid(answer, extraction)
    )


def rate(answers: list[str]) -> float:
    """Answers a second of processor time: extraction, drawing and all scores."""
    start = time.process_time()
    for text in answers:
        score(text)
    return len(answers) / (time.process_time() - start)


def growth() -> float:
    """Time for a grid of 4n cells over that for n: 4 is linear."""
    times = []
    for cells in (250_000, 1_000_000):
        text = '{"grid":[' + ",".join(["[" + ",".join("1" * 500) + "]"] * (cells // 500)) + "]}"
        climb.cache_clear()
        start = time.process_time()
        score(text)
        times.append(time.process_time() - start)
    return times[1] / times[0]


def main() -> None:
    options = make_parser(__doc__, "100,000 answers instead of 10,000").parse_args()
    answers = make_answers(100_000 if options.full else 10_000)
    drawings = [found.drawing for found in map(FORMAT.extract, map(Answer, answers[:1_000])) if found.drawing]
    start = time.process_time()
    sizes = [len(FORMAT.render(drawing).body) for drawing in drawings]
    rendering = len(drawings) / (time.process_time() - start)
    figures = {
        "answers": len(answers),
        "scored_per_second": round(rate(answers)),
        "target_per_second": TARGET,
        "rendered_per_second": round(rendering),
        "mean_svg_bytes": round(sum(sizes) / len(sizes)),
        "time_4n_over_n": round(growth(), 2),
    }
    for name, value in figures.items():
        print(f"{name:>22}  {value:>12,}")
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
