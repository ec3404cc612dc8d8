"""`votes.jsonl` and `votes.csv`: one object or row for each vote, withdrawn ones included."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TextIO

from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import csv_cell
from generation.models import Run
from judging.models import Vote

FIELDS = (
    "run",
    "suite",
    "judge",
    "prompt_text",
    "category",
    "left_model",
    "right_model",
    "left_attempt",
    "right_attempt",
    "outcome",
    "voted_at",
    "response_ms",
    "kind",
    "withdrawn",
)
_COLUMNS = (
    "seat__pseudonym",
    "seat__judge__username",
    "seat__is_unknown",
    "matchup__prompt__text",
    "matchup__category",
    "matchup__left__name",
    "matchup__right__name",
    "matchup__left_sample__attempt",
    "matchup__right_sample__attempt",
    "outcome",
    "voted_at",
    "response_ms",
    "matchup__kind",
    "withdrawn_at",
    "matchup__left_sample__excluded_reason",
    "matchup__right_sample__excluded_reason",
)


def vote_records(run: Run, *, names: bool = False) -> Iterator[dict[str, Any]]:
    """The votes of a run in the order they were cast; judges by pseudonym unless `names`.

    `withdrawn` marks what no ranking counts: votes taken back, and votes on drawings that a curator excluded.
    """
    rows = Vote.objects.filter(run=run).order_by("voted_at", "id").values_list(*_COLUMNS)
    for row in rows.iterator(chunk_size=2000):
        pseudonym, username, unknown, text, category, *rest, voted_at, response_ms, kind, taken, left, right = row
        judge = None if unknown else (names and username) or pseudonym
        known = (run.code, run.suite, judge, text, category, *rest, voted_at.isoformat(), response_ms, kind)
        yield dict(zip(FIELDS, (*known, bool(taken or left or right)), strict=True))


def write_votes(
    run: Run,
    stream: TextIO,
    *,
    format: Literal["jsonl", "csv"] = "jsonl",
    names: bool = False,
    progress: Progress = unwatched,
) -> int:
    """Write every vote and say how many."""
    total = run.votes.count()
    records = vote_records(run, names=names)
    return write_records(records, FIELDS, stream, format=format, progress=lambda done: progress(done, total))


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
    sheet = csv.writer(stream) if format == "csv" else None
    if sheet:
        sheet.writerow(fields)
    for record in records:
        count += 1
        progress(count)
        if sheet:
            sheet.writerow([_cell(value) for value in record.values()])
        else:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return count


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return csv_cell(value) if isinstance(value, str) else value
