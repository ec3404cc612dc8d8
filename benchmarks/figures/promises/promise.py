"""A target, where a bench's JSON shows whether it is met, and the row that says so."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.figures.table import Row, figure

SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "≤": operator.le,
    "≥": operator.ge,
    "=": operator.eq,
    "within": lambda value, limits: limits[0] <= value <= limits[1],
}
HOLDS = (0.93, 0.98)  # how often an interval of 95% should hold the truth, in every world where votes can show it
LOADED = "Other work on the machine makes each millisecond of processor time longer: see the load above."


@dataclass(frozen=True)
class Promise:
    """`path` leads to the figure: keys and list places joined by dots; `*` takes the worst of a list."""

    bench: str
    says: str
    path: str
    sign: str = ""
    limit: Any = None
    unit: str = ""
    cause: str = ""  # of a shortfall that is known


def dig(figures: Any, path: str) -> list[Any]:
    """Every figure that a path leads to; none where the bench did not get that far."""
    values = [figures]
    for key in path.split("."):
        step = []
        for value in values:
            if key == "*":
                step += value if isinstance(value, list) else []
            elif isinstance(value, list):
                step += value[int(key) : int(key) + 1] if key.isdigit() else []
            elif isinstance(value, dict) and key in value:
                step.append(value[key])
        values = step
    return values


def judge(promise: Promise, figures: Any) -> Row:
    """One row: the promise, its limit, the worst figure (or the range of them), and whether every figure holds."""
    values = dig(figures, promise.path)
    ranged = promise.sign == "within"
    limit = f"{promise.sign} {_span(promise.limit) if ranged else figure(promise.limit)}" if promise.sign else ""
    if not values:
        return {"promise": promise.says, "limit": limit, "result": "not measured", "holds": "no"}
    worst = max(values) if promise.sign == "≤" or promise.limit == 0 else min(values)
    shown = _span(values) if ranged else figure(worst)
    met = all(SIGNS[promise.sign](value, promise.limit) for value in values) if promise.sign else None
    return {
        "promise": promise.says,
        "limit": limit,
        "result": f"{shown} {promise.unit}".strip(),
        "holds": {None: "", True: "yes", False: "**no**"}[met],
    }


def _span(values: Any) -> str:
    return f"{figure(min(values))} to {figure(max(values))}"
