"""Reading an answer: what was drawn, and whether it signs itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import transaction

from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import clean_text
from generation.formats.base import Answer, Extraction
from generation.models import ARCHIVE_DIFFERS, LEAK_MARKED, OFFENSIVE, Event, Reading, Run, Sample
from generation.reading.limited import READER, ReaderDied, Task, TooSlow
from generation.reading.measuring import answer_of, clean_json, measure_answer, measured_inline, save_measurements
from generation.runs.errors import refuse_frozen, refuse_model_judge
from generation.runs.loaded import LoadedRun, load_run
from generation.runs.staleness import mark_stale

log = structlog.get_logger(__name__)
READ_AT_ONCE = 200
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
KEPT_FLAGS = PROVIDER_FLAGS | CURATOR_FLAGS | {ARCHIVE_DIFFERS}


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
        return {name: value for name, value in vars(self).items() if name != "values"}


def read_answer(
    loaded: LoadedRun,
    *,
    prompt_pk: int,
    text: str,
    finish_reason: str = "",
    completion_tokens: int | None = None,
    flags: Iterable[str] = (),
    measure: bool = True,
) -> Read:
    """Never raises on a model's text: what a reader trips over is an invalid drawing with that reason."""
    answer = answer_of(
        loaded, prompt_pk=prompt_pk, text=text, finish_reason=finish_reason, completion_tokens=completion_tokens
    )
    extraction, names = _extract(loaded, answer, tuple(flags))
    signed = list(dict.fromkeys([*names, *extraction.facts.get("signed", ())]))
    all_flags = [*flags, *extraction.flags, *(["identity_leak"] if signed else [])]
    facts = {**extraction.facts, **({"signed": signed} if signed else {})}
    return Read(
        verdict=Sample.Verdict.VALID if extraction.valid else Sample.Verdict.INVALID,
        reason=extraction.reason[:60],
        detail=clean_text(extraction.detail)[0],
        flags=list(dict.fromkeys(all_flags)),
        facts=clean_json(facts),
        drawing=clean_text(extraction.drawing or "")[0],
        format_version=loaded.format.version,
        held=extraction.valid and bool(signed),
        values=measure_answer(loaded, answer, extraction) if measure else {},
    )


def _extract(loaded: LoadedRun, answer: Answer, flags: tuple[str, ...]) -> tuple[Extraction, list[str]]:
    """The extraction and the names of this run that sign it."""
    if "invalid_text" in flags:
        return Extraction(None, "invalid_text", "The answer has characters that no text can contain."), []
    try:
        extraction, names = READER.run("extract", Task(loaded.run.format, answer, loaded.names))
    except TooSlow:
        log.error("reader_too_slow", run=loaded.run.code, format=loaded.run.format)
        detail = f"Reading this answer took more than {READER.seconds:g} seconds of processor time."
        return Extraction(None, "too_slow", detail), []
    except (ReaderDied, RuntimeError) as error:  # one odd answer must not stop a crew
        log.error("reader_failed", run=loaded.run.code, format=loaded.run.format, error=str(error))
        return Extraction(None, "reader_failed", f"Our reader failed on this answer: {error}."), []
    return extraction, names


def reread_run(run: Run, *, by: Any = None, reason: str = "", progress: Progress = unwatched) -> int:
    """Read every stored answer again by today's rules; what changed is kept as a Reading. Says how many changed."""
    refuse_frozen(run)
    refuse_model_judge(run)
    loaded, changed = load_run(run.pk), 0
    drawn = Sample.objects.filter(run=run, state=Sample.State.DRAWN).order_by("pk")
    last = seen = 0
    total = drawn.count()
    while batch := list(drawn.filter(pk__gt=last)[:READ_AT_ONCE]):
        last, seen = batch[-1].pk, seen + len(batch)
        changed += _reread_batch(loaded, batch)
        progress(seen, total)
    mark_stale(run.pk)
    Event.objects.create(run=run, actor=by, verb=Event.Verb.REREAD_RUN, reason=reason, facts={"changed": changed})
    return changed


def _reread_batch(loaded: LoadedRun, samples: list[Sample]) -> int:
    """How many changed. Reading takes its time, so the rows are locked only to be written, and votes never wait.

    A curator's hold or flag comes before or after, and stays: where it came while we read, the answer is read again.
    """
    known = {sample.pk: (_kept_flags(sample), _read_again(loaded, sample)) for sample in samples}
    with transaction.atomic():
        rows = Sample.objects.filter(pk__in=known).defer("raw", "answer").select_for_update(no_key=True)
        reads = []
        for sample in rows:
            flags, read = known[sample.pk]
            reads.append((sample, read if flags == _kept_flags(sample) else _read_again(loaded, sample)))
        save_measurements(loaded, [(sample.pk, read.values) for sample, read in reads])
        return sum(_save_reading(sample, read) for sample, read in reads)


def _kept_flags(sample: Sample) -> list[str]:
    return [flag for flag in sample.flags if flag in KEPT_FLAGS]


def _read_again(loaded: LoadedRun, sample: Sample) -> Read:
    return read_answer(
        loaded,
        prompt_pk=sample.prompt_id,
        text=sample.answer,
        finish_reason=sample.finish_reason,
        completion_tokens=sample.completion_tokens,
        flags=_kept_flags(sample),
        measure=measured_inline(loaded),
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
