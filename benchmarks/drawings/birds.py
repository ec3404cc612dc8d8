"""Levels a second through extract → convert → settle → classify, and how the time splits: `script/bench birds`."""

from __future__ import annotations

import os
import platform
import random
import time
from itertools import pairwise
from multiprocessing import Pool

from benchmarks.figures.table import make_parser, write_json
from generation.formats.base import Answer
from generation.formats.science_birds import FORMAT
from generation.formats.science_birds.extraction import read_code
from generation.formats.science_birds.level import IllegalDrop, build_level
from generation.formats.science_birds.physics import settle
from generation.formats.science_birds.similarity import classify

COMPETITION = 7_800  # 10 programs × 3 models × 26 letters × 10 trials
STAGES = ("extract", "convert", "settle", "classify")


def make_answer(seed: int) -> str:
    """A level of 4 to 40 blocks as models build them: a few columns, some overhangs, a little prose."""
    rng = random.Random(seed)
    left, width = rng.randrange(2, 8), rng.randrange(5, 11)
    lines = [
        f"drop_block('{rng.choice(('b11', 'b11', 'b31', 'b13'))}', {rng.randrange(left, left + width)})"
        for _ in range(rng.randrange(4, 41))
    ]
    return "Row by row, from the bottom.\n```python\n" + "\n".join(lines) + "\n```\nThis should stand."


def run_one(text: str) -> tuple[float, ...]:
    """Seconds of each stage for one answer; a lost level ends after conversion."""
    settle.cache_clear()
    marks = [time.perf_counter()]
    code = read_code(text)
    marks.append(time.perf_counter())
    try:
        blocks = build_level(code.drops)
    except IllegalDrop:
        return marks[1] - marks[0], time.perf_counter() - marks[1], 0.0, 0.0
    marks.append(time.perf_counter())
    settled = settle(blocks)
    marks.append(time.perf_counter())
    classify(settled.blocks, settled.final)
    marks.append(time.perf_counter())
    return tuple(end - start for start, end in pairwise(marks))


def measure_whole(text: str) -> tuple[bool, float]:
    """The same through the format's own doors, as a worker does it: whether it is a level, and processor seconds."""
    settle.cache_clear()
    start = time.process_time()
    answer = Answer(text, prompt_facts={"target": "A"})
    extraction = FORMAT.extract(answer)
    if extraction.drawing is not None:
        FORMAT.measure(extraction.drawing, answer, backend="glyphs")
    return extraction.valid, time.process_time() - start


def bench(count: int, processes: int) -> dict[str, float]:
    texts = [make_answer(seed) for seed in range(count)]
    run_one(texts[0])
    split = [sum(parts) for parts in zip(*(run_one(text) for text in texts[: min(count, 1000)]), strict=True)]
    start = time.perf_counter()
    with Pool(processes) as pool:
        done = list(pool.imap_unordered(measure_whole, texts, chunksize=50))
    seconds = time.perf_counter() - start
    valid, busy = (sum(part) for part in zip(*done, strict=True))
    result = {"levels": count, "valid": valid, "processes": processes, "seconds": seconds, "cpu_seconds": busy}
    result |= {"levels_per_second": count / seconds, "competition_seconds": COMPETITION * seconds / count}
    return result | {f"share_{name}": part / sum(split) for name, part in zip(STAGES, split, strict=True)}


def main() -> None:
    parser = make_parser(__doc__, f"all {COMPETITION} levels of a competition instead of 1,000")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    result = bench(COMPETITION if options.full else 1_000, options.processes)
    print(f"Science Birds on {platform.machine()}, {options.processes} processes, Python {platform.python_version()}")
    print(
        f"{result['levels']} answers, {result['valid']} of them levels, in {result['seconds']:.1f} s (load {os.getloadavg()[0]:.1f})"
    )
    print(
        f"{result['levels_per_second']:.0f} levels a second; a competition of {COMPETITION}: {result['competition_seconds']:.0f} s"
    )
    print(
        f"processor time {result['cpu_seconds']:.1f} s: {1000 * result['cpu_seconds'] / result['levels']:.1f} ms a level"
    )
    print("split on one core: " + ", ".join(f"{name} {100 * result[f'share_{name}']:.1f} %" for name in STAGES))
    write_json(options.json, result)


if __name__ == "__main__":
    main()
