"""Votes written as the exporter writes them, for tests that start from a file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ranking.statistics.votes import KINDS, OUTCOMES, Votes

FIELDS = [
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
]


def vote_rows(votes: Votes) -> list[dict[str, Any]]:
    return [
        {
            "run": "r1",
            "suite": "ascii",
            "judge": votes.judges[votes.judge[i]],
            "prompt_text": votes.prompts[votes.prompt[i]],
            "category": votes.categories[votes.category[i]],
            "left_model": votes.entrants[votes.left[i]],
            "right_model": votes.entrants[votes.right[i]],
            "left_attempt": int(votes.left_attempt[i]),
            "right_attempt": int(votes.right_attempt[i]),
            "outcome": OUTCOMES[votes.outcome[i]],
            "voted_at": datetime.fromtimestamp(votes.time[i], UTC).isoformat(),
            "response_ms": int(votes.response_ms[i]),
            "kind": KINDS[votes.kind[i]],
            "withdrawn": False,
        }
        for i in range(len(votes))
    ]


def write_lines(path: Path, rows: list[Any]) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path
