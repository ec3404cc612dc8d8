"""What `analyse --samples database.jsonl` adds: how often each entrant drew anything valid, and in every font."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranking.intervals import wilson
from ranking.vote_files import VoteFileError, json_chunks, name_fault


@dataclass(frozen=True)
class SampleRate:
    """One entrant's samples: valid ones with Wilson's interval, and the mean visual robustness of the valid ones."""

    samples: int
    valid: int
    valid_rate: float | None
    low: float | None
    high: float | None
    robustness: float | None


def sample_rate(*, samples: int, valid: int, robustness: list[float]) -> SampleRate:
    low, high = wilson(valid, samples)
    mean = sum(robustness) / len(robustness) if robustness else None
    return SampleRate(samples, valid, valid / samples if samples else None, low, high, mean)


def read_samples(path: Path) -> dict[str, SampleRate]:
    """Rates by entrant (the program's name where one is given, else `model_id`)."""
    seen: dict[str, list[Any]] = {}
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            for numbers, rows in json_chunks(file, path):
                for line, row in zip(numbers, rows, strict=True):
                    entrant, valid, robustness = _sample(row, line, path)
                    counts = seen.setdefault(entrant, [0, 0, []])
                    counts[0] += 1
                    counts[1] += valid
                    if valid and robustness is not None:
                        counts[2].append(robustness)
    except OSError as error:
        raise VoteFileError(file=str(path), line=0, field="", message=error.strerror or "cannot be read") from error
    return {name: sample_rate(samples=n, valid=v, robustness=r) for name, (n, v, r) in sorted(seen.items())}


def _sample(row: Any, line: int, path: Path) -> tuple[str, bool, float | None]:
    def refuse(field: str, message: str) -> VoteFileError:
        return VoteFileError(file=str(path), line=line, field=field, message=message)

    if isinstance(row, VoteFileError):
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
    robustness = measures.get("robustness") if isinstance(measures, dict) else None
    is_share = type(robustness) in (int, float) and 0 <= robustness <= 1
    return entrant, valid, float(robustness) if is_share else None
