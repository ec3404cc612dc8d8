"""The leaderboard of a published competition of programs, without a database."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from generation.models import Entrant
from generation.suites.suite import Suite
from ranking.competition.files import competition_csv, competition_markdown
from ranking.competition.run import compete, document_of, trial_frame
from ranking.dataset.boards import DatasetBoard, competing, counted_answers, measured
from ranking.dataset.reading import Dataset


def board_of(dataset: Dataset, suite: Suite) -> DatasetBoard:
    entrants = [_entrant(row) for _, _, row in dataset.rows("entrants")]
    prompts = [row for _, _, row in dataset.rows("prompts")]
    targets = {row["prompt_id"]: _target(row) for row in prompts}
    values, answers = measured(dataset), counted_answers(dataset, competing(dataset))
    trials = trial_frame([_trial(row, values[row["sample"]]) for row in answers if row["sample"] in values], targets)
    count = suite.generation.attempts_per_prompt
    document: dict[str, Any] = {
        "backend": dataset.run["measure_backend"],
        "trials": count,
        "votes": len(trials),
        "unmeasured": sum(row["sample"] not in values for row in answers),
        "waiting": [entrant.name for entrant in entrants if not entrant.approved and not entrant.disqualified],
        "overall": [],
        "categories": {},
    }
    if trials.empty:
        return DatasetBoard(document, "", "")
    lost: Counter[tuple[str, str, str]] = Counter()
    for _, _, row in dataset.rows("samples"):
        if row["state"] != "drawn" and not row["excluded_reason"]:
            lost[row["entrant"], row["model_id"], targets[row["prompt_id"]]] += 1
    scored = compete(trials, entrants, targets=list(targets.values()), count=count, lost=dict(lost))
    document |= document_of(scored, trials) | {"people": None}
    return DatasetBoard(document, competition_markdown(scored), competition_csv(scored))


def _entrant(row: dict[str, Any]) -> Entrant:
    """In no database: only what scoring reads of one."""
    words = {"turns": json.loads(row["turns"] or "[]"), "source": row["source"] or "", "python": row["python"] or ""}
    states = {"baseline": row["baseline"], "approved": row["approved"], "disqualified": row["disqualified"] or ""}
    return Entrant(name=row["entrant"], **words, **states)


def _target(row: dict[str, Any]) -> str:
    return str(json.loads(row["facts"] or "{}").get("target") or row["subject"] or row["prompt_id"])


def _trial(row: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """As `ranking.competition.run` reads an answer from the database."""
    names = {"entrant__name": row["entrant"], "model__model_id": row["model_id"], "prompt__key": row["prompt_id"]}
    return {**names, "attempt": row["attempt"], "measurements__values": values, "id": row["sample"]}
