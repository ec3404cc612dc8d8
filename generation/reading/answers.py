"""Reading an answer: what was drawn, whether it signs itself, and what an automatic score says about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import structlog
from django.db import transaction

from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import clean_text
from generation.drawing.questions import Sheet, load_sheet
from generation.formats.base import Answer, BackendMissing, Extraction
from generation.formats.identity import find_signature
from generation.models import LEAK_MARKED, OFFENSIVE, Event, Measurement, Reading, Run, Sample
from generation.runs.lifecycle import refuse_frozen
from generation.runs.staleness import mark_scores

log = structlog.get_logger(__name__)
BATCH = 200
READ_FIELDS = ("verdict", "reason", "detail", "flags", "facts", "drawing", "format_version")
# What the provider's reply said about the answer, not what a reader found in it.
PROVIDER_FLAGS = frozenset(
    {
        "content_parts",
        "cost_unknown",
        "invalid_text",
        "invalid_utf8",
        "nul_replaced",
        "refusal",
        "served_by_other_model",
        "surrogate_replaced",
        "truncated",
    }
)
CURATOR_FLAGS = frozenset({LEAK_MARKED, OFFENSIVE})


@dataclass(frozen=True)
class Read:
    """The fields of a sample that follow from its answer, and its measurement ({} where there is none)."""

    verdict: str
    reason: str
    detail: str
    flags: list[str]
    facts: dict[str, Any]
    drawing: str
    format_version: int
    held: bool
    values: dict[str, Any]

    @property
    def fields(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "values"}


def read_answer(
    sheet: Sheet,
    *,
    prompt_pk: int,
    text: str,
    finish_reason: str = "",
    completion_tokens: int | None = None,
    flags: Iterable[str] = (),
    measure: bool = True,
) -> Read:
    """Never raises on a model's text: what a reader trips over is an invalid drawing with that reason."""
    answer = Answer(
        text=text,
        finish_reason=finish_reason,
        completion_tokens=completion_tokens,
        max_tokens=sheet.suite.generation.max_tokens,
        prompt_facts=sheet.prompts[prompt_pk].facts,
        options=sheet.suite.format_options,
    )
    extraction = _extract(sheet, answer, tuple(flags))
    signed = find_signature(extraction.drawing, sheet.names) if extraction.drawing is not None else []
    found = [*flags, *extraction.flags, *(["identity_leak"] if signed else [])]
    facts = {**extraction.facts, **({"signed": signed} if signed else {})}
    return Read(
        verdict=Sample.Verdict.VALID if extraction.valid else Sample.Verdict.INVALID,
        reason=extraction.reason[:60],
        detail=clean_text(extraction.detail)[0],
        flags=list(dict.fromkeys(found)),
        facts=clean_json(facts),
        drawing=clean_text(extraction.drawing or "")[0],
        format_version=sheet.format.version,
        held=bool(signed),
        values=_measure(sheet, answer, extraction) if measure else {},
    )


def _extract(sheet: Sheet, answer: Answer, flags: tuple[str, ...]) -> Extraction:
    if "invalid_text" in flags:
        return Extraction(None, "invalid_text", "The answer holds characters that no text can hold.")
    try:
        return sheet.format.extract(answer)
    except Exception as error:  # one odd answer must not stop a crew
        log.exception("reader_failed", run=sheet.run.code, format=sheet.run.format)
        return Extraction(None, "reader_failed", f"Our reader tripped over this answer: {type(error).__name__}.")


def _measure(sheet: Sheet, answer: Answer, extraction: Extraction, backend: str = "") -> dict[str, Any]:
    backend = backend or sheet.run.measure_backend
    try:
        if extraction.drawing is None:
            return clean_json(sheet.format.measure_invalid(answer, extraction, backend=backend))
        return clean_json(sheet.format.measure(extraction.drawing, answer, backend=backend))
    except BackendMissing:
        raise  # no answer's fault: every other one would fail alike
    except Exception:
        log.exception("measure_failed", run=sheet.run.code, format=sheet.run.format, backend=backend)
        return {}


