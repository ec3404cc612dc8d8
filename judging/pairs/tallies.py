"""Counts of rated votes, kept in the vote's own transaction; rebuilt and compared on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, Count, F, Value, When

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Run
from judging.models import JudgeTally, Kind, Matchup, PromptTally, Seat, Vote

JUDGE_KEY = ("run_id", "seat_id", "category", "left_id", "right_id", "outcome", "is_repeat")
PROMPT_KEY = ("run_id", "prompt_id", "left_id", "right_id", "outcome", "is_repeat", "activity")
CELL = ("matchup__prompt_id", "matchup__left_id", "matchup__right_id", "outcome", "matchup__kind")
BATCH = 500


# The ORM's own upsert cannot add to what is there, and update-then-insert would need a second try on a race.
ADD_TO_JUDGE = """
INSERT INTO judging_judgetally (run_id, seat_id, category, left_id, right_id, outcome, is_repeat, votes)
VALUES (%s, %s, %s, %s, %s, %s, %s, 1)
ON CONFLICT (run_id, seat_id, category, left_id, right_id, outcome, is_repeat)
DO UPDATE SET votes = judging_judgetally.votes + 1
"""
ADD_TO_PROMPT = """
INSERT INTO judging_prompttally (run_id, prompt_id, left_id, right_id, outcome, is_repeat, activity, votes)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (run_id, prompt_id, left_id, right_id, outcome, is_repeat, activity)
DO UPDATE SET votes = judging_prompttally.votes + excluded.votes
"""
TAKE_FROM_PROMPT = """
UPDATE judging_prompttally SET votes = votes - %s
WHERE run_id = %s AND prompt_id = %s AND left_id = %s AND right_id = %s AND outcome = %s AND is_repeat = %s
AND activity = %s
"""
UNKNOWN = -1
CLASSES = 24  # nobody casts more votes than 2 to the power of this


def activity_of(seat: Seat, *, voted: int | None = None) -> int:
    """The judge's class by number of standing votes (repeats too): 1, 2-3, 4-7, 8-15 … votes are 0, 1, 2, 3 …"""
    return UNKNOWN if seat.is_unknown else max(seat.voted if voted is None else voted, 1).bit_length() - 1


def _keys(matchup: Matchup, outcome: str, activity: int) -> tuple[dict[str, Any], dict[str, Any]]:
    values = {
        name: getattr(matchup, name) for name in ("run_id", "seat_id", "prompt_id", "category", "left_id", "right_id")
    }
    values |= {"outcome": outcome, "is_repeat": matchup.kind == Kind.REPEAT, "activity": activity}
    return {name: values[name] for name in JUDGE_KEY}, {name: values[name] for name in PROMPT_KEY}


def add_vote(matchup: Matchup, vote: Vote) -> None:
    """Count a new vote, which is stored and in its seat's number of votes already; the caller holds the transaction.

    A vote that is kept out counts for the judge's activity alone.
    """
    seat, rated = matchup.seat, not vote.kept_out
    before, after = activity_of(seat, voted=seat.voted - 1), activity_of(seat)
    by_judge, by_prompt = _keys(matchup, vote.outcome, after)
    with connection.cursor() as cursor:
        if rated:
            cursor.execute(ADD_TO_JUDGE, list(by_judge.values()))
        if rated and before == after and matchup.prompt_id is not None:
            cursor.execute(ADD_TO_PROMPT, [*by_prompt.values(), 1])
    if before != after:
        _move_cells(matchup, vote.outcome, before=before, after=after, change=int(rated))


def remove_vote(matchup: Matchup, vote: Vote) -> None:
    """Take a withdrawn vote out again, which its seat no longer counts; the caller holds the transaction."""
    seat, rated = matchup.seat, not vote.kept_out
    before, after = activity_of(seat, voted=seat.voted + 1), activity_of(seat)
    by_judge, by_prompt = _keys(matchup, vote.outcome, after)
    if rated:
        JudgeTally.objects.filter(**by_judge).update(votes=F("votes") - 1)
    if before != after:
        _move_cells(matchup, vote.outcome, before=before, after=after, change=-int(rated))
    elif rated and matchup.prompt_id is not None:
        PromptTally.objects.filter(**by_prompt).update(votes=F("votes") - 1)


