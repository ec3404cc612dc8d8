"""What a protocol finds in a run for the home page: its best drawing, and pairs to practise on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from generation.models import Run, Sample


@dataclass(frozen=True)
class Best:
    """A drawing and what says that it is good."""

    sample: Sample
    words: str


@dataclass(frozen=True)
class PracticePair:
    """Two drawings of one prompt, and how many judges chose `left`, `right`, `tie` or `fail`."""

    left: Sample
    right: Sample
    votes: Counter[str] = field(default_factory=Counter)
    simulated: bool = False


def find_sample(run: Run, **where: Any) -> Sample | None:
    """The first drawing of the run that may be shown and fits."""
    rows = run.samples.judgeable().filter(**where).select_related("prompt", "entrant", "run")
    return rows.defer("raw", "answer", "earlier_answers", "run__config").first()
