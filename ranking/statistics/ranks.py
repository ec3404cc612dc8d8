"""Ranks of scores: shared where scores are the same, and a range where intervals overlap."""

from __future__ import annotations

from collections.abc import Sequence

SAME = 9  # decimals to which two scores are the same; sums of floats differ beyond that
Bounds = tuple[float | None, float | None]


def shared_ranks(scores: Sequence[float]) -> list[int]:
    """1 for the highest; the same score has the same rank."""
    return [1 + sum(round(other - score, SAME) > 0 for other in scores) for score in scores]


def interval_ranks(bounds: Sequence[Bounds]) -> list[tuple[int, int]]:
    """The best and the worst rank that each can have, where only intervals apart from each other count."""
    return [
        (1 + sum(_above(other, own) for other in bounds), len(bounds) - sum(_above(own, other) for other in bounds))
        for own in bounds
    ]


def _above(one: Bounds, other: Bounds) -> bool:
    return one[0] is not None and other[1] is not None and one[0] > other[1]
