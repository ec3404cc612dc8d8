"""The rows of a run as lines of its archive, read in small portions, so that memory does not grow with votes."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import QuerySet

from generation.files.export_samples import sample_line
from generation.models import Measurement, ProviderCall, Reading, Run, Sample
from judging.files.exports import grade_rows, vote_rows
from judging.models import Matchup

Rows = Iterator[dict[str, Any]]
PORTION = 2000


def _rows(found: QuerySet[Any], **paths: str) -> Rows:
    """Dictionaries with these keys, from these lookups."""
    for row in found.values_list(*paths.values()).iterator(chunk_size=PORTION):
        yield dict(zip(paths, row, strict=True))


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


def model_rows(run: Run) -> Rows:
    names = ("model_id", "label", "provider", "note", "extra_prompt", "parameters", "price_in_nano", "price_out_nano")
    return _rows(run.models.order_by("id"), **_same(*names, "refused_reason"))


def prompt_rows(run: Run) -> Rows:
    same = _same("code", "position", "text", "subject", "category", "facts")
    return _rows(run.prompts.order_by("position"), prompt="key", **same)


def entrant_rows(run: Run) -> Rows:
    same = _same("team", "turns", "baseline", "approved", "disqualified", "is_demo")
    found = run.entrants.order_by("id")
    return _rows(found, entrant="name", **_same("code", "label", "note"), model_id="model__model_id", **same)


def sample_rows(run: Run, samples: QuerySet[Sample] | None = None) -> Rows:
    """The lines of `database.jsonl` as `export samples` has them, and what an import needs besides."""
    if samples is None:
        samples = run.samples.filter(state=Sample.State.DRAWN).in_order()
    samples = samples.select_related("entrant", "model", "prompt")
    more = ("detail", "facts", "earlier_answers", "imported", "format_version", "held", "excluded_reason")
    for sample in samples.iterator(chunk_size=100):
        raw = bytes(sample.raw) if sample.raw is not None else None
        plain = raw is None or raw == sample.answer.encode()
        yield {
            **sample_line(run, sample),
            "sample": sample.code,
            "entrant": sample.entrant.name,
            "prompt": sample.prompt.key,
            **{name: getattr(sample, name) for name in more},
            "raw_base64": None if plain else base64.b64encode(raw).decode(),
            "drawn_at": sample.drawn_at,
        }


def undrawn_rows(run: Run) -> Rows:
    found = run.samples.exclude(state=Sample.State.DRAWN).order_by("id")
    names = {"entrant": "entrant__name", "model_id": "model__model_id", "prompt": "prompt__key"}
    same = _same("state", "claims", "failure", "failure_detail", "excluded_reason", "reason")
    return _rows(found, sample="code", **names, attempt_number="attempt", **same)


def call_rows(run: Run) -> Rows:
    same = ("turn", "started_at", "ended_at", "outcome", "status", "error", "cost_nano", "prompt_tokens")
    same += ("completion_tokens", "latency_ms", "served_model", "served_by")
    return _rows(ProviderCall.objects.filter(run=run).order_by("id"), sample="sample__code", **_same(*same))


def measure_rows(run: Run) -> Rows:
    found = Measurement.objects.filter(sample__run=run).order_by("id")
    return _rows(found, sample="sample__code", **_same("backend", "values", "format_version", "measured_at"))


def extraction_rows(run: Run) -> Rows:
    same = ("format_version", "verdict", "reason", "detail", "flags", "facts", "drawing", "replaced_at")
    return _rows(Reading.objects.filter(sample__run=run).order_by("id"), sample="sample__code", **_same(*same))


def judge_rows(run: Run) -> Rows:
    same = _same("weight", "excluded_reason", "quota", "joined_at")
    return _rows(run.seats.order_by("id"), judge="pseudonym", unknown="is_unknown", simulated="is_simulated", **same)


def matchup_rows(run: Run) -> Rows:
    return _rows(
        Matchup.objects.filter(run=run).order_by("id"),
        matchup="code",
        judge="seat__pseudonym",
        **_same("order", "kind", "state"),
        prompt="prompt__key",
        category="category",
        left_entrant="left__name",
        right_entrant="right__name",
        left_sample="left_sample__code",
        right_sample="right_sample__code",
        key="key",
        repeat_of="repeat_of__code",
        **_same("created_at", "opened_at"),
    )


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
    "matchups.jsonl": matchup_rows,
    "votes.jsonl": vote_rows,
    "grades.jsonl": grade_rows,
}
