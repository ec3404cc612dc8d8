"""Ranks of scores: shared where scores are the same."""

from __future__ import annotations

from collections.abc import Sequence

SAME = 9  # decimals to which two scores are the same; sums of floats differ beyond that


def shared_ranks(scores: Sequence[float]) -> list[int]:
    """1 for the highest; the same score has the same rank."""
    return [1 + sum(round(other - score, SAME) > 0 for other in scores) for score in scores]
