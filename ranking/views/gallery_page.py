"""The drawings of a run, laid out by prompt and entrant, each with what an automatic score says of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Max, Prefetch, QuerySet

from generation.formats.base import Explanation, Extraction
from generation.models import Entrant, Measurement, Prompt, Run, Sample
from judging.rules import rules_of

ROWS = 12  # prompts a page
OTHERS = 12  # drawings beside a drawing


def shown_samples(run: Run) -> QuerySet[Sample]:
    """Answers with their measurement by the run's backend; what a curator excluded is not shown."""
    mine = Measurement.objects.filter(backend=run.measure_backend)
    samples = run.samples.filter(state=Sample.State.DRAWN, excluded_reason="")
    return (
        samples.defer("raw", "answer", "earlier_answers", "questions", "run__config")
        .select_related("prompt", "entrant", "model", "run")
        .prefetch_related(Prefetch("measurements", queryset=mine, to_attr="measured"))
    )


def values_of(sample: Sample) -> dict[str, Any]:
    measured: list[Measurement] = getattr(sample, "measured", [])  # of `shown_samples`
    return measured[0].values if measured else {}


def describe(sample: Sample) -> dict[str, Any]:
    """A drawing and the few words under it."""
    form, values = sample.run.drawing_format, values_of(sample)
    return {"sample": sample, "words": form.describe(values), "more": form.describe_more(values)}


def choices(run: Run) -> dict[str, Any]:
    """What a visitor can choose among: attempts, models (where programs compete), categories."""
    attempts = run.samples.filter(state=Sample.State.DRAWN).aggregate(most=Max("attempt"))["most"] or 1
    models = list(run.models.all()) if run.has_programs else []
    rules = rules_of(run.code)
    present = sorted(set(run.prompts.order_by().values_list("category", flat=True).distinct()) - {""})
    return {
        "attempts": range(1, attempts + 1),
        "models": models,
        "categories": [(key, rules.label(key)) for key in present] if len(present) > 1 else [],
    }


def gallery_page(run: Run, *, attempt: int, model: str, category: str, page: str | None) -> dict[str, Any]:
    """One page: prompts down, entrants across, the drawing of one attempt (on one model) in each cell."""
    prompts = run.prompts.filter(category=category) if category else run.prompts.all()
    shown: Page[Prompt] = Paginator(prompts, ROWS).get_page(page)
    entrants = list(run.entrants.filter(disqualified="", approved=True))
    samples = shown_samples(run).filter(prompt__in=[prompt.pk for prompt in shown], attempt=attempt)
    if model:
        samples = samples.filter(model__model_id=model)
    cells, drawers = samples.select_related(None).filter(entrant__in=entrants), {one.pk: one for one in entrants}
    asked = {prompt.pk: prompt for prompt in shown}
    for sample in cells:  # all of a page share these; joined, each row would bring its own
        sample.run, sample.prompt, sample.entrant = run, asked[sample.prompt_id], drawers[sample.entrant_id]
    return {"page": shown, "entrants": entrants, "rows": lay_out(shown, entrants, cells)}


def lay_out(
    prompts: Iterable[Prompt], entrants: list[Entrant], samples: Iterable[Sample]
) -> list[tuple[Prompt, list[Any]]]:
    cells = {(sample.prompt_id, sample.entrant_id): describe(sample) for sample in samples}
    return [(prompt, [(entrant, cells.get((prompt.pk, entrant.pk))) for entrant in entrants]) for prompt in prompts]


def around(sample: Sample) -> dict[str, Any]:
    """The codes of the drawings before and after this one of the same prompt, and what others drew at that attempt."""
    shown = shown_samples(sample.run).filter(prompt=sample.prompt).order_by("entrant_id", "model_id", "attempt")
    codes = list(shown.values_list("code", flat=True))
    place = codes.index(sample.code)
    others = shown.filter(attempt=sample.attempt).exclude(entrant=sample.entrant)
    if sample.entrant.model_id is None:
        others = others.filter(model=sample.model)  # programs are compared on one model
    return {
        "previous": codes[place - 1] if place else None,
        "next": codes[place + 1] if place + 1 < len(codes) else None,
        "others": list(others.prefetch_related(None)[:OTHERS]),
    }


def explain(sample: Sample) -> Explanation | None:
    """Why this answer has the score it has, by its format."""
    extraction = Extraction(
        sample.drawing or None, sample.reason, sample.detail, flags=tuple(sample.flags), facts=sample.facts
    )
    form = sample.run.drawing_format
    return form.explain(values_of(sample), extraction=extraction, prompt_facts=sample.prompt.facts)


def program_levels(run: Run, entrant: Entrant, *, model: str) -> list[tuple[Prompt, list[dict[str, Any]]]]:
    """A program's levels on one model, letter by letter, trial by trial."""
    samples = shown_samples(run).filter(entrant=entrant, model__model_id=model).order_by("prompt__position", "attempt")
    by_prompt: dict[Prompt, list[dict[str, Any]]] = {}
    for sample in samples:
        by_prompt.setdefault(sample.prompt, []).append(describe(sample))
    return list(by_prompt.items())
