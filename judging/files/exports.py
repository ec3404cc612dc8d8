"""A run's votes, skips and grades as rows (for `export`, archives and the API), and as JSON lines or CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, TextIO

from django.db.models import QuerySet

from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import csv_cell
from generation.models import Run
from judging.models import Grade, Matchup, Seat, Vote
from judging.provenance import accountless, unconfirmed_since

Rows = Iterator[dict[str, Any]]
PORTION = 2000
VOTE_FIELDS = (
    *("run", "suite", "judge", "prompt_text", "category", "left_model", "right_model"),
    *("left_attempt", "right_attempt", "outcome", "voted_at", "response_ms", "kind", "withdrawn"),
    *("unblind", "kept_out", "imported", "unconfirmed"),
)
SKIP_FIELDS = (
    *("run", "suite", "judge", "prompt_text", "category", "left_model", "right_model"),
    *("left_attempt", "right_attempt", "skipped_at", "response_ms", "kind"),
)
GRADE_FIELDS = (
    *("judge", "entrant", "stage", "subject", "attempt", "dimension", "value", "graded_at", "run", "suite"),
    *("imported", "unconfirmed"),
)
_VOTE = {
    "seat": "seat_id",
    "prompt": "matchup__prompt_id",
    "category": "matchup__category",
    "left_model": "matchup__left_id",
    "right_model": "matchup__right_id",
    "left_attempt": "matchup__left_sample__attempt",
    "right_attempt": "matchup__right_sample__attempt",
    **{name: name for name in ("outcome", "voted_at", "response_ms")},
    "kind": "matchup__kind",
    "withdrawn_at": "withdrawn_at",
    "left_sample": "matchup__left_sample_id",
    "right_sample": "matchup__right_sample_id",
    "matchup": "matchup__code",
    **{name: name for name in ("unblind", "kept_out", "imported", "left_breaks", "right_breaks")},
}
_SKIP = {
    "judge": "seat__pseudonym",
    "username": "seat__judge__username",
    "prompt_text": "prompt__text",
    "left_model": "left__name",
    "right_model": "right__name",
    "left_attempt": "left_sample__attempt",
    "right_attempt": "right_sample__attempt",
    **{name: name for name in ("category", "opened_at", "skipped_at", "kind")},
}
_GRADE = {
    "seat": "seat_id",
    "judge": "seat__pseudonym",
    "username": "seat__judge__username",
    "entrant": "sample__entrant__name",
    "stage": "sample__prompt__category",
    "subject": "sample__prompt__subject",
    "key": "sample__prompt__key",
    "attempt": "sample__attempt",
    "dimension": "dimension",
    "value": "value",
    "sample": "sample__code",
    **{name: name for name in ("graded_at", "kept_out", "imported", "withdrawn_at")},
}


def _rows(facts: QuerySet[Any], paths: dict[str, str]) -> Rows:
    """Dictionaries with these keys, from these lookups."""
    for row in facts.values_list(*paths.values()).iterator(chunk_size=PORTION):
        yield dict(zip(paths, row, strict=True))


class _Marked:
    """Which of a run's judgements came from files, and which wait for their judge to confirm a new password."""

    def __init__(self, run: Run) -> None:
        self.outside = accountless(run)
        self.since = unconfirmed_since(run)

    def of(self, seat: int, imported: bool, moment: datetime) -> dict[str, bool]:
        since = self.since.get(seat)
        return {
            "imported": imported or seat in self.outside,
            "unconfirmed": since is not None and moment >= since,
        }


def vote_rows(run: Run, votes: QuerySet[Vote] | None = None, *, names: bool = False) -> Rows:
    """Every vote in order of time, withdrawn ones too; judges by pseudonym, or with `names` by account where they have one.

    `withdrawn` marks what no ranking counts: votes taken back, votes kept out because the judge could know the names or a
    curator picked the pair, votes on drawings that a curator excluded, and those of an open arena that was not merged. The few names that votes share are looked up here, not joined a million times.
    """
    known = run.seats.filter(is_unknown=False)
    seats = list(known.values_list("id", "pseudonym", "judge__username", "panel", "weight"))
    judges = {seat: (names and username) or pseudonym for seat, pseudonym, username, _, _ in seats}
    apart = {seat for seat, _, _, panel, weight in seats if panel == Seat.Panel.ARENA and weight == 0}
    entrants = dict(run.entrants.values_list("id", "name"))
    prompts = dict(run.prompts.values_list("id", "text"))
    excluded = set(run.samples.excluded().values_list("id", flat=True))
    marked = _Marked(run)
    if votes is None:
        votes = run.votes.order_by("voted_at", "id")
    for row in _rows(votes, _VOTE):
        shown = {row.pop("left_sample"), row.pop("right_sample")}
        seat = row.pop("seat")
        row |= marked.of(seat, row["imported"], row["voted_at"])
        yield {
            "run": run.code,
            "suite": run.suite,
            "judge": judges.get(seat),
            "prompt_text": prompts.get(row.pop("prompt")),
            **row,
            "category": row["category"] or None,
            "left_model": entrants[row["left_model"]],
            "right_model": entrants[row["right_model"]],
            "withdrawn": row["withdrawn_at"] is not None
            or row["kept_out"]
            or seat in apart
            or not shown.isdisjoint(excluded),
        }


