"""What `analyse --samples database.jsonl` adds: how often each entrant drew anything valid, and in every font."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import FileError
from benchsite.lib.json_lines import json_chunks, text_file
from judging.files.vote_lines import name_fault
from ranking.statistics.samples import SampleRate, sample_rate


def read_samples(path: Path) -> dict[str, SampleRate]:
    """Rates by entrant (the program's name where one is given, else `model_id`)."""
    seen: dict[str, list[Any]] = {}
    try:
        with text_file(path) as file:
            for numbers, rows in json_chunks(file, str(path)):
                for line, row in zip(numbers, rows, strict=True):
                    entrant, valid, measures = _sample(row, line, path)
                    counts = seen.setdefault(entrant, [0, 0, []])
                    counts[0] += 1
                    counts[1] += valid
                    if valid and measures:
                        counts[2].append(measures)
    except OSError as error:
        raise FileError(str(path), 0, "", error.strerror or "cannot be read") from error
    return {name: sample_rate(samples=n, valid=v, measures=m) for name, (n, v, m) in sorted(seen.items())}


def _sample(row: Any, line: int, path: Path) -> tuple[str, bool, dict[str, Any]]:
    def refuse(field: str, message: str) -> FileError:
        return FileError(str(path), line, field, message)

    if isinstance(row, FileError):
        raise row
    if not isinstance(row, dict):
        raise refuse("", "is not a JSON object with a sample's fields")
    entrant = row.get("program") or row.get("model_id")
    if fault := name_fault(entrant):
        raise refuse("model_id", fault if entrant is not None else "is missing")
    valid = row.get("valid", not row.get("invalid", False) and row.get("sanitized_output") is not None)
    if not isinstance(valid, bool):
        raise refuse("valid", "must be true or false")
    measures = row.get("measures")
    return entrant, valid, measures if isinstance(measures, dict) else {}
