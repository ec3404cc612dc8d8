"""Seed 003's ranking policy: who wins, who shares the win, and the verdict on everyone else."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

SAME = 9  # decimals to which two normalised scores are the same score; sums of floats differ beyond that


def apply_policy(programs: Sequence[Mapping[Hashable, Any]]) -> list[dict[Hashable, Any]]:
    """Adds `rank` (or None), `winner` and `note` to each program; ranked ones first, then baselines, then disqualified.

    - Higher normalised score first; the same score: the shorter prompt; still the same: the same rank.
    - The first wins if it beats every baseline and scored at all; several firsts are co-winners.
    - A length that is not known counts as longest.
    """
    baselines = [entry for entry in programs if entry["baseline"] and not entry["disqualified"]]
    ranked = [entry for entry in programs if not entry["baseline"] and not entry["disqualified"]]
    bar = max((score(entry) for entry in baselines), default=0.0)
    keys = [order_key(entry) for entry in ranked]
    ranks = [1 + sum(other < key for other in keys) for key in keys]
    winners = sum(rank == 1 and score(entry) > bar for entry, rank in zip(ranked, ranks, strict=True))
    best = min(zip(ranks, ranked, strict=True), key=lambda pair: pair[0], default=(0, None))[1]
    done = [
        {
            **entry,
            "rank": rank,
            "winner": rank == 1 and score(entry) > bar,
            "note": verdict(entry, rank, bar, winners, best),
        }
        for rank, entry in sorted(zip(ranks, ranked, strict=True), key=lambda pair: (pair[0], pair[1]["program"]))
    ]
    for entry in sorted(baselines, key=lambda entry: (-score(entry), entry["program"])):
        done.append({**entry, "rank": None, "winner": False, "note": "Baseline: listed, not ranked."})
    for entry in programs:
        if entry["disqualified"]:
            done.append({**entry, "rank": None, "winner": False, "note": f"Disqualified: {entry['disqualified']}"})
    return done


def score(entry: Mapping[Hashable, Any]) -> float:
    return round(entry["normalised"], SAME)


def order_key(entry: Mapping[Hashable, Any]) -> tuple[float, float]:
    length = entry["prompt_length"]
    return -score(entry), math.inf if math.isnan(length) else length


def verdict(
    entry: Mapping[Hashable, Any], rank: int, bar: float, winners: int, best: Mapping[Hashable, Any] | None
) -> str:
    if score(entry) <= bar:
        return "Does not beat the baseline." if bar > 0 else "Did not score."
    if rank == 1:
        return "Winner." if winners == 1 else "Co-winner: same score, same length of prompt."
    if best is not None and score(entry) == score(best):
        return "Same score as the winner with a longer prompt."
    return "Beats the baseline." if bar > 0 else ""
