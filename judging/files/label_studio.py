"""Votes as Label Studio exports them: tasks, whose annotations are choices between two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import FileError


def annotated_rows(task: dict[str, Any], path: Path, number: int) -> Iterator[dict[str, Any] | FileError]:
    """One row an annotation of Label Studio; cancelled ones are none."""
    data = task.get("data")
    for annotation in task["annotations"] if isinstance(task["annotations"], list) else ():
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            continue
        results = annotation.get("result")
        chosen = [part for part in results or () if isinstance(part, dict) and part.get("type") == "pairwise"]
        if not isinstance(data, dict) or not chosen:
            yield FileError(
                str(path), number, "result", "has no pairwise choice; export a project with the Pairwise tag"
            )
            continue
        who, seconds = annotation.get("completed_by"), annotation.get("lead_time")
        yield {
            **data,
            "winner": {"left": "model_a", "right": "model_b"}.get(selected := _selected(chosen[0]), selected),
            "judge": str(who.get("id") if isinstance(who, dict) else who) if who is not None else None,
            "timestamp": annotation.get("created_at"),
            "response_ms": round(seconds * 1000) if isinstance(seconds, int | float) else None,
        }


def _selected(result: dict[str, Any]) -> Any:
    value = result.get("value")
    return value.get("selected") if isinstance(value, dict) else None
