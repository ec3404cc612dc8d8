"""Counts of standing votes, kept in the vote's own transaction; rebuilt and compared on request."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, transaction
from django.db.models import Case, Count, F, Model, Value, When

from generation.models import Run
from judging.models import JudgeTally, Kind, Matchup, PromptTally, Vote

JUDGE_KEY = ("run_id", "seat_id", "category", "left_id", "right_id", "outcome", "is_repeat")
PROMPT_KEY = ("run_id", "prompt_id", "left_id", "right_id", "outcome", "is_repeat")


def count_vote(matchup: Matchup, outcome: str, *, by: int) -> None:
    """Add `by` (1 for a vote, -1 for its withdrawal) to both tallies; the caller holds the transaction."""
    values = {
        "run_id": matchup.run_id,
        "seat_id": matchup.seat_id,
        "prompt_id": matchup.prompt_id,
        "category": matchup.category,
        "left_id": matchup.left_id,
        "right_id": matchup.right_id,
        "outcome": outcome,
        "is_repeat": matchup.kind == Kind.REPEAT,
    }
    _add(JudgeTally, JUDGE_KEY, [values[name] for name in JUDGE_KEY], by)
    if matchup.prompt_id is not None:
        _add(PromptTally, PROMPT_KEY, [values[name] for name in PROMPT_KEY], by)


def _add(tally: type[Model], key: Sequence[str], values: Sequence[object], by: int) -> None:
    """One upsert. The ORM's own cannot add to what is there, and update-then-insert would need a second try on a race."""
    table, columns = tally._meta.db_table, ", ".join(f'"{name}"' for name in key)
    if by < 0:
        # An INSERT of -1 would be refused by the check before the conflict is even looked at.
        tally.objects.filter(**dict(zip(key, values, strict=True))).update(votes=F("votes") + by)
        return
    marks = ", ".join(["%s"] * (len(key) + 1))
    insert = [f'INSERT INTO "{table}" ({columns}, "votes") VALUES ({marks})', f"ON CONFLICT ({columns})"]
    add = f'DO UPDATE SET "votes" = "{table}"."votes" + excluded."votes"'
    with connection.cursor() as cursor:
        cursor.execute(" ".join([*insert, add]), [*values, by])


def _counted(run: Run, key: Sequence[str]) -> dict[tuple[object, ...], int]:
    """The GROUP BY that the tallies must equal."""
    paths = {"run_id": "run_id", "seat_id": "seat_id", "outcome": "outcome", "is_repeat": "repeat"}
    names = [paths.get(name, f"matchup__{name}") for name in key]
    repeat = Case(When(matchup__kind=Kind.REPEAT, then=Value(True)), default=Value(False))
    votes = Vote.objects.filter(run=run, withdrawn_at=None)
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
def rebuild_tallies(run: Run) -> int:
    """Write the tallies anew from the votes, and say how many rows had been wrong."""
    wrong = differences(run)
    for tally, key in ((JudgeTally, JUDGE_KEY), (PromptTally, PROMPT_KEY)):
        tally.objects.filter(run=run).delete()
        rows = _counted(run, key).items()
        tally.objects.bulk_create(
            (tally(**dict(zip(key, row, strict=True)), votes=n) for row, n in rows), batch_size=500
        )
    return wrong
