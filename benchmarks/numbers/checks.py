"""script/bench checks [--full] [--json FILE]: how many clickers fail the attention checks, and how many honest judges.

Counted exactly over all orders of answers, not simulated: the rule of `judging.gold.verdicts`, asked after each check.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from benchmarks.figures.table import make_parser, markdown, write_json
from generation.suites.studies.gold import Gold
from judging.gold.verdicts import HONEST_ERROR, has_failed

PAIRS = 30
EVERY = (10, 5, 4, 3, 2)
# Who answers: the share of wrong answers, and of “both bad”, which is neither right nor wrong.
JUDGES = {
    "honest, 1% slips": (HONEST_ERROR / 2, 0.0),
    "honest, 2% slips": (HONEST_ERROR, 0.0),
    "honest, 2% slips, 10% both bad": (HONEST_ERROR, 0.1),
    "honest, 5% slips": (0.05, 0.0),
    "left or right at random": (1 / 2, 0.0),
    "any of four keys at random": (1 / 2, 1 / 4),
    "always left": (1 / 2, 0.0),
}


def ever_failed(*, wrong: float, checks: int, unclear: float = 0.0, rule: Gold | None = None) -> float:
    """The chance to have failed at some time, for a judge with this share of wrong and of unclear answers."""
    rule = rule or Gold()
    going, failed = Counter({(0, 0): 1.0}), 0.0
    for _ in range(checks):
        after: Counter[tuple[int, int]] = Counter()
        for (right, bad), chance in going.items():
            after[right, bad] += chance * unclear
            after[right + 1, bad] += chance * (1 - unclear - wrong)
            if has_failed(rule, passed=right, failed=bad + 1):
                failed += chance * wrong
            else:
                after[right, bad + 1] += chance * wrong
        going = after
    return failed


def checks_table() -> list[dict[str, Any]]:
    """One row for each kind of judge and density of checks, after so many pairs that count."""
    return [
        {
            "judge": judge,
            "pairs": PAIRS,
            "every": every,
            "checks": PAIRS // every,
            "failed": round(ever_failed(wrong=wrong, unclear=unclear, checks=PAIRS // every), 4),
        }
        for judge, (wrong, unclear) in JUDGES.items()
        for every in EVERY
    ]


def main() -> int:
    asked = make_parser(__doc__, "the same: nothing is simulated").parse_args()
    rows = checks_table()
    print(markdown(rows))
    usual = [row for row in rows if row["every"] == Gold().every]
    write_json(
        asked.json,
        {
            "checks": rows,
            "clickers": [row["failed"] for row in usual if "random" in row["judge"] or "always" in row["judge"]],
            "honest": [
                row["failed"] for row in usual if row["judge"].startswith("honest") and "5%" not in row["judge"]
            ],
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