def clean_json(value: Any) -> Any:
    """The value with every string fit for both databases."""
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, dict):
        return {clean_text(str(key))[0]: clean_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return value


def measured_inline(sheet: Sheet) -> bool:
    """Only a format's default backend is quick enough to run while drawing; others wait for the measure queue."""
    return sheet.run.measure_backend == sheet.format.measure_backends[0]


def save_measurements(sheet: Sheet, rows: Iterable[tuple[int, dict[str, Any]]], *, backend: str = "") -> None:
    """Measurements by sample; measuring again replaces what the same backend said before."""
    Measurement.objects.bulk_create(
        [
            Measurement(
                sample_id=sample_id,
                backend=backend or sheet.run.measure_backend,
                values=values,
                format_version=sheet.format.version,
            )
            for sample_id, values in rows
            if values
        ],
        update_conflicts=True,
        unique_fields=["sample", "backend"],
        update_fields=["values", "format_version", "measured_at"],
    )


def reread_run(run: Run, *, by: Any = None, reason: str = "", progress: Progress = unwatched) -> int:
    """Read every stored answer again by today's rules; what changed is kept as a Reading. Says how many changed."""
    refuse_frozen(run)
    sheet, changed = load_sheet(run.pk), 0
    drawn = Sample.objects.filter(run=run, state=Sample.State.DRAWN).order_by("pk")
    last = seen = 0
    total = drawn.count()
    while batch := list(drawn.filter(pk__gt=last)[:BATCH]):
        last, seen = batch[-1].pk, seen + len(batch)
        changed += _reread_batch(sheet, batch)
        progress(seen, total)
    mark_scores(run.pk)
    Event.objects.create(run=run, actor=by, verb="reread_run", reason=reason, facts={"changed": changed})
    return changed


def _reread_batch(sheet: Sheet, samples: list[Sample]) -> int:
    """How many changed. Reading takes its time, so the rows are locked only to be written, and votes never wait.

    A curator's hold or flag comes before or after, and stays: where it came while we read, the answer is read again.
    """
    known = {sample.pk: (_kept_flags(sample), _read_again(sheet, sample)) for sample in samples}
    with transaction.atomic():
        rows = Sample.objects.filter(pk__in=known).defer("raw", "answer").select_for_update(no_key=True)
        reads = []
        for sample in rows:
            flags, read = known[sample.pk]
            reads.append((sample, read if flags == _kept_flags(sample) else _read_again(sheet, sample)))
        save_measurements(sheet, [(sample.pk, read.values) for sample, read in reads])
        return sum(_save_reading(sample, read) for sample, read in reads)


def _kept_flags(sample: Sample) -> list[str]:
    return [flag for flag in sample.flags if flag in PROVIDER_FLAGS | CURATOR_FLAGS]


def _read_again(sheet: Sheet, sample: Sample) -> Read:
    return read_answer(
        sheet,
        prompt_pk=sample.prompt_id,
        text=sample.answer,
        finish_reason=sample.finish_reason,
        completion_tokens=sample.completion_tokens,
        flags=_kept_flags(sample),
        measure=measured_inline(sheet),
    )


def _save_reading(sample: Sample, read: Read) -> bool:
    old = {name: getattr(sample, name) for name in READ_FIELDS}
    new = {name: getattr(read, name) for name in READ_FIELDS}
    if old == new:
        return False
    Reading.objects.create(sample=sample, **old)
    # A curator who released a signed drawing, or held one by hand, is not overruled: only a new signature is held again.
    held = sample.held or (read.held and "identity_leak" not in sample.flags)
    signed = read.held or LEAK_MARKED in sample.flags
    Sample.objects.filter(pk=sample.pk).update(**new, held=held and signed)
    return True


def measure_run(run: Run, *, backend: str = "", everything: bool = False, progress: Progress = unwatched) -> int:
    """Measure what has no measurement by this backend yet (or everything); says how many were measured.

    `progress` hears after each batch how many were looked at, and of how many.
    """
    refuse_frozen(run)
    sheet, done, last = load_sheet(run.pk), 0, 0
    backend = backend or run.measure_backend
    drawn = Sample.objects.filter(run=run, state=Sample.State.DRAWN).order_by("pk")
    if not everything:
        drawn = drawn.exclude(pk__in=Measurement.objects.filter(sample__run=run, backend=backend).values("sample"))
    seen, total = 0, drawn.count()
    while batch := list(drawn.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        rows = [(sample.pk, _measure_again(sheet, sample, backend)) for sample in batch]
        save_measurements(sheet, rows, backend=backend)
        done += sum(bool(values) for _, values in rows)
        seen += len(batch)
        progress(seen, total)
    if done:
        mark_scores(run.pk)
    return done


def _measure_again(sheet: Sheet, sample: Sample, backend: str) -> dict[str, Any]:
    answer = Answer(
        text=sample.answer,
        finish_reason=sample.finish_reason,
        completion_tokens=sample.completion_tokens,
        max_tokens=sheet.suite.generation.max_tokens,
        prompt_facts=sheet.prompts[sample.prompt_id].facts,
        options=sheet.suite.format_options,
    )
    drawing = sample.drawing if sample.verdict == Sample.Verdict.VALID else None
    return _measure(sheet, answer, Extraction(drawing, sample.reason, facts=sample.facts), backend)
