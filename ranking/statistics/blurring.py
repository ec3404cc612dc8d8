"""Standings from which no vote can be told: nobody counts for much, and each score is moved by a random error."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import Any, TypeVar

T = TypeVar("T")
Z = 1.96
ERROR = 3  # of a standard error: what each score is moved by, in the mean
STEPS = {"rating": 10, "score": 1}  # what is shown is a multiple of this


def by_others(counts: Iterable[int]) -> int:
    """How many are by judges other than the two busiest."""
    return sum(sorted(counts)[:-2])


def bounded_parts(judged: Mapping[T, int], *, share: int) -> dict[T, float]:
    """The part of their votes that counts here, of judges who voted too often to hide among the others."""
    most = max(by_others(judged.values()) // share, 1)
    return {judge: most / count for judge, count in judged.items() if count > most}


def blurred(
    rows: list[dict[str, Any]], *, bounds: tuple[float, float] | None = None, luck: random.Random | None = None
) -> list[dict[str, Any]]:
    """Ranks, score and one margin for all: a margin of each entrant's own would tell how often it was judged.

    The error is most of what orders neighbours, so a rank is a range: only scores further apart than the errors of any two
    of all entrants explain have an order. What lies outside of `bounds` is shown at the bound: moved too far, it would only look
    absurd.
    """
    luck = luck or random.SystemRandom()
    kind = "rating" if any("rating" in row for row in rows) else "score"
    spreads = [(row["high"] - row["low"]) / (2 * Z) for row in rows if None not in (row.get("low"), row.get("high"))]
    if not spreads:
        return []
    step, spread = STEPS[kind], max(spreads)
    margin = step * math.ceil(Z * math.hypot(1, ERROR) * spread / step)
    pairs = max(len(rows) * (len(rows) - 1) / 2, 1)
    apart = math.sqrt(2) * margin * NormalDist().inv_cdf(1 - 0.025 / pairs) / Z  # for all pairs at once
    least, most = bounds or (-math.inf, math.inf)
    blurred = {row["entrant"]: step * round((row[kind] + luck.gauss(0, ERROR * spread)) / step) for row in rows}
    scores = {name: min(max(score, least), most) for name, score in blurred.items()}
    return [
        {
            "entrant": name,
            "rank": 1 + sum(other > score for other in scores.values()),
            "rank_low": 1 + sum(other - score > apart for other in scores.values()),
            "rank_high": len(scores) - sum(score - other > apart for other in scores.values()),
            kind: score,
            "low": max(score - margin, least),
            "high": min(score + margin, most),
        }
        for name, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
