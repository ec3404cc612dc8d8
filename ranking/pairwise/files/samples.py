"""What `analyse --samples database.jsonl` adds: how often each entrant drew anything valid, and in every font."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generation.files.sample_lines import SampleRow, read_file
from judging.files.vote_lines import name_fault
from ranking.statistics.samples import SampleRate, sample_rate


@dataclass
class _Counts:
    samples: int = 0
    valid: int = 0
    measures: list[dict[str, Any]] = field(default_factory=list)


def read_samples(path: Path) -> dict[str, SampleRate]:
    """Rates by entrant (the program's name where one is given, else `model_id`)."""
    seen: dict[str, _Counts] = {}
    for row in read_file(path):
        counts = seen.setdefault(_entrant(row), _Counts())
        counts.samples += 1
        if _is_valid(row):
            counts.valid += 1
            measures = row.fields.get("measures")
            if measures and isinstance(measures, dict):
                counts.measures.append(measures)
    return {
        name: sample_rate(samples=counts.samples, valid=counts.valid, measures=counts.measures)
        for name, counts in sorted(seen.items())
    }


def _entrant(row: SampleRow) -> str:
    entrant = row.fields.get("program") or row.text("model_id")
    if fault := name_fault(entrant):
        raise row.bad("program" if row.fields.get("program") else "model_id", fault)
    return entrant


def _is_valid(row: SampleRow) -> bool:
    drawn = not row.fields.get("invalid", False) and row.fields.get("sanitized_output") is not None
    valid = row.fields.get("valid", drawn)
    if not isinstance(valid, bool):
        raise row.bad("valid", "must be true or false")
    return valid
