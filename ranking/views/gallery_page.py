"""The drawings of a run, laid out by prompt and entrant, each with what an automatic score says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Max, Prefetch, QuerySet

from generation.models import Entrant, Measurement, Prompt, Run, Sample
from ranking.automatic.losses import parts_of

ROWS = 12  # prompts a page


def shown_samples(run: Run) -> QuerySet[Sample]:
    """Answers with their measurement by the run's backend; what a curator excluded is not shown."""
    mine = Measurement.objects.filter(backend=run.measure_backend)
    samples = run.samples.filter(state=Sample.State.DRAWN, excluded_reason="")
    return (
        samples.defer("raw", "answer", "earlier_answers")
        .select_related("prompt", "entrant", "model", "run")
        .prefetch_related(Prefetch("measurements", queryset=mine, to_attr="measured"))
    )


def values_of(sample: Sample) -> dict[str, Any]:
    return sample.measured[0].values if sample.measured else {}


def describe(sample: Sample) -> dict[str, Any]:
    """A drawing and the few words under it."""
    values = values_of(sample)
    words = ""
    if "stability" in values and sample.drawing:
        words = f"stable {values['stability']:.2f}, looks {values['similarity']:.2f} like it"
    elif isinstance(values.get("score"), int | float):
        words = f"score {values['score']:.2f}"
    return {"sample": sample, "words": words, "top": top_letters(values)}


def top_letters(values: Mapping[str, Any]) -> list[tuple[str, float]]:
    return [(letter, chance) for letter, chance in values.get("top3", [])]


def choices(run: Run) -> dict[str, Any]:
    """What a visitor can choose among: attempts, models (where programs compete), categories."""
    attempts = run.samples.filter(state=Sample.State.DRAWN).aggregate(most=Max("attempt"))["most"] or 1
    models = list(run.models.all()) if run.config.get("programs") else []
    known = {row["key"]: row["label"] for row in run.config.get("categories", [])}
    present = sorted(set(run.prompts.order_by().values_list("category", flat=True).distinct()) - {""})
    return {
        "attempts": range(1, attempts + 1),
        "models": models,
        "categories": [(key, known.get(key, key)) for key in present] if len(present) > 1 else [],
    }


def gallery_page(run: Run, *, attempt: int, model: str, category: str, page: str | None) -> dict[str, Any]:
    """One page: prompts down, entrants across, the drawing of one attempt (on one model) in each cell."""
    prompts = run.prompts.filter(category=category) if category else run.prompts.all()
    shown: Page[Prompt] = Paginator(prompts, ROWS).get_page(page)
    entrants = list(run.entrants.filter(disqualified="", approved=True))
    samples = shown_samples(run).filter(prompt__in=[prompt.pk for prompt in shown], attempt=attempt)
    if model:
        samples = samples.filter(model__model_id=model)
    return {"page": shown, "entrants": entrants, "rows": lay_out(shown, entrants, samples)}


def lay_out(
    prompts: Iterable[Prompt], entrants: list[Entrant], samples: Iterable[Sample]
) -> list[tuple[Prompt, list[Any]]]:
    cells = {(sample.prompt_id, sample.entrant_id): describe(sample) for sample in samples}
    return [(prompt, [(entrant, cells.get((prompt.pk, entrant.pk))) for entrant in entrants]) for prompt in prompts]


def explain(sample: Sample) -> dict[str, Any]:
    """Why this answer has the score it has, by its format."""
    values = values_of(sample)
    if sample.run.format == "pixel_art" and "score" in values:
        parts = parts_of(values, facts=sample.facts, reason=sample.reason, detail=sample.detail)
        return {"score": values["score"], "parts": parts, "stage": values.get("stage", "")}
    if sample.run.format == "science_birds" and "stability" in values:
        return {"level": values, "top": top_letters(values), "trial": values["stability"] * values["similarity"]}
    return {}


def program_levels(run: Run, entrant: Entrant, *, model: str) -> list[tuple[Prompt, list[dict[str, Any]]]]:
    """A program's levels on one model, letter by letter, trial by trial."""
    samples = shown_samples(run).filter(entrant=entrant, model__model_id=model).order_by("prompt__position", "attempt")
    found: dict[Prompt, list[dict[str, Any]]] = {}
    for sample in samples:
        found.setdefault(sample.prompt, []).append(describe(sample))
    return list(found.items())
