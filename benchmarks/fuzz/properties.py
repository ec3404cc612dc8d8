"""script/bench properties [--full]: every property of the tests with new examples; the tests try the same every time.

As many as the tests try, which is a quarter of those that a property asks for; `--full` tries ten times all of them.
They come by a seed that is shown: `--seed` tries the same again.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.figures.table import make_parser, show, write_json

ROOT = Path(__file__).resolve().parents[2]


class Count:
    """How many properties held in each file, and which did not."""

    def __init__(self) -> None:
        self.held: Counter[str] = Counter()
        self.broken: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.broken.append(report.nodeid)
        elif report.when == "call":
            self.held[report.location[0]] += 1


def main() -> None:
    parser = make_parser(__doc__, "forty times as many examples")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["LOG_LEVEL"] = "WARNING"
    files = sorted(str(path) for path in Path("tests").rglob("test_*.py") if "@given" in path.read_text())
    share = 10 if options.full else 0.25
    count, start = Count(), time.monotonic()
    chosen = [
        "-m",
        "hypothesis",
        "--hypothesis-profile=new",
        f"--hypothesis-seed={options.seed}",
        f"--examples={share}",
    ]
    code = pytest.main(["-q", "-n", str(os.cpu_count()), *chosen, *files], plugins=[count])
    rows = [{"file": name, "properties": held} for name, held in sorted(count.held.items())]
    show(f"Properties that held, seed {options.seed}", rows)
    total = {"seed": options.seed, "examples": share, "held": count.held.total()}
    total |= {"failed": len(count.broken), "broken": count.broken}
    write_json(options.json, {"properties": {**total, "seconds": round(time.monotonic() - start, 1)}})
    sys.exit(code)


if __name__ == "__main__":
    main()
