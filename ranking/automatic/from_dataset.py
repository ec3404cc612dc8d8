"""The leaderboard of a published dataset that was scored automatically, without a database."""

from __future__ import annotations

from typing import Any

from generation.formats import get_format
from generation.suites.suite import Suite
from ranking.automatic.files import to_csv, to_markdown
from ranking.automatic.run import document_of, frame_of
from ranking.automatic.scores import score_samples
from ranking.dataset.boards import DatasetBoard, competing, counted_answers, measured
from ranking.dataset.reading import Dataset


def board_of(dataset: Dataset, suite: Suite) -> DatasetBoard:
    form, values = get_format(suite.format), measured(dataset)
    answers = counted_answers(dataset, competing(dataset))
    by_format = any(isinstance(each.get("score"), int | float) for each in values.values())
    if by_format:
        parts = {"score": 0.0, **{part.key: 0.0 for part in form.score_parts}}
        invalid = [row for row in answers if not row["valid"] and row["sample"] not in values]
        rows = [_row(row, values[row["sample"]]) for row in answers if row["sample"] in values]
        rows += [_row(row, parts) for row in invalid]
    else:
        rows = [_row(row, {"score": float(row["valid"])}) for row in answers]
    unmeasured = sum(row["valid"] and row["sample"] not in values for row in answers) if by_format else 0
    document = {
        "backend": dataset.run["measure_backend"],
        "by_format": by_format,
        "votes": len(rows),
        "unmeasured": unmeasured,
        "overall": [],
        "categories": {},
    }
    if not rows:
        return DatasetBoard(document, "", "")
    scores, names = score_samples(frame_of(rows), form=form), {"slug": suite.slug, "title": dataset.about["title"]}
    document |= document_of(scores) | {"people": None}
    return DatasetBoard(document, to_markdown(scores, **names), to_csv(scores, **names))


def _row(row: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """As `ranking.automatic.run` reads an answer from the database."""
    same = {
        "id": row["sample"],
        "code": row["sample"],
        "entrant__name": row["entrant"],
        "prompt__key": row["prompt_id"],
    }
    more = {"prompt__category": row["category"] or "", "attempt": row["attempt"], "reason": row["reason"] or ""}
    return {**same, **more, "measurements__values": values}
