"""Counts of standing votes, kept in the vote's own transaction; rebuilt and compared on request."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, transaction
from django.db.models import Case, Count, F, Model, Value, When

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Run
from judging.models import JudgeTally, Kind, Matchup, PromptTally

JUDGE_KEY = ("run_id", "seat_id", "category", "left_id", "right_id", "outcome", "is_repeat")
PROMPT_KEY = ("run_id", "prompt_id", "left_id", "right_id", "outcome", "is_repeat")
BATCH = 500


# The ORM's own upsert cannot add to what is there, and update-then-insert would need a second try on a race.
ADD_TO_JUDGE = """
INSERT INTO judging_judgetally (run_id, seat_id, category, left_id, right_id, outcome, is_repeat, votes)
VALUES (%s, %s, %s, %s, %s, %s, %s, 1)
ON CONFLICT (run_id, seat_id, category, left_id, right_id, outcome, is_repeat)
DO UPDATE SET votes = judging_judgetally.votes + 1
"""
ADD_TO_PROMPT = """
INSERT INTO judging_prompttally (run_id, prompt_id, left_id, right_id, outcome, is_repeat, votes)
VALUES (%s, %s, %s, %s, %s, %s, 1)
ON CONFLICT (run_id, prompt_id, left_id, right_id, outcome, is_repeat)
DO UPDATE SET votes = judging_prompttally.votes + 1
"""


def _keys(matchup: Matchup, outcome: str) -> tuple[dict[str, object], dict[str, object]]:
    values = {
        name: getattr(matchup, name) for name in ("run_id", "seat_id", "prompt_id", "category", "left_id", "right_id")
    }
    values |= {"outcome": outcome, "is_repeat": matchup.kind == Kind.REPEAT}
    return {name: values[name] for name in JUDGE_KEY}, {name: values[name] for name in PROMPT_KEY}


def add_vote(matchup: Matchup, outcome: str) -> None:
    """Count a new vote; the caller holds the transaction."""
    by_judge, by_prompt = _keys(matchup, outcome)
    with connection.cursor() as cursor:
        cursor.execute(ADD_TO_JUDGE, list(by_judge.values()))
        if matchup.prompt_id is not None:
            cursor.execute(ADD_TO_PROMPT, list(by_prompt.values()))


def remove_vote(matchup: Matchup, outcome: str) -> None:
    """Take a withdrawn vote out again; the caller holds the transaction."""
    by_judge, by_prompt = _keys(matchup, outcome)
    JudgeTally.objects.filter(**by_judge).update(votes=F("votes") - 1)
    if matchup.prompt_id is not None:
        PromptTally.objects.filter(**by_prompt).update(votes=F("votes") - 1)


def _counted(run: Run, key: Sequence[str]) -> dict[tuple[object, ...], int]:
    """The GROUP BY that the tallies must equal."""
    paths = {"run_id": "run_id", "seat_id": "seat_id", "outcome": "outcome", "is_repeat": "repeat"}
    names = [paths.get(name, f"matchup__{name}") for name in key]
    repeat = Case(When(matchup__kind=Kind.REPEAT, then=Value(True)), default=Value(False))
    votes = run.votes.standing()
    if "prompt_id" in key:
        votes = votes.exclude(matchup__prompt_id=None)
    rows = votes.annotate(repeat=repeat).order_by().values_list(*names).annotate(Count("id"))
    return {(*row[:-2], bool(row[-2])): row[-1] for row in rows}


def _stored(run: Run, tally: type[Model], key: Sequence[str]) -> dict[tuple[object, ...], int]:
    rows = tally.objects.filter(run=run).exclude(votes=0).values_list(*key, "votes")
    return {(*row[:-2], bool(row[-2])): row[-1] for row in rows}


def differences(run: Run) -> int:
    """How many tally rows do not equal the GROUP BY of the standing votes; 0 is what is promised."""
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
    wrong = differences(run)
    for tally, key in ((JudgeTally, JUDGE_KEY), (PromptTally, PROMPT_KEY)):
        tally.objects.filter(run=run).delete()
        rows = [tally(**dict(zip(key, row, strict=True)), votes=n) for row, n in _counted(run, key).items()]
        for start in range(0, len(rows), BATCH):
            tally.objects.bulk_create(rows[start : start + BATCH])
            progress(min(start + BATCH, len(rows)), len(rows))
    return wrong
