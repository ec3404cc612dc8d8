"""What one request changes of a judge's seat: collected first, then written at once, or not at all.

Before anything is written a guard is read: nobody changed the seat since it was read, judging is open, pairs are in the states
they were seen in, and the drawings of a new pair may be shown and have not met. PostgreSQL gets guard and writes as one
statement, SQLite as several in a transaction; their text is the same. The guard locks the seat, and all writes come after it
in the same order, so that two requests never wait for each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Model
from django.utils.timezone import now

from benchsite.lib.database.instances import make_instance
from benchsite.lib.database.prepared import numbered_places, prepared_cursor
from generation.models import Prompt, Sample
from judging.models import GoldAnswer, Kind, Matchup, Seat, Vote
from judging.pairs.matchups import shown_as_damaged
from judging.pairs.schedule.plans import Plan
from judging.seats import StaleSeatError

M = TypeVar("M", bound=Model)
GOLD_COUNTS = ("gold_shown", "gold_answered", "gold_passed", "gold_failed")


@dataclass(frozen=True)
class Step:
    """A write of exactly one row, and what the guard asks for it: joined tables, a condition, columns to read along.

    `#` becomes the step's number; `{held}` is true once the guard and all steps before it have their row.
    """

    write: str
    join: str = ""
    where: str = ""
    columns: tuple[str, ...] = ()


IS_OPEN = "EXISTS (SELECT 1 FROM generation_run r WHERE r.id = s.run_id AND r.judging_state = 'open')"
_SEAT = """UPDATE judging_seat SET version = %(version)s + 1, served = %(served#)s, regular = %(regular#)s,
shared = %(shared#)s, repeats = %(repeats#)s, last_pair = %(last_pair#)s, owed = %(owed#)s, made = %(made#)s,
void = %(void#)s, voted = %(voted#)s, gold_shown = %(gold_shown#)s, gold_answered = %(gold_answered#)s,
gold_passed = %(gold_passed#)s, gold_failed = %(gold_failed#)s, last_vote_at = %(last_vote_at#)s"""
SAVE_SEAT = Step(f"{_SEAT} WHERE id = %(seat)s AND {{held}}")
SAVE_PLAN = Step(f"{_SEAT}, epoch_id = %(epoch#)s, seed = %(seed#)s, plan = %(plan#)s WHERE id = %(seat)s AND {{held}}")
MOVE = Step(
    """UPDATE judging_matchup SET state = %(state#)s, opened_at = %(opened_at#)s, skipped_at = %(skipped_at#)s
WHERE id = %(matchup#)s AND {held}""",
    where="EXISTS (SELECT 1 FROM judging_matchup m WHERE m.id = %(matchup#)s AND m.state = %(was#)s)",
)
_SHOWABLE = """JOIN generation_sample {side}# ON {side}#.id = %({side}_sample#)s AND {side}#.state = 'drawn'
AND {side}#.verdict = 'valid' AND NOT {side}#.held AND {side}#.excluded_reason = ''
JOIN generation_entrant by_{side}# ON by_{side}#.id = {side}#.entrant_id AND by_{side}#.disqualified = ''"""
_QUEUE = Step(
    """INSERT INTO judging_matchup (code, run_id, seat_id, epoch_id, "order", kind, state, prompt_id, category,
left_id, right_id, left_sample_id, right_sample_id, "key", repeat_of_id, gold_id, created_at, opened_at)
SELECT %(code#)s, %(run)s, %(seat)s, %(epoch#)s, %(order#)s, %(kind#)s, %(state#)s, %(prompt#)s, %(category#)s,
%(left#)s, %(right#)s, %(left_sample#)s, %(right_sample#)s, %(key#)s, %(repeat_of#)s, %(gold#)s, %(created_at#)s, %(opened_at#)s
WHERE {held}""",
    join=f"{_SHOWABLE.format(side='left')}\n{_SHOWABLE.format(side='right')}\n"
    "JOIN generation_prompt prompt# ON prompt#.id = left#.prompt_id",
    columns=("left#.drawing AS left_drawing#", "right#.drawing AS right_drawing#", "prompt#.text AS prompt_text#"),
)
_UNMET = """NOT EXISTS (SELECT 1 FROM judging_matchup m WHERE m.seat_id = s.id AND m."key" = %(key#)s
AND m.kind <> 'repeat')"""
# By whether it is a repeat, which alone may show two drawings again, and whether the page itself holds the drawings.
QUEUE = {
    (is_repeat, as_text): replace(
        _QUEUE,
        where="" if is_repeat else _UNMET,
        columns=_QUEUE.columns if as_text else ("'' AS left_drawing#", "'' AS right_drawing#", _QUEUE.columns[2]),
    )
    for is_repeat in (False, True)
    for as_text in (False, True)
}
CAST = Step(
    """INSERT INTO judging_vote (matchup_id, run_id, seat_id, outcome, voted_at, response_ms, unblind, kept_out, imported,
left_breaks, right_breaks)
SELECT %(matchup#)s, %(run)s, %(seat)s, %(outcome#)s, %(voted_at#)s, %(response_ms#)s, %(unblind#)s, %(kept_out#)s, %(imported#)s,
%(left_breaks#)s, %(right_breaks#)s WHERE {held}"""
)
WITHDRAW = Step(
    "UPDATE judging_vote SET withdrawn_at = %(moment#)s, withdrawn_by_id = %(judge#)s WHERE id = %(vote#)s AND {held}",
    where="EXISTS (SELECT 1 FROM judging_vote v WHERE v.id = %(vote#)s AND v.withdrawn_at IS NULL)",
)
# Answers to checks are kept apart from votes; the statements are as many, and of the same shape.
ANSWER_GOLD = Step(
    """INSERT INTO judging_goldanswer (matchup_id, gold_id, run_id, seat_id, choice, answered_at, response_ms, left_breaks,
right_breaks)
SELECT %(matchup#)s, %(gold#)s, %(run)s, %(seat)s, %(choice#)s, %(answered_at#)s, %(response_ms#)s, %(left_breaks#)s,
%(right_breaks#)s WHERE {held}"""
)
WITHDRAW_GOLD = Step(
    "UPDATE judging_goldanswer SET withdrawn_at = %(moment#)s WHERE id = %(answer#)s AND {held}",
    where="EXISTS (SELECT 1 FROM judging_goldanswer a WHERE a.id = %(answer#)s AND a.withdrawn_at IS NULL)",
)

Written = Callable[..., None]  # gets the number of a step's row, and what the guard read for it


@dataclass
class Changes:
    """Changes of one seat. `look_first` where a new pair's drawings shall be read before they are relied on."""

    seat: Seat
    look_first: bool = True
    while_open: bool = False
    plan: Plan | None = None  # drawn anew, because another epoch began
    keys: set[str] = field(default_factory=set)  # of the pairs made so far
    prompts: list[int | None] = field(default_factory=list)  # of these pairs
    _steps: list[Step] = field(default_factory=list)
    _written: list[Written] = field(default_factory=list)
    _values: dict[str, Any] = field(default_factory=dict)
    _after: list[Callable[[], object]] = field(default_factory=list)

    def write(self, step: Step, values: dict[str, Any], written: Written = lambda *_: None) -> None:
        number = len(self._steps)
        self._steps.append(step)
        self._written.append(written)
        self._values |= {f"{name}{number}": value for name, value in values.items()}

    def then(self, follow: Callable[[], object]) -> None:
        """Call this once all is written, in the same transaction."""
        self._after.append(follow)

    def move(self, matchup: Matchup, state: Matchup.State) -> None:
        was, matchup.state = matchup.state, state
        matchup.opened_at = now() if state == Matchup.State.OPEN else matchup.opened_at
        matchup.skipped_at = now() if state == Matchup.State.SKIPPED else None
        values = {"matchup": matchup.pk, "was": str(was), "state": str(state)}
        self.write(MOVE, values | {"opened_at": matchup.opened_at, "skipped_at": matchup.skipped_at})

    def queue(self, matchup: Matchup) -> None:
        """Store a new matchup; its prompt and drawings come along."""

        def written(number: int, left: str, right: str, prompt: str) -> None:
            _is_stored(matchup, number)
            matchup.prompt = _partial(Prompt, matchup.prompt_id, text=prompt)
            matchup.left_sample = _partial(Sample, matchup.left_sample_id, drawing=left)
            matchup.right_sample = _partial(Sample, matchup.right_sample_id, drawing=right)
            if matchup.gold is not None and matchup.gold.damaged:
                shown_as_damaged(matchup)

        values = {name: getattr(matchup, name) for name in ("code", "order", "category", "key")}
        columns = ("epoch", "prompt", "left", "right", "left_sample", "right_sample", "repeat_of", "gold")
        values |= {name: getattr(matchup, f"{name}_id") for name in columns}
        values |= {"kind": str(matchup.kind), "state": str(matchup.state)}
        values |= {"created_at": matchup.created_at, "opened_at": matchup.opened_at}
        self.keys.add(matchup.key)
        self.prompts.append(matchup.prompt_id)
        as_text = self.seat.run.drawing_format.shown_as == "text"
        self.write(QUEUE[matchup.kind == Kind.REPEAT, as_text], values, written)

    def cast(self, vote: Vote) -> None:
        names = ("outcome", "response_ms", "unblind", "kept_out", "imported", "left_breaks", "right_breaks")
        values = {name: getattr(vote, name) for name in names}
        values |= {"matchup": vote.matchup_id, "voted_at": vote.voted_at}
        self.write(CAST, values, lambda number: _is_stored(vote, number))

    def answer(self, answer: GoldAnswer) -> None:
        names = ("choice", "response_ms", "left_breaks", "right_breaks")
        values = {name: getattr(answer, name) for name in names}
        values |= {"matchup": answer.matchup_id, "gold": answer.gold_id, "answered_at": answer.answered_at}
        self.write(ANSWER_GOLD, values, lambda number: _is_stored(answer, number))

    def withdraw_answer(self, answer: GoldAnswer) -> None:
        self.write(WITHDRAW_GOLD, {"answer": answer.pk, "moment": now()})

    def withdraw(self, vote: Vote, judge: int) -> None:
        self.write(WITHDRAW, {"vote": vote.pk, "moment": now(), "judge": judge})

    def apply(self) -> None:
        """Write everything and the seat; StaleSeatError where the guard finds that something is not as it was read."""
        self._save_seat()
        # One statement is a transaction by itself; inside another one a savepoint allows to try again.
        database = connections[DEFAULT_DB_ALIAS]
        alone = database.vendor == "postgresql" and not self._after and not database.in_atomic_block
        with nullcontext() if alone else transaction.atomic():
            numbers, read = _run(tuple(self._steps), self._values, while_open=self.while_open)
            for step, number, written in zip(self._steps, numbers, self._written, strict=True):
                written(number, *(next(read) for _ in step.columns))
            for follow in self._after:
                follow()
        self.seat.version += 1

    def _save_seat(self) -> None:
        seat = self.seat
        names = ("served", "regular", "shared", "repeats", "made", "void", "voted", *GOLD_COUNTS)
        values = {name: getattr(seat, name) for name in names}
        values |= {"last_pair": seat.last_pair and json.dumps(seat.last_pair), "owed": json.dumps(seat.owed)}
        values |= {"last_vote_at": seat.last_vote_at}
        if self.plan:
            values |= {"epoch": seat.epoch_id, "seed": seat.seed, "plan": json.dumps(seat.plan)}
        self.write(SAVE_PLAN if self.plan else SAVE_SEAT, values)
        self._values |= {"seat": seat.pk, "run": seat.run_id, "version": seat.version}


def _partial(model: type[M], pk: int | None, **values: str) -> M:
    """A row of which only these columns are known."""
    return make_instance(model, {"id": pk, **values}, {}, DEFAULT_DB_ALIAS)


def _is_stored(row: Model, number: int) -> None:
    row.pk, row._state.adding, row._state.db = number, False, DEFAULT_DB_ALIAS


def _run(steps: tuple[Step, ...], values: dict[str, Any], *, while_open: bool) -> tuple[list[int], Iterator[Any]]:
    """The numbers of the rows written, and the columns that the guard read."""
    guard, writes, together, names = _statements(steps, while_open)
    database = connections[DEFAULT_DB_ALIAS]
    with prepared_cursor() as cursor:
        if database.vendor == "postgresql":
            cursor.execute(together, [values[name] for name in names])
            row = cursor.fetchone()
            if row is None:
                raise StaleSeatError
            return list(row[1 : 1 + len(steps)]), iter(row[2 + len(steps) :])
        adapt = database.ops.adapt_datetimefield_value
        values = {name: adapt(value) if isinstance(value, datetime) else value for name, value in values.items()}
        cursor.execute(guard, values)
        row = cursor.fetchone()
        if row is None:
            raise StaleSeatError
        numbers = []
        for write in writes:
            cursor.execute(write, values)
            numbers.append(cursor.fetchone()[0])
        return numbers, iter(row[1:])


@lru_cache(maxsize=256)
def _statements(steps: tuple[Step, ...], while_open: bool) -> tuple[str, list[str], str, list[str]]:
    """The guard, each write, and all as one statement with the names of its values in their order."""

    def numbered(texts: Iterable[str]) -> list[str]:
        return [text.replace("#", str(n)) for n, text in enumerate(texts)]

    joins = "\n".join(filter(None, numbered(step.join for step in steps)))
    wheres = [IS_OPEN] * while_open + list(filter(None, numbered(step.where for step in steps)))
    columns = [column.replace("#", str(n)) for n, step in enumerate(steps) for column in step.columns]
    guard = " ".join(
        [
            f"SELECT {', '.join(['s.id', *columns])} FROM judging_seat s {joins}",  # noqa: S608 - constants of this app
            "WHERE s.id = %(seat)s AND s.version = %(version)s",
            *(f"AND {where}" for where in wheres),
        ]
    )
    writes = [f"{write} RETURNING id" for write in numbered(step.write for step in steps)]
    chain = ["guard", *(f"step{n}" for n in range(len(writes)))]
    parts = [f"guard AS ({guard} FOR NO KEY UPDATE OF s)"]
    for write, before, name in zip(writes, chain, chain[1:], strict=False):
        held = f"EXISTS (SELECT 1 FROM {before})"  # noqa: S608
        parts.append(f"{name} AS ({write.replace('{held}', held)})")
    results = ["guard.id", *(f"(SELECT id FROM {name})" for name in chain[1:])]  # noqa: S608
    # The guard has seen that every step has its row. Should one not, this fails, and nothing is written.
    results.append(f"1 / (SELECT count(*) FROM {chain[-1]})")  # noqa: S608
    results += [f"guard.{column.rpartition(' AS ')[2]}" for column in columns]
    together = f"WITH {', '.join(parts)} SELECT {', '.join(results)} FROM guard"  # noqa: S608
    return guard, [write.replace("{held}", "TRUE") for write in writes], *numbered_places(together)
