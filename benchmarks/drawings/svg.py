"""SVG drawings: what reading, weighing and measuring one costs, and what accepted ones cost a browser. `script/bench svg [--full] [--json FILE]`."""

from __future__ import annotations

import random
import statistics
import time

from benchmarks.drawings.corpus import corpus_table
from benchmarks.drawings.moving import MOVING
from benchmarks.drawings.paint import FAMILIES, Painter, family_table
from benchmarks.figures.table import make_parser, show, write_json
from generation.formats.base import Answer
from generation.formats.svg import FORMAT

DRAWINGS = 1_000
LIMIT_MS = 5.0  # what the median drawing may cost
COLOURS = ("#f8d030", "#c03028", "#705848", "url(#body)", "url(#shade)", "none")


def make_drawing(rng: random.Random) -> str:
    """A drawing as models write them: gradients, a shadow, groups of paths and shapes, some with comments and styles.

    The number of shapes is log-normal around 45, as in the drawings of such suites: most are small, a few large.
    """
    shapes = [make_shape(rng) for _ in range(max(3, int(rng.lognormvariate(3.8, 0.7))))]
    groups = [f'<!-- part {n} --><g id="part{n}">{"".join(shapes[n::5])}</g>' for n in range(5)]
    style = "<style>.line{stroke:#222;stroke-width:2}.shade{filter:url(#shadow)}</style>" if rng.random() < 0.4 else ""
    return f"""Here is the drawing:
```svg
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" width="400" height="400">
<title>A drawing</title>{style}
<defs><radialGradient id="body"><stop offset="0%" stop-color="#fff"/><stop offset="100%" stop-color="#fc0"/></radialGradient>
<linearGradient id="shade"><stop offset="0"/><stop offset="1" stop-opacity="0"/></linearGradient>
<filter id="shadow"><feGaussianBlur in="SourceAlpha" stdDeviation="3"/><feOffset dy="2"/></filter></defs>
{"".join(groups)}
</svg>
```"""


def make_shape(rng: random.Random) -> str:
    fill = f'fill="{rng.choice(COLOURS)}" class="{rng.choice(["line", "shade", ""])}"'
    x, y = rng.uniform(0, 400), rng.uniform(0, 400)
    kind = rng.random()
    if kind < 0.55:
        return f'<path d="{make_path(rng, x, y)}" {fill} stroke="#222" stroke-width="2" style="opacity:.9"/>\n'
    if kind < 0.8:
        return (
            f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{rng.uniform(2, 80):.1f}" ry="{rng.uniform(2, 60):.1f}" {fill}/>\n'
        )
    points = " ".join(
        f"{x + rng.uniform(-40, 40):.1f},{y + rng.uniform(-40, 40):.1f}" for _ in range(rng.randint(3, 9))
    )
    return f'<polygon points="{points}" {fill}/>\n'


def make_path(rng: random.Random, x: float, y: float) -> str:
    parts = [f"M {x:.1f} {y:.1f}"]
    for _ in range(rng.randint(2, 14)):
        numbers = [f"{rng.uniform(-60, 60):.1f}" for _ in range(6)]
        parts.append(
            rng.choice([f"c {' '.join(numbers)}", f"q {' '.join(numbers[:4])}", f"L {numbers[0]},{numbers[1]}"])
        )
    return " ".join([*parts, "Z"])


def time_drawing(text: str) -> tuple[float, float]:
    """Milliseconds of processor time for gate and cleaning, and for statistics; best of three."""
    runs = [time_once(text) for _ in range(3)]
    return min(read for read, _ in runs), min(measured for _, measured in runs)


def time_once(text: str) -> tuple[float, float]:
    start = time.process_time()
    extraction = FORMAT.extract(Answer(text))
    middle = time.process_time()
    FORMAT.measure(extraction.drawing, Answer(text), backend="builtin")
    return (middle - start) * 1e3, (time.process_time() - middle) * 1e3


def run(count: int) -> dict[str, float]:
    rng = random.Random(2)
    texts = [make_drawing(rng) for _ in range(count)]
    sizes = [len(text) for text in texts]
    timings = [time_drawing(text) for text in texts]
    totals = sorted(read + measured for read, measured in timings)
    return {
        "drawings": count,
        "median_bytes": statistics.median(sizes),
        "largest_bytes": max(sizes),
        "median_ms": statistics.median(totals),
        "median_gate_ms": statistics.median(read for read, _ in timings),
        "median_statistics_ms": statistics.median(measured for _, measured in timings),
        "p95_ms": totals[int(0.95 * count)],
        "slowest_ms": totals[-1],
        "limit_ms": LIMIT_MS,
    }


def main() -> None:
    options = make_parser(__doc__, "ten thousand drawings instead of one thousand").parse_args()
    figures = run(DRAWINGS * (10 if options.full else 1))
    for name, value in figures.items():
        print(f"{name:>22}: {value:,.2f}")
    drawings = corpus_table()
    show("Drawings as models write them", drawings)
    kept = [row for row in drawings if row["accepted"] and row["same pixels"]]
    figures |= {"corpus": len(drawings), "corpus_kept": len(kept)}
    paint = family_table(FAMILIES, Painter.seconds)
    show("Paint: adversarial shapes, as many as are accepted", paint)
    figures["slowest_paint_s"] = max(row["seconds"] for row in paint)
    frames = family_table(MOVING, Painter.frame_seconds)
    show("One frame of shapes that move", frames)
    figures["slowest_frame_s"] = max(row["seconds"] for row in frames)
    write_json(options.json, figures | {"paint": paint + frames})


if __name__ == "__main__":
    main()
