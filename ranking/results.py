"""What stored fits hold in common: the JSON of estimates, of scores, and of what `run` adds for pages."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class EstimateResult(TypedDict):
    """A number with its 95% interval; null where the data cannot say."""

    value: float | None
    low: float | None
    high: float | None


class ConsistencyResult(TypedDict):
    """How much an entrant's drawings of one prompt differ."""

    variance: float | None
    sd: float | None
    low: float | None
    high: float | None
    icc: float | None
    prompts: int


class EntrantRow(TypedDict):
    """A row about one entrant, by its name in the run."""

    entrant: str


class ScoreRow(EntrantRow):
    """One entrant's score in one scope, and the answers or grades that it rests on."""

    score: float
    low: float | None
    high: float | None
    rank: int
    rank_low: int
    rank_high: int
    n: int


class RunFacts(TypedDict):
    """What only a database knows; downloads leave it out. `md` and `csv` are the downloads in these forms."""

    md: NotRequired[str]
    csv: NotRequired[str]
    kept_out: NotRequired[int]  # votes or grades that are in no rating, because the judge could know the names
