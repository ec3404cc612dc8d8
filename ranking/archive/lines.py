"""The rows of a run as lines of its archive, read in small portions, so that memory does not grow with votes."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import QuerySet

from generation.files.export_samples import sample_line
from generation.models import Entrant, LanguageModel, Measurement, Prompt, ProviderCall, Reading, Run, Sample

Rows = Iterator[dict[str, Any]]
PORTION = 2000


def rows_of(records: QuerySet[Any], **paths: str) -> Rows:
    """Dictionaries with these keys, from these lookups."""
    for row in records.values_list(*paths.values()).iterator(chunk_size=PORTION):
        yield dict(zip(paths, row, strict=True))


def same_names(*names: str) -> dict[str, str]:
    return {name: name for name in names}


def model_rows(run: Run, models: QuerySet[LanguageModel] | None = None) -> Rows:
    names = (
        "model_id",
        "label",
        "provider",
        "note",
        "extra_prompt",
        "parameters",
        "price_in_nano",
        "price_out_nano",
        "price_request_nano",
        "price_image_nano",
        "facts",
    )
    return rows_of(run.models.order_by("id") if models is None else models, **same_names(*names, "refused_reason"))


def prompt_rows(run: Run, prompts: QuerySet[Prompt] | None = None) -> Rows:
    same = same_names("code", "position", "text", "subject", "category", "facts")
    return rows_of(run.prompts.order_by("position") if prompts is None else prompts, prompt="key", **same)


def entrant_rows(run: Run, entrants: QuerySet[Entrant] | None = None) -> Rows:
    same = same_names("team", "turns", "source", "python", "baseline", "approved", "disqualified", "is_demo")
    entrants = run.entrants.order_by("id") if entrants is None else entrants
    return rows_of(entrants, entrant="name", **same_names("code", "label", "note"), model_id="model__model_id", **same)


def sample_rows(run: Run, samples: QuerySet[Sample] | None = None) -> Rows:
    """The lines of `database.jsonl` as `export samples` has them, and what an import needs besides."""
    if samples is None:
        samples = run.samples.filter(state=Sample.State.DRAWN).in_order()
    samples = samples.select_related("entrant", "model", "prompt")
    more = ("detail", "facts", "earlier_answers", "questions", "imported", "format_version", "held", "excluded_reason")
    for sample in samples.iterator(chunk_size=100):
        raw = bytes(sample.raw) if sample.raw is not None else None
        plain = raw is None or raw == sample.answer.encode()
        yield {
            **sample_line(run, sample),
            "sample": sample.code,
            "entrant": sample.entrant.name,
            "prompt": sample.prompt.key,
            **{name: getattr(sample, name) for name in more},
            "raw_base64": None if raw is None or plain else base64.b64encode(raw).decode(),
            "drawn_at": sample.drawn_at,
        }


def undrawn_rows(run: Run) -> Rows:
    undrawn = run.samples.exclude(state=Sample.State.DRAWN).order_by("id")
    names = {"entrant": "entrant__name", "model_id": "model__model_id", "prompt": "prompt__key"}
    same = same_names("state", "claims", "failure", "failure_detail", "excluded_reason", "reason")
    return rows_of(undrawn, sample="code", **names, attempt_number="attempt", **same)


def call_rows(run: Run) -> Rows:
    times = same_names("turn", "started_at", "ended_at", "outcome", "status", "error", "cost_nano", "prompt_tokens")
    tokens = same_names("completion_tokens", "reasoning_tokens", "cached_tokens")
    reply = same_names("own_key_nano", "latency_ms", "served_model", "served_by", "fingerprint")
    return rows_of(
        ProviderCall.objects.filter(run=run).order_by("id"), sample="sample__code", **times, **tokens, **reply
    )


def measure_rows(run: Run) -> Rows:
    measurements = Measurement.objects.filter(sample__run=run).order_by("id")
    return rows_of(
        measurements, sample="sample__code", **same_names("backend", "values", "format_version", "measured_at")
    )


def extraction_rows(run: Run) -> Rows:
    same = ("format_version", "verdict", "reason", "detail", "flags", "facts", "drawing", "replaced_at")
    return rows_of(Reading.objects.filter(sample__run=run).order_by("id"), sample="sample__code", **same_names(*same))


def judge_rows(run: Run) -> Rows:
    same = same_names("panel", "weight", "excluded_reason", "quota", "joined_at")
    return rows_of(run.seats.order_by("id"), judge="pseudonym", unknown="is_unknown", simulated="is_simulated", **same)


ROWS: dict[str, Callable[[Run], Rows]] = {
    "models.jsonl": model_rows,
    "prompts.jsonl": prompt_rows,
    "entrants.jsonl": entrant_rows,
    "database.jsonl": sample_rows,
    "undrawn.jsonl": undrawn_rows,
    "calls.jsonl": call_rows,
    "measures.jsonl": measure_rows,
    "extractions.jsonl": extraction_rows,
    "judges.jsonl": judge_rows,
}
