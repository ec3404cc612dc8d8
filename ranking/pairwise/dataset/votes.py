"""Votes in the columns that arenas use."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from judging.models import Vote
from judging.models.matchups import Kind
from ranking.dataset.columns import Published, Rows, Table, columns_of

WINNERS = {"left": "model_a", "right": "model_b", "tie": "tie", "fail": "both_bad"}
SESSION = timedelta(minutes=30)  # without a vote: then a new session begins
# Why a vote counts in no rating.
WITHDRAWN, NAMES_KNOWN, EXCLUDED, SET_ASIDE = "withdrawn", "names_known", "drawing_excluded", "judge_set_aside"
PICKED = "pair_picked"
PATHS = {
    "seat": "seat_id",
    "id": "matchup__code",
    "judge_order": "matchup__order",
    "kind": "matchup__kind",
    "prompt_id": "matchup__prompt__key",
    "prompt": "matchup__prompt__text",
    "category": "matchup__category",
    "model_a": "matchup__left__name",
    "model_b": "matchup__right__name",
    "sample_a": "matchup__left_sample__code",
    "sample_b": "matchup__right_sample__code",
    "attempt_a": "matchup__left_sample__attempt",
    "attempt_b": "matchup__right_sample__attempt",
    "winner": "outcome",
    "timestamp": "voted_at",
    **{name: name for name in ("response_ms", "withdrawn_at", "kept_out", "unblind", "imported")},
    "breaks_a": "left_breaks",
    "breaks_b": "right_breaks",
}


class Sessions:
    """Numbers each judge's sittings, and the votes within one."""

    def __init__(self) -> None:
        self.last: dict[Any, tuple[datetime, int, int]] = {}

    def of(self, judge: Any, moment: datetime) -> tuple[int, int]:
        before, session, order = self.last.get(judge, (moment, 1, 0))
        session, order = (session + 1, 1) if moment - before > SESSION else (session, order + 1)
        self.last[judge] = (moment, session, order)
        return session, order


def vote_table(source: Published) -> Rows:
    run, sessions = source.run, Sessions()
    excluded = set(run.samples.excluded().values_list("code", flat=True))
    votes = Vote.objects.filter(run=run).order_by("voted_at", "seat_id", "matchup__order", "id")
    for values in votes.values_list(*PATHS.values()).iterator(chunk_size=2000):
        row = dict(zip(PATHS, values, strict=True))
        seat = row.pop("seat")
        session, order = sessions.of(seat, row["timestamp"])
        judge = source.judges[seat]
        uncounted = _uncounted(row, weight=source.weights[seat], excluded=excluded)
        yield {
            **row,
            "split": "uncounted" if uncounted else "repeats" if row["kind"] == Kind.REPEAT else "train",
            "winner": WINNERS[row["winner"]],
            "judge": judge,
            "evaluation_session_id": f"{judge or 'unknown'}-session-{session}",
            "evaluation_order": order,
            "category": row["category"] or None,
            "weight": source.weights[seat],
            "uncounted_reason": uncounted or None,
        }


def _uncounted(row: dict[str, Any], *, weight: float, excluded: set[str]) -> str:
    if row["withdrawn_at"] is not None:
        return WITHDRAWN
    if row["kind"] == Kind.PICKED:
        return PICKED
    if row["kept_out"]:
        return NAMES_KNOWN
    if row["sample_a"] in excluded or row["sample_b"] in excluded:
        return EXCLUDED
    return "" if weight else SET_ASIDE


VOTES = Table(
    "votes",
    "which of two drawings a judge preferred, in the columns that public arenas use",
    columns_of(
        id=("text", "id of the pair as shown to one judge; a vote that is withdrawn and cast again keeps it"),
        model_a=("text", "the entrant that drew the left drawing"),
        model_b=("text", "the entrant that drew the right drawing"),
        winner=("text", "model_a, model_b, tie (both good) or both_bad"),
        judge=("text", "the judge's pseudonym; empty where unknown"),
        evaluation_session_id=("text", "the judge's sitting; a pause of more than 30 minutes begins another"),
        evaluation_order=("whole", "the vote's number in its session, from 1"),
        timestamp=("time", "when the vote was cast"),
        category=("text", "the prompt's category"),
        prompt_id=("text", "the prompt's key"),
        prompt=("text", "the prompt's text"),
        sample_a=("text", "the left drawing, in the table `samples`"),
        sample_b=("text", "the right drawing"),
        attempt_a=("whole", "the left drawing's attempt, from 1"),
        attempt_b=("whole", "the right drawing's attempt, from 1"),
        response_ms=("whole", "how long the judge took, in milliseconds"),
        kind=(
            "text",
            "regular, shared (all judges get it), repeat (shown to this judge before) or picked (by a curator)",
        ),
        judge_order=("whole", "the pair's number in the judge's whole sequence, from 0"),
        weight=("number", "how much the judge's votes count in the ratings, 0 to 1"),
        unblind=("flag", "names were shown after each vote of this run, or the judge could know them before this one"),
        kept_out=("flag", "in no rating, because the judge could know the names or a curator picked the pair"),
        imported=("flag", "came from a file of votes"),
        breaks_a=("whole", "fonts in which the left drawing breaks, as bits 1, 2, 4"),
        breaks_b=("whole", "the same for the right drawing"),
        withdrawn_at=("time", "when the vote was withdrawn"),
        uncounted_reason=(
            "text",
            f"{WITHDRAWN}, {PICKED}, {NAMES_KNOWN}, {EXCLUDED} or {SET_ASIDE}; empty where it counts",
        ),
    ),
    vote_table,
    splits=(
        ("train", "the votes that the ratings count"),
        ("repeats", "pairs shown to the same judge a second time, to measure consistency; in no rating"),
        ("uncounted", "votes that count in no rating; `uncounted_reason` says why"),
    ),
)
