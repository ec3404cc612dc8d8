"""A run's best drawing, as a protocol finds it for the home page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from generation.models import Run, Sample


@dataclass(frozen=True)
class Best:
    """A drawing and what says that it is good."""

    sample: Sample
    words: str


def find_sample(run: Run, **where: Any) -> Sample | None:
    """The first drawing of the run that may be shown and fits."""
    rows = run.samples.judgeable().filter(**where).select_related("prompt", "entrant", "run")
    return rows.defer("raw", "answer", "earlier_answers").first()
