"""script/bench fuzz: damaged and invented input for every reader: extractors, the YAML loader, importers.

Hypothesis makes the examples: any text, fragments that mean something to the reader, and the hostile corpus cut and patched.
Never an exception; what was read reads as itself; eight times the input takes about eight times as long.
`--resume FILE` notes each reader there when it is done and leaves out those that are noted, so that the bench can be run in parts.
"""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter
from itertools import product
from multiprocessing import get_context
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from benchmarks.figures.table import Notebook, Row, add_resume, make_parser, show, write_json
from benchmarks.fuzz.files import IMPORTERS
from benchmarks.fuzz.readers import DELIMITERS, EXTRACTORS, NESTED, Reader
from benchmarks.fuzz.vote_files import VOTES
from benchmarks.fuzz.zips import ZIPS

READERS = (*EXTRACTORS, *IMPORTERS, *VOTES, *ZIPS)
SMALL, LARGE = 10_000, 80_000  # characters
MOST_GROWTH = 20.0  # eight times the input: 8 is linear, 64 quadratic
LEAST_SECONDS = 0.004  # below this a clock says nothing about growth


def main() -> None:
    parser = add_resume(make_parser(__doc__, "50,000 examples for each reader instead of 500"))
    parser.add_argument("--processes", type=int, help="readers at the same time; as many as there are cores")
    parser.add_argument("--examples", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(reader.name for reader in READERS))
    options = parser.parse_args()
    examples = options.examples or (50_000 if options.full else 500)
    readers = [reader for reader in READERS if options.only in (None, reader.name)]
    parts = [(READERS.index(reader), examples, options.seed, options.resume) for reader in readers]
    # Forked, and by number: a reader holds strategies and closures, which cannot be sent to another process.
    with get_context("fork").Pool(options.processes) as cores:
        rows = cores.starmap(read_all, parts, chunksize=1)
    show("Fuzz", [{key: value for key, value in row.items() if key != "broken"} for row in rows])
    for row in rows:
        if row["broken"]:
            print(f"\n{row['reader']}: {row['broken']}")
    write_json(options.json, {"readers": rows})
    sys.exit(0 if all(row["held"] for row in rows) else 1)


def read_all(place: int, examples: int, number: int, resume: Path | None) -> Row:
    """One reader; what it has to show for so many examples is noted."""

    def read() -> Row:
        row = fuzz(reader, examples, number) | growth(reader)
        print(f"{reader.name}: {row['examples']:,} examples in {row['cpu_seconds']} s", flush=True)
        return row | {"held": row["broken"] == "" and row["growth"] <= MOST_GROWTH}

    reader = READERS[place]
    return Notebook(resume).noted(f"{reader.name}, {examples} examples from {number}", read)


def fuzz(reader: Reader, examples: int, number: int) -> Row:
    """Read so many examples; `accepted` were read as good, the rest refused with a reason."""
    seen: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(reader.inputs)
    def read(raw: bytes) -> None:
        seen["examples"] += 1
        seen["accepted"] += reader.check(raw)

    start, broken = time.process_time(), ""
    try:
        read()
    except Exception as error:
        notes = " ".join(getattr(error, "__notes__", []))
        broken = f"{type(error).__name__}: {error} {notes}"[:1500]
    seconds = time.process_time() - start
    return {
        "reader": reader.name,
        "examples": seen["examples"],
        "accepted": seen["accepted"],
        "cpu_seconds": round(seconds, 1),
        "broken": broken,
    }


def growth(reader: Reader, *, small: int = SMALL, large: int = LARGE) -> Row:
    """The worst of repeated and nested patterns in every place: time on the large input over time on the small one."""
    worst, which = 0.0, ""
    for place, pattern in product(reader.places, [*reader.patterns, *DELIMITERS, *NESTED]):
        factor = measure_growth(reader, place, pattern, small, large)
        if factor > MOST_GROWTH:  # once more: another process may have been in the way
            factor = min(factor, measure_growth(reader, place, pattern, small, large))
        if factor > worst:
            worst, which = factor, f"{place} {pattern!r}"
    return {"growth": round(worst, 2), "slowest pattern": which[:60]}


def measure_growth(reader: Reader, place: str, pattern: str | tuple[str, str], small: int, large: int) -> float:
    times = []
    for size in (small, large):
        raw = place.replace("%s", repeat(pattern, size)).encode("utf-8", "surrogatepass")
        gc.disable()  # or a collection of what other work left would be counted
        start = time.process_time()
        reader.read(raw)
        times.append(time.process_time() - start)
        gc.enable()
    return times[1] / max(times[0], LEAST_SECONDS) if times[1] > LEAST_SECONDS else 0.0


def repeat(pattern: str | tuple[str, str], size: int) -> str:
    """About so many characters of it; a pair is an opening and its closing, nested."""
    if isinstance(pattern, str):
        return pattern * (size // len(pattern))
    times = size // len("".join(pattern))
    return pattern[0] * times + pattern[1] * times


if __name__ == "__main__":
    main()
