"""What a published dataset's own leaderboard is made of, where no database is: its answers, entrants and measurements."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from generation.protocols import module_in, protocols_of
from generation.suites.suite import Suite
from ranking.dataset.reading import Dataset
from ranking.people import in_order_of_judges
from ranking.statistics.rounding import rounded

Row = dict[str, Any]


@dataclass(frozen=True)
class DatasetBoard:
    """A leaderboard in the three forms in which `analyse` writes one."""

    document: Row
    markdown: str
    csv: str

    def written(self, form: str) -> str:
        if form == "md":
            return self.markdown
        if form == "csv":
            return self.csv
        document = in_order_of_judges(rounded(self.document))
        return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def dataset_board(dataset: Dataset) -> DatasetBoard | None:
    """By the first of the run's protocols that reads one: `board_of(dataset, suite)` in `from_dataset` of its ranking room."""
    suite = Suite.from_dict(dataset.about["suite"])
    for entry in protocols_of(suite).values():
        if module := module_in(entry.ranking_room, "from_dataset"):
            return module.board_of(dataset, suite)
    return None


def competing(dataset: Dataset) -> dict[str, Row]:
    """Entrants by name, of those that are approved and not disqualified."""
    rows = (row for _, _, row in dataset.rows("entrants"))
    return {row["entrant"]: row for row in rows if row["approved"] and not row["disqualified"]}


def counted_answers(dataset: Dataset, entrants: dict[str, Row]) -> list[Row]:
    """Answers that were stored, that no curator excluded, and whose entrant competes."""
    rows = (row for _, _, row in dataset.rows("samples"))
    return [
        row for row in rows if row["state"] == "drawn" and not row["excluded_reason"] and row["entrant"] in entrants
    ]


def measured(dataset: Dataset) -> dict[str, Row]:
    """What the run's own backend says of each sample."""
    backend = dataset.run["measure_backend"]
    rows = (row for _, _, row in dataset.rows("measures"))
    return {row["sample"]: json.loads(row["values"]) for row in rows if row["backend"] == backend}
