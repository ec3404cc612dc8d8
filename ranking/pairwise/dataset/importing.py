"""Votes of a published dataset, as an archive's matchups and votes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchsite.lib.file_errors import BadLine
from ranking.pairwise.dataset.votes import WINNERS

Rows = Iterator[tuple[str, int, dict[str, Any]]]
OUTCOMES = {winner: outcome for outcome, winner in WINNERS.items()}


def matchup_lines(archive: Any) -> Rows:
    """One a pair: of a vote that was taken back and cast again there are two votes and one pair."""
    standing = {row["id"] for _, _, row in archive.table("votes") if row["withdrawn_at"] is None}
    seen = set()
    for file, number, row in archive.table("votes"):
        if row["id"] in seen:
            continue
        seen.add(row["id"])
        yield (
            file,
            number,
            {
                "matchup": row["id"],
                "judge": row["judge"] or archive.nobody,
                "order": row["judge_order"],
                "kind": row["kind"],
                "state": "voted" if row["id"] in standing else "void",
                "prompt": row["prompt_id"],
                "category": row["category"] or "",
                "left_entrant": row["model_a"],
                "right_entrant": row["model_b"],
                "left_sample": row["sample_a"],
                "right_sample": row["sample_b"],
                "key": "",
                "repeat_of": None,
                "created_at": row["timestamp"],
                "opened_at": None,
            },
        )


def vote_lines(archive: Any) -> Rows:
    for file, number, row in archive.table("votes"):
        if row["winner"] not in OUTCOMES:
            raise BadLine(
                file, number, "winner", f"must be one of {', '.join(OUTCOMES)}, not {str(row['winner'])[:40]!r}"
            )
        same = {
            name: row[name]
            for name in ("category", "response_ms", "kind", "withdrawn_at", "unblind", "kept_out", "imported")
        }
        yield (
            file,
            number,
            {
                **same,
                "run": archive.run["code"],
                "suite": archive.run["suite"],
                "judge": row["judge"],
                "prompt_text": row["prompt"],
                "left_model": row["model_a"],
                "right_model": row["model_b"],
                "left_attempt": row["attempt_a"],
                "right_attempt": row["attempt_b"],
                "outcome": OUTCOMES[row["winner"]],
                "voted_at": row["timestamp"],
                "withdrawn": row["withdrawn_at"] is not None,
                "matchup": row["id"],
                "left_breaks": row["breaks_a"],
                "right_breaks": row["breaks_b"],
            },
        )