def grade_rows(run: Run, grades: QuerySet[Grade] | None = None, *, names: bool = False) -> Rows:
    """Every grade in order of time; withdrawn ones too, so filter by `withdrawn_at` before adding them up."""
    if grades is None:
        grades = run.grades.order_by("graded_at", "id")
    marked = _Marked(run)
    for row in _rows(grades, _GRADE):
        username, key = row.pop("username"), row.pop("key")
        row |= marked.of(row.pop("seat"), row["imported"], row["graded_at"])
        yield {**row, "judge": (names and username) or row["judge"], "subject": row["subject"] or key}


def vote_records(run: Run, *, names: bool = False) -> Rows:
    """The votes of a run as votes.jsonl has them."""
    for row in vote_rows(run, names=names):
        row |= {"category": row["category"] or "", "voted_at": row["voted_at"].isoformat()}
        yield {name: row[name] for name in VOTE_FIELDS}


def _skips(run: Run) -> QuerySet[Matchup]:
    """Checks apart, which are no pairs of the schedule."""
    return run.matchups.filter(state=Matchup.State.SKIPPED, gold=None)


def skip_records(run: Run, *, names: bool = False) -> Rows:
    """The pairs that judges skipped and did not take up again, in order of time, with the fields of votes that they have."""
    skipped = _skips(run).order_by("skipped_at", "id")
    for row in _rows(skipped, _SKIP):
        seen, gone, username = row.pop("opened_at"), row["skipped_at"], row.pop("username")
        row |= {
            "run": run.code,
            "suite": run.suite,
            "judge": (names and username) or row["judge"],
            "skipped_at": gone.isoformat(),
            "response_ms": max(int((gone - seen).total_seconds() * 1000), 0) if seen else None,
        }
        yield {name: row[name] for name in SKIP_FIELDS}


def grade_records(run: Run, *, names: bool = False) -> Rows:
    """The standing grades of a run that count, as grades.jsonl has them."""
    for row in grade_rows(run, run.grades.rated().order_by("graded_at", "id"), names=names):
        row |= {"graded_at": row["graded_at"].isoformat(), "run": run.code, "suite": run.suite}
        yield {name: row[name] for name in GRADE_FIELDS}


def write_records(
    records: Iterable[dict[str, Any]],
    fields: Sequence[str],
    stream: TextIO,
    *,
    format: Literal["jsonl", "csv"],
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Write records and say how many; CSV cells that a spreadsheet would run as formulas are neutralised."""
    count = 0
    table = csv.writer(stream) if format == "csv" else None
    if table:
        table.writerow(fields)
    for record in records:
        count += 1
        progress(count)
        if table:
            table.writerow([_cell(value) for value in record.values()])
        else:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return count


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    return csv_cell(value) if isinstance(value, str) else value


def _writer(
    fields: Sequence[str], records: Callable[..., Rows], facts: Callable[[Run], QuerySet[Any]]
) -> Callable[..., int]:
    """What writes all of a kind that a run has, and says how many."""

    def write(
        run: Run,
        stream: TextIO,
        *,
        format: Literal["jsonl", "csv"] = "jsonl",
        names: bool = False,
        progress: Progress = unwatched,
    ) -> int:
        total = facts(run).count()
        rows = records(run, names=names)
        return write_records(rows, fields, stream, format=format, progress=lambda done: progress(done, total))

    return write


write_votes = _writer(VOTE_FIELDS, vote_records, lambda run: run.votes.all())
write_skips = _writer(SKIP_FIELDS, skip_records, _skips)
write_grades = _writer(GRADE_FIELDS, grade_records, lambda run: run.grades.rated())
WRITERS = {"votes": write_votes, "skips": write_skips, "grades": write_grades}
