"""Drawings that pages choose from a run: its best one, pairs to practise on, and those of two entrants side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from generation.models import Entrant, Run, Sample

PAIRS_SHOWN = 8


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


def drawings_of_both(run: Run, one: Entrant, other: Entrant) -> list[dict[str, Any]]:
    """The first drawing of each on the first prompts that both have one for; two programs by the same model."""
    samples = run.samples.judgeable().filter(entrant__in=[one, other]).select_related("prompt", "run", "entrant")
    by_prompt: dict[tuple[int, int], dict[int, Sample]] = {}
    for sample in samples.order_by("prompt__position", "model_id", "attempt").defer("raw", "answer", "run__config"):
        model = sample.model_id if sample.entrant.model_id is None else 0
        by_prompt.setdefault((sample.prompt_id, model), {}).setdefault(sample.entrant_id, sample)
    both: dict[int, dict[int, Sample]] = {}
    for (prompt, _), drawings in by_prompt.items():
        if len(drawings) == 2:
            both.setdefault(prompt, drawings)
    shown = list(both.values())[:PAIRS_SHOWN]
    return [{"prompt": s[one.pk].prompt, "one": s[one.pk], "other": s[other.pk]} for s in shown]
