"""What a full fit says of the open arena and of boards by group."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ranking.results import RankedRow


class ArenaResult(TypedDict):
    """The open arena's crowd, and whether a curator merged it with the judges."""

    judges: int
    votes: int
    merged: bool
    reason: str


class GroupRow(RankedRow):
    """One entrant by one group's votes."""

    votes: int


class GroupResult(TypedDict):
    label: str
    judges: int
    votes: int
    standings: list[GroupRow]
    weight: NotRequired[float]  # the mean of the open arena's judges, by reliability


class GroupingResult(TypedDict):
    """One way to group; `left_out` are judges of whom nothing is shown, since they would be too few even together."""

    by: str  # crowd, platform, answer
    key: str
    title: str
    groups: list[GroupResult]
    left_out: int
