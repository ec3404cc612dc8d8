"""The leaderboard of a published dataset of grades, without a database."""

from __future__ import annotations

from typing import Any

import pandas as pd

from generation.suites.suite import Suite
from ranking.dataset.boards import DatasetBoard, competing, counted_answers
from ranking.dataset.reading import Dataset
from ranking.rubric.agreement import ITEM
from ranking.rubric.files import COLUMNS, board_csv, board_markdown
from ranking.rubric.run import document_of
from ranking.rubric.scores import score_rubric

UNNAMED = "unknown judges"


def board_of(dataset: Dataset, suite: Suite) -> DatasetBoard:
    rubric = suite.rubric
    assert rubric, "a run that was graded has a rubric"
    subjects = {prompt.key: prompt.subject or prompt.key for prompt in suite.prompts}
    board = score_rubric(_grades(dataset, subjects), rubric=rubric, expected=_expected(dataset, subjects))
    return DatasetBoard(document_of(board, rubric), board_markdown(board, rubric), board_csv(board, rubric))


def _grades(dataset: Dataset, subjects: dict[str, str]) -> pd.DataFrame:
    """Those that stand, in the order in which they were given."""
    stood = [
        row for _, _, row in dataset.rows("grades") if not row["withdrawn_at"] and not row["kept_out"] and row["weight"]
    ]
    stood.sort(key=lambda row: row["timestamp"])
    rows = [_grade(row, subjects) for row in stood]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"attempt": int, "value": float})


def _grade(row: dict[str, Any], subjects: dict[str, str]) -> tuple[Any, ...]:
    item = (row["entrant"], row["category"], subjects[row["prompt_id"]], row["attempt"])
    return (row["judge"] or UNNAMED, *item, row["dimension"], row["value"])


def _expected(dataset: Dataset, subjects: dict[str, str]) -> pd.DataFrame:
    """Every answer that counts, valid or not."""
    rows = [
        (row["entrant"], row["category"], subjects[row["prompt_id"]], row["attempt"], row["valid"])
        for row in counted_answers(dataset, competing(dataset))
        if not row["held"]
    ]
    return pd.DataFrame(rows, columns=[*ITEM, "valid"]).astype({"attempt": int, "valid": bool})
