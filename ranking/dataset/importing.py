"""Verb: a published dataset becomes a run of this site, with the same leaderboard, by the way that archives come in.

Its tables are read as the lines of an archive, so that every check of archives holds here too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import BadLine
from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Run
from ranking.archive.fields import RUN, Field
from ranking.archive.importing import import_archive
from ranking.archive.members import lines_of
from ranking.dataset.columns import Table
from ranking.dataset.reading import Dataset, open_dataset
from ranking.dataset.tables import EVERY_RUN, UNENDED, protocol_modules

Rows = Iterator[tuple[str, int, dict[str, Any]]]
PUBLISHED = "as published"  # why a judge does not count fully: a dataset does not say


def import_dataset(
    path: Path, *, reason: str, copy: bool = False, by: Any = None, progress: Progress = unwatched
) -> Run:
    """A new run with the dataset's leaderboard, whole or not at all; private, drawn and judged to its end."""
    with open_dataset(path) as dataset:
        archive = DatasetAsArchive(dataset, path, run_of(dataset), dataset.about["suite"])
        return import_archive(archive, reason=reason, copy=copy, by=by, progress=progress)


@dataclass(frozen=True)
class DatasetAsArchive:
    """A dataset as an archive's reader shows one."""

    dataset: Dataset
    path: Path
    run: dict[str, Any]
    suite: dict[str, Any]

    @property
    def manifest(self) -> dict[str, Any]:
        counts = self.dataset.about["tables"]
        members = {name: {"lines": sum(splits.values())} for name, splits in counts.items()}
        return {"made_at": self.dataset.about.get("published_on"), "members": members}

    def rows(self, member: str) -> Iterator[tuple[int, dict[str, Any]]]:
        readers = dict(READERS)
        for module in protocol_modules(self.run["protocols"]):
            readers |= module.READERS
        if member not in readers:
            return
        fields = lines_of(list(self.run["protocols"])).get(member, {})
        for name, number, row in readers[member](self):
            for field, kind in fields.items():
                _check(field, kind, row, name, number)
            yield number, row

    @cached_property
    def nobody(self) -> str | None:
        """The judge who stands for votes that name nobody."""
        return next((row["judge"] for _, _, row in self.table("judges") if row["unknown"]), None)

    def table(self, name: str) -> Rows:
        table = next(each for each in _tables(self.run["protocols"]) if each.name == name)
        for file, number, row in self.dataset.rows(name):
            for column in table.columns:
                if column.name not in row:
                    raise BadLine(file, number, column.name, "is missing")
                if column.type == "json" and row[column.name] is not None:
                    row[column.name] = _parsed(row[column.name], file, number, column.name)
            yield file, number, row


def _tables(protocols: list[str]) -> list[Table]:
    return [*EVERY_RUN, *(table for module in protocol_modules(protocols) for table in module.TABLES)]


def _parsed(text: Any, file: str, number: int, column: str) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        raise BadLine(file, number, column, "is not JSON") from None


def _check(field: str, kind: Field, row: dict[str, Any], name: str, number: int) -> None:
    if field not in row:
        if not kind.may_be_absent:
            raise BadLine(name, number, field, "is missing")
    elif fault := kind.fault(row[field]):
        raise BadLine(name, number, field, fault)


def run_of(dataset: Dataset) -> dict[str, Any]:
    """The run's document, closed and drawn."""
    given = dataset.run
    run = {**given, "drawing_state": "cancelled", "judging_state": "closed", "budget_nano": None}
    run["finished_at"] = given.get("created_at")
    for field, kind in RUN.items():
        _check(field, kind, run, "dataset.json", 0)
    return run


def _same(table: str) -> Callable[[DatasetAsArchive], Rows]:
    return lambda archive: archive.table(table)


def _prompts(archive: DatasetAsArchive) -> Rows:
    for file, number, row in archive.table("prompts"):
        yield file, number, {**row, "text": row["prompt"], "prompt": row["prompt_id"]}


def _drawn(archive: DatasetAsArchive) -> Rows:
    for file, number, row in archive.table("samples"):
        if row["state"] != "drawn":
            continue
        names = {"prompt_text": row["prompt"], "prompt": row["prompt_id"], "attempt_number": row["attempt"]}
        answer = {"raw_output": row["answer"] or "", "sanitized_output": row["drawing"] or ""}
        about = {"run": archive.run["code"], "suite": archive.run["suite"], "raw_base64": row["answer_base64"]}
        yield file, number, {**row, **names, **answer, **about}


def _undrawn(archive: DatasetAsArchive) -> Rows:
    for file, number, row in archive.table("samples"):
        if row["state"] == "drawn":
            continue
        state = "pending" if row["state"] == UNENDED else row["state"]
        names = {"prompt": row["prompt_id"], "attempt_number": row["attempt"], "state": state}
        filled = {name: row[name] or "" for name in ("failure", "excluded_reason", "reason")}
        yield file, number, {**row, **names, **filled, "claims": 0, "failure_detail": ""}


def _calls(archive: DatasetAsArchive) -> Rows:
    """What all requests for an answer cost and took, as one."""
    for file, number, row in archive.table("samples"):
        if row["cost_nano"] is None and row["latency_ms"] is None and row["prompt_tokens"] is None:
            continue
        moment = row["drawn_at"] or archive.run["created_at"]
        call = {"turn": 0, "started_at": moment, "ended_at": moment, "outcome": "answered", "status": None, "error": ""}
        numbers = {name: row[name] for name in ("cost_nano", "prompt_tokens", "completion_tokens", "latency_ms")}
        yield file, number, {"sample": row["sample"], **call, **numbers, "served_model": "", "served_by": ""}


def _judges(archive: DatasetAsArchive) -> Rows:
    for file, number, row in archive.table("judges"):
        whole = row["weight"] == 1
        joined = {"quota": None, "joined_at": archive.run["created_at"], "excluded_reason": "" if whole else PUBLISHED}
        yield file, number, {**row, **joined}


READERS: dict[str, Callable[[DatasetAsArchive], Rows]] = {
    "models.jsonl": _same("models"),
    "prompts.jsonl": _prompts,
    "entrants.jsonl": _same("entrants"),
    "database.jsonl": _drawn,
    "undrawn.jsonl": _undrawn,
    "calls.jsonl": _calls,
    "measures.jsonl": _same("measures"),
    "judges.jsonl": _judges,
}
