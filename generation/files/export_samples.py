"""The one writer of `database.jsonl`: a run's answers in the seed's fields, and a few of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Run, Sample


def sample_lines(run: Run) -> Iterator[str]:
    """A line for each stored answer, in the order of prompts, entrants, models and attempts."""
    drawn = run.samples.filter(state=Sample.State.DRAWN).select_related("entrant", "model", "prompt")
    for sample in drawn.in_order().defer("raw", "facts").iterator(chunk_size=200):
        yield json.dumps(sample_line(run, sample), ensure_ascii=False) + "\n"


def sample_line(run: Run, sample: Sample) -> dict[str, Any]:
    program = {"program": sample.entrant.name} if sample.entrant.is_program else {}
    return {
        "model_id": sample.model.model_id,
        "prompt_text": sample.prompt.text,
        "category": sample.prompt.category,
        "attempt_number": sample.attempt,
        "raw_output": sample.answer,
        "sanitized_output": sample.drawing,
        **program,
        "run": run.code,
        "suite": run.suite,
        "format": run.format,
        "demo": sample.entrant.is_demo,
        "label": sample.model.label,
        "note": sample.model.note,
        "imported": sample.imported,
        "valid": sample.verdict == Sample.Verdict.VALID,
        "invalid": sample.verdict != Sample.Verdict.VALID,
        "reason": sample.reason,
        "flags": sample.flags,
        "finish_reason": sample.finish_reason,
        "completion_tokens": sample.completion_tokens,
    }


def write_samples(run: Run, stream: TextIO, *, progress: Progress = unwatched) -> int:
    count, total = 0, run.samples.filter(state=Sample.State.DRAWN).count()
    for line in sample_lines(run):
        stream.write(line)
        count += 1
        progress(count, total)
    return count
