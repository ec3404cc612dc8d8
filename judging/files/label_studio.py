"""Votes as Label Studio exports them: tasks with annotations, or JSON-MIN and CSV, in which an annotation is a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import FileError
from benchsite.lib.json_lines import JsonError, read_json

CHOICE = "selected"  # the key by which the choice of a Pairwise tag is told, whatever a project calls the tag
RESULT = "annotations.result"  # in a row made of an annotation; no text of its task, which a model may have written, is asked


def annotated_rows(task: dict[str, Any], path: Path, number: int) -> Iterator[dict[str, Any] | FileError]:
    """One row an annotation, as JSON-MIN has it; cancelled ones are none."""
    data = task.get("data")
    for annotation in task["annotations"] if isinstance(task["annotations"], list) else ():
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            continue
        results = [part for part in annotation.get("result") or () if isinstance(part, dict)]
        chosen = [part.get("value") for part in results if part.get("type") == "pairwise"]
        if not isinstance(data, dict) or (results and not chosen):
            yield FileError(
                str(path), number, "result", "has no pairwise choice; export a project with the Pairwise tag"
            )
            continue
        who = annotation.get("completed_by")
        yield {
            **data,
            RESULT: chosen,
            "annotator": str(who.get("id") if isinstance(who, dict) else who) if who is not None else None,
            "annotation_id": annotation.get("id"),
            "created_at": annotation.get("created_at"),
            "lead_time": annotation.get("lead_time"),
        }


def chosen_side(row: Mapping[str, Any]) -> Any:
    """Left, right, none, or nothing where nobody chose; in a flat export one column alone may look like a choice."""
    cells = [row[RESULT]] if RESULT in row else row.values()
    choices = [choice for cell in cells if isinstance(choice := _choice(cell), str)]
    return choices[0] if len(choices) == 1 else choices or None


def _choice(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith("[{") and CHOICE in cell:
        try:
            cell = read_json(cell)
        except JsonError:
            return None
    first = cell[0] if isinstance(cell, list) and cell else None
    return first.get(CHOICE) if isinstance(first, dict) else None


def milliseconds(seconds: Any) -> Any:
    """Of a lead time; what is no number stays as it is."""
    try:
        return round(float(seconds) * 1000) if seconds not in (None, "") else None
    except (TypeError, ValueError, OverflowError):
        return seconds