def _move_cells(matchup: Matchup, outcome: str, *, before: int, after: int, change: int) -> None:
    """Put all votes of a judge whose class changed under the new class: two moves a vote in the long run.

    The lower class is written first and cells in order, so that two judges who move at once never wait for each other.
    """
    votes = matchup.seat.votes.rated().exclude(matchup__prompt_id__isnull=True).order_by()
    now = Counter({tuple(cell): n for *cell, n in votes.values_list(*CELL).annotate(Count("id"))})
    was = now.copy()
    if matchup.prompt_id is not None:
        was[matchup.prompt_id, matchup.left_id, matchup.right_id, outcome, matchup.kind] -= change
    folded = [_fold_kinds(cells) for cells in (was, now)]
    taken = [(n, matchup.run_id, *cell, before) for cell, n in sorted(folded[0].items()) if n]
    given = [(matchup.run_id, *cell, after, n) for cell, n in sorted(folded[1].items()) if n]
    steps = [(TAKE_FROM_PROMPT, taken), (ADD_TO_PROMPT, given)]
    with connection.cursor() as cursor:
        for statement, rows in steps if before < after else reversed(steps):
            cursor.executemany(statement, rows)


def _fold_kinds(cells: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Counts by whether a vote is a repeat, instead of by its kind."""
    folded: Counter[tuple[Any, ...]] = Counter()
    for (*cell, kind), n in cells.items():
        folded[*cell, kind == Kind.REPEAT] += n
    return folded


def _counted(run: Run, key: Sequence[str]) -> dict[tuple[Any, ...], int]:
    """The GROUP BY that the tallies must equal."""
    paths = {name: name for name in ("run_id", "seat_id", "outcome", "activity")} | {"is_repeat": "repeat"}
    names = [paths.get(name, f"matchup__{name}") for name in key]
    repeat = Case(When(matchup__kind=Kind.REPEAT, then=Value(True)), default=Value(False))
    votes = run.votes.rated().annotate(repeat=repeat)
    if "prompt_id" in key:
        votes = votes.exclude(matchup__prompt_id__isnull=True)
    if "activity" in key:
        powers = [When(seat__voted__gte=2**power, then=Value(power)) for power in range(CLASSES, 0, -1)]
        votes = votes.annotate(
            activity=Case(When(seat__is_unknown=True, then=Value(UNKNOWN)), *powers, default=Value(0))
        )
    rows = votes.order_by().values_list(*names).annotate(Count("id"))
    return {_as_key(row[:-1], key): row[-1] for row in rows}


def _stored(run: Run, tally: type[JudgeTally | PromptTally], key: Sequence[str]) -> dict[tuple[Any, ...], int]:
    rows = tally._default_manager.filter(run=run).exclude(votes=0).values_list(*key, "votes")
    return {_as_key(row[:-1], key): row[-1] for row in rows}


def _as_key(row: Sequence[object], key: Sequence[str]) -> tuple[Any, ...]:
    return tuple(bool(value) if name == "is_repeat" else value for name, value in zip(key, row, strict=True))


def differences(run: Run) -> int:
    """How many tally rows do not equal the GROUP BY of the rated votes; 0 is what is promised."""
    wrong = 0
    for tally, key in ((JudgeTally, JUDGE_KEY), (PromptTally, PROMPT_KEY)):
        counted, stored = _counted(run, key), _stored(run, tally, key)
        wrong += sum(counted.get(row) != stored.get(row) for row in counted.keys() | stored.keys())
    return wrong


@transaction.atomic
def rebuild_tallies(run: Run, *, progress: Progress = unwatched) -> int:
    """Write the tallies anew from the votes, and say how many rows had been wrong; `progress` hears of rows written."""
    if connection.vendor == "postgresql":  # SQLite has one writer at a time
        # A vote or undo that is not committed yet waits here, and then adds to what was counted without it.
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE judging_judgetally, judging_prompttally IN EXCLUSIVE MODE")
    _count_votes(run)
    wrong = differences(run)
    for tally, key in ((JudgeTally, JUDGE_KEY), (PromptTally, PROMPT_KEY)):
        tally.objects.filter(run=run).delete()
        rows: list[Any] = [tally(**dict(zip(key, row, strict=True)), votes=n) for row, n in _counted(run, key).items()]
        for start in range(0, len(rows), BATCH):
            tally._default_manager.bulk_create(rows[start : start + BATCH])
            progress(min(start + BATCH, len(rows)), len(rows))
    return wrong


def _count_votes(run: Run) -> None:
    """Mend the seats' own number of standing votes, by which tallies tell how active a judge is."""
    counted = dict(run.votes.standing().order_by().values_list("seat_id").annotate(Count("id")))
    for pk, voted in run.seats.values_list("pk", "voted"):
        if voted != counted.get(pk, 0):
            Seat.objects.filter(pk=pk).update(voted=counted.get(pk, 0), version=F("version") + 1)
