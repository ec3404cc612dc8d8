"""Counts of rated votes, kept in the vote's own transaction; rebuilt and compared on request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, Count, F, Value, When

from benchsite.lib.database.prepared import numbered_places, prepared_cursor
from benchsite.lib.database.snapshots import snapshot
from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Run
from judging.models import JudgeTally, Kind, Matchup, PromptTally, Seat, Vote
from judging.pairs.changes import Changes, Step

JUDGE_KEY = ("run_id", "seat_id", "category", "left_id", "right_id", "outcome", "is_repeat")
PROMPT_KEY = ("run_id", "prompt_id", "left_id", "right_id", "outcome", "is_repeat", "activity")
BATCH = 500


# The ORM's own upsert cannot add to what is there, and update-then-insert would need a second try on a race.
_JUDGE = "run_id, seat_id, category, left_id, right_id, outcome, is_repeat"
_PROMPT = "run_id, prompt_id, left_id, right_id, outcome, is_repeat, activity"
ADD_TO_JUDGE = Step(
    f"""INSERT INTO judging_judgetally ({_JUDGE}, votes)
SELECT %(run)s, %(seat)s, %(category#)s, %(left#)s, %(right#)s, %(outcome#)s, %(is_repeat#)s, 1 WHERE {{held}}
ON CONFLICT ({_JUDGE}) DO UPDATE SET votes = judging_judgetally.votes + 1"""
)
ADD_TO_PROMPT = Step(
    f"""INSERT INTO judging_prompttally ({_PROMPT}, votes)
SELECT %(run)s, %(prompt#)s, %(left#)s, %(right#)s, %(outcome#)s, %(is_repeat#)s, %(activity#)s, 1 WHERE {{held}}
ON CONFLICT ({_PROMPT}) DO UPDATE SET votes = judging_prompttally.votes + 1"""
)
TAKE_FROM_JUDGE = Step(
    """UPDATE judging_judgetally SET votes = votes - 1
WHERE run_id = %(run)s AND seat_id = %(seat)s AND category = %(category#)s AND left_id = %(left#)s AND right_id = %(right#)s
AND outcome = %(outcome#)s AND is_repeat = %(is_repeat#)s AND {held}"""
)
TAKE_FROM_PROMPT = Step(
    """UPDATE judging_prompttally SET votes = votes - 1
WHERE run_id = %(run)s AND prompt_id = %(prompt#)s AND left_id = %(left#)s AND right_id = %(right#)s
AND outcome = %(outcome#)s AND is_repeat = %(is_repeat#)s AND activity = %(activity#)s AND {held}"""
)
# The judge's rated votes by cell; without the vote of that number, or with it where it was withdrawn just now: as they were before.
# In the order of cells, in which their rows are locked: two judges who move at once never wait for each other.
_CELLS = """SELECT m.prompt_id, m.left_id, m.right_id, v.outcome, m.kind = 'repeat' AS is_repeat, count(*) AS votes
FROM judging_vote v JOIN judging_matchup m ON m.id = v.matchup_id AND m.seat_id = v.seat_id
WHERE v.seat_id = %(seat)s AND m.prompt_id IS NOT NULL AND NOT v.kept_out AND (v.withdrawn_at IS NULL) <> (v.id = %(but)s)
GROUP BY m.prompt_id, m.left_id, m.right_id, v.outcome, m.kind = 'repeat'
ORDER BY m.prompt_id, m.left_id, m.right_id, v.outcome, m.kind = 'repeat'"""
# A row for each cell by its whole key: joined, PostgreSQL may read all cells anew for each of the run's rows.
_TAKE_CELLS = f"""WITH taken AS MATERIALIZED (SELECT c.votes, (SELECT t.id FROM judging_prompttally t
WHERE t.run_id = %(run)s AND t.prompt_id = c.prompt_id AND t.left_id = c.left_id AND t.right_id = c.right_id
AND t.outcome = c.outcome AND t.is_repeat = c.is_repeat AND t.activity = %(activity)s {{lock}}) AS id FROM ({_CELLS}) c)
UPDATE judging_prompttally SET votes = judging_prompttally.votes - taken.votes FROM taken WHERE judging_prompttally.id = taken.id"""  # noqa: S608 - constants of this app
_ADD_CELLS = f"""INSERT INTO judging_prompttally ({_PROMPT}, votes)
SELECT %(run)s, c.prompt_id, c.left_id, c.right_id, c.outcome, c.is_repeat, %(activity)s, c.votes FROM ({_CELLS}) c WHERE TRUE
ON CONFLICT ({_PROMPT}) DO UPDATE SET votes = judging_prompttally.votes + excluded.votes"""  # noqa: S608
UNKNOWN = -1
CLASSES = 24  # nobody casts more votes than 2 to the power of this


def activity_of(seat: Seat, *, voted: int | None = None) -> int:
    """The judge's class by number of standing votes (repeats too): 1, 2-3, 4-7, 8-15 … votes are 0, 1, 2, 3 …"""
    return UNKNOWN if seat.is_unknown else max(seat.voted if voted is None else voted, 1).bit_length() - 1


def _cell(matchup: Matchup, outcome: str) -> dict[str, Any]:
    """The columns that name a tally's row, but for the judge's class."""
    return {
        "category": matchup.category,
        "prompt": matchup.prompt_id,
        "left": matchup.left_id,
        "right": matchup.right_id,
        "outcome": outcome,
        "is_repeat": matchup.kind == Kind.REPEAT,
    }


def add_vote(changes: Changes, matchup: Matchup, vote: Vote) -> None:
    """Count a new vote with the changes that store it; its seat's number of votes counts it already.

    A vote that is kept out counts for the judge's activity alone.
    """
    _count(changes, matchup, vote, change=1, steps=(ADD_TO_JUDGE, ADD_TO_PROMPT))


def remove_vote(changes: Changes, matchup: Matchup, vote: Vote) -> None:
    """Take a vote out again with the changes that withdraw it; its seat's number of votes does not count it any more."""
    _count(changes, matchup, vote, change=-1, steps=(TAKE_FROM_JUDGE, TAKE_FROM_PROMPT))


def _count(changes: Changes, matchup: Matchup, vote: Vote, *, change: int, steps: tuple[Step, Step]) -> None:
    seat, rated = changes.seat, not vote.kept_out
    before, after = activity_of(seat, voted=seat.voted - change), activity_of(seat)
    cell = _cell(matchup, vote.outcome)
    if rated:
        changes.write(steps[0], cell)
    if before != after:
        changes.then(lambda: _move_cells(vote, before=before, after=after))
    elif rated and matchup.prompt_id is not None:
        changes.write(steps[1], cell | {"activity": after})


def _move_cells(vote: Vote, *, before: int, after: int) -> None:
    """Put all votes of a judge whose class changed under the new class: two moves a vote in the long run. The lower is written first."""
    was = {"run": vote.run_id, "seat": vote.seat_id, "activity": before, "but": vote.pk}
    moves = [(_TAKE_CELLS, was), (_ADD_CELLS, was | {"activity": after, "but": 0})]
    with prepared_cursor() as cursor:
        for sql, values in moves if before < after else reversed(moves):
            cursor.execute(*_placed(sql, values))


def _placed(sql: str, values: dict[str, Any]) -> tuple[str, Any]:
    """A statement and its values as this database's cursor takes them."""
    if connection.vendor != "postgresql":
        return sql.replace("{lock}", ""), values
    text, names = _numbered(sql)
    return text, [values[name] for name in names]


@cache
def _numbered(sql: str) -> tuple[str, list[str]]:
    return numbered_places(sql.replace("{lock}", "FOR UPDATE OF t"))


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
    """How many tally rows do not equal the GROUP BY of the rated votes; 0 is what is promised.

    Both are read from one snapshot: a vote between two reads would look like a wrong row.
    """
    wrong = 0
    with snapshot():
        for tally, key in ((JudgeTally, JUDGE_KEY), (PromptTally, PROMPT_KEY)):
            counted, stored = _counted(run, key), _stored(run, tally, key)
            wrong += sum(counted.get(row) != stored.get(row) for row in counted.keys() | stored.keys())
    return wrong


@transaction.atomic
def rebuild_tallies(run: Run, *, progress: Progress = unwatched) -> int:
    """Write the tallies anew from the votes, and say how many rows had been wrong; `progress` hears of rows written."""
    if connection.vendor == "postgresql":  # SQLite has one writer at a time
        # Seats first, as a vote does it.
        list(run.seats.order_by("pk").select_for_update(no_key=True).values_list("pk"))
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
