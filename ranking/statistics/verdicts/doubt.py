"""How likely the order of two entrants is wrong, for every pair whose order is undecided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scipy.special import ndtr

Z95 = 1.959964


def doubtful_pairs(pairs: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """By better and worse entrant of each undecided row of a `verdict_table`; one half where the gap has no limit."""
    return {
        (row["upper"], row["lower"]): _chance_wrong(row["gap"], row["low"])
        for row in pairs
        if row["state"] in ("undecided", "apart")
    }


def _chance_wrong(gap: float, low: float | None) -> float:
    if low is None or low == -float("inf") or gap == low:
        return 0.5
    return float(ndtr(-Z95 * gap / (gap - low)))
