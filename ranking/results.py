"""What stored fits hold in common: the JSON of estimates, of scores, and of what `run` adds for pages."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


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


class AnswersResult(TypedDict):
    """What a board rests on: answers expected, missing for good, and still to come."""

    expected: int
    missing: int
    waiting: int
    missing_by_entrant: dict[str, int]


class VerdictResult(TypedDict):
    upper: str
    lower: str
    state: Literal["settled", "ahead", "tied", "undecided", "apart"]
    gap: float
    low: float | None
    high: float | None


class VerdictsResult(TypedDict):
    """Every pair once, better first; brackets are (first, last) places in the overall table."""

    pairs: list[VerdictResult]
    brackets: list[tuple[int, int]]


class EntrantRow(TypedDict):
    """A row about one entrant, by its name in the run."""

    entrant: str


class RankedRow(EntrantRow):
    """One entrant's rating and rank with their 95% intervals; null where a bound does not exist."""

    rating: float
    low: float | None
    high: float | None
    rank: int
    rank_low: int
    rank_high: int


class ScoreRow(EntrantRow):
    """One entrant's score in one scope, and the answers or grades that it rests on."""

    score: float
    low: float | None
    high: float | None
    rank: int
    rank_low: int
    rank_high: int
    n: int


class EffortResult(TypedDict):
    """Medians over an entrant's answers; null where no provider said."""

    seconds: float | None
    tokens: float | None
    cost_nano: float | None
    answers: int


class RunFacts(TypedDict):
    """What only a database knows; downloads leave it out. `md` and `csv` are the downloads in these forms."""

    md: NotRequired[str]
    csv: NotRequired[str]
    effort: NotRequired[dict[str, EffortResult]]  # by entrant
    kept_out: NotRequired[int]  # votes or grades that are in no rating, because the judge could know the names
    imported: NotRequired[int]  # votes or grades from files and archives
    import_reasons: NotRequired[list[str]]
    unconfirmed: NotRequired[int]  # by judges whose password a curator's link set, and who have not confirmed it
