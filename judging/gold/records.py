"""What judges answered to checks, for the run's authors: a row for each answer, and a codebook that says what each column is."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import IO, Any

from benchsite.lib.text import csv_cell
from generation.models import Run
from judging.gold.verdicts import verdict_of
from judging.models import Seat

COLUMNS = {
    "run": "the run's code",
    "judge": "the pseudonym in votes.jsonl and on leaderboards",
    "check": "the check's code; the same for every judge who met it",
    "made": "damaged: the site damaged the worse drawing; chosen: a curator chose both",
    "prompt_text": "what both drawings answer",
    "better": "the code of the better drawing",
    "worse": "the code of the worse drawing, or of the one that the damaged copy was made of",
    "choice": "better, worse, tie (both good) or fail (both bad): by drawing, whatever the sides",
    "verdict": "passed, failed or unclear (both bad: the better one may be bad too)",
    "answered_at": "when, UTC",
    "response_ms": "milliseconds that the pair was looked at",
    "withdrawn": "whether the judge took the answer back",
}


def gold_records(run: Run) -> Iterator[dict[str, Any]]:
    """Every answer to a check in order of time; withdrawn ones too."""
    rows = run.gold_answers.select_related("seat", "gold__better", "gold__worse", "gold__prompt").order_by("id")
    heavy = ("raw", "answer", "earlier_answers", "facts", "drawing")
    deferred = [f"gold__{side}__{name}" for side in ("better", "worse") for name in heavy]
    for row in rows.defer("seat__plan", *deferred).iterator(chunk_size=500):
        gold = row.gold
        yield {
            "run": run.code,
            "judge": row.seat.pseudonym,
            "check": gold.code,
            "made": "damaged" if gold.damaged else "chosen",
            "prompt_text": gold.prompt.text,
            "better": gold.better.code,
            "worse": gold.worse.code,
            "choice": row.choice,
            "verdict": verdict_of(row.choice),
            "answered_at": row.answered_at.isoformat(),
            "response_ms": row.response_ms,
            "withdrawn": row.withdrawn_at is not None,
        }


def write_gold(run: Run, out: IO[str], *, as_csv: bool) -> None:
    table = csv.writer(out) if as_csv else None
    if table:
        table.writerow(COLUMNS)
    for record in gold_records(run):
        if table:
            table.writerow([csv_cell(value) if isinstance(value, str) else value for value in record.values()])
        else:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")


def write_codebook(out: IO[str]) -> None:
    table = csv.writer(out)
    table.writerow(("column", "meaning"))
    table.writerows(COLUMNS.items())


def check_records(seat: Seat) -> list[dict[str, Any]]:
    """A participant's own answers to checks, among what is stored about them."""
    rows = seat.gold_answers.select_related("gold__prompt", "matchup").order_by("id")
    return [
        {
            "prompt": row.gold.prompt.text,
            "choice": row.outcome,
            "at": row.answered_at.isoformat(),
            "milliseconds": row.response_ms,
            "taken_back": row.withdrawn_at is not None,
            "attention_check": verdict_of(row.choice),
        }
        for row in rows
    ]
