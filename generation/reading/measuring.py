"""Verbs about measurements: measure answers, store what was measured, and enqueue what still waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import structlog
from django.db.models import F

from benchsite.lib.database.updates import insert_rows
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import clean_text
from generation.formats import get_format
from generation.formats.base import Answer, BackendMissing, Extraction
from generation.models import Event, Measurement, Run, Sample
from generation.queue import enqueue_if_idle
from generation.reading.limited import READER, Task, measure
from generation.runs.errors import refuse_frozen
from generation.runs.loaded import LoadedRun, load_run
from generation.runs.staleness import automatic_runs, mark_stale

log = structlog.get_logger(__name__)
MEASURED_AT_ONCE = 200


def unmeasured(run: Run) -> int:
    """Answers that the run's backend has not measured yet."""
    return run.samples.filter(state=Sample.State.DRAWN).unmeasured(run.measure_backend).count()


def enqueue_measuring() -> int:
    """Has workers measure what a slower backend has not seen yet; returns for how many runs."""
    waiting = [
        run
        for run in automatic_runs()
        if run.measure_backend != get_format(run.format).measure_backends[0] and unmeasured(run)
    ]
    for run in waiting:
        enqueue_if_idle("measure", "generation.jobs.measure", run.pk, run.measure_backend)
    return len(waiting)


def measure_by(run: Run, backend: str) -> int:
    """What a worker does; a backend that is not installed is noted on the run once, in words."""
    try:
        return measure_run(run, backend=backend)
    except BackendMissing as missing:
        log.error("backend_missing", run=run.code, backend=backend, detail=str(missing))
        last = (
            run.events.filter(verb__in=[Event.Verb.MEASURE_FAILED, Event.Verb.USE_BACKEND])
            .order_by(F("at").desc(), "-pk")
            .first()
        )
        if last is None or last.verb != Event.Verb.MEASURE_FAILED:
            Event.objects.create(run=run, verb=Event.Verb.MEASURE_FAILED, subject=backend, reason=str(missing))
        return 0


def measure_run(run: Run, *, backend: str = "", everything: bool = False, progress: Progress = unwatched) -> int:
    """Measures what has no measurement by this backend yet (or everything); returns how many were measured.

    `progress` is told after each batch how many were looked at, and of how many.
    """
    refuse_frozen(run)
    loaded, done, last = load_run(run.pk), 0, 0
    backend = backend or run.measure_backend
    drawn = Sample.objects.filter(run=run, state=Sample.State.DRAWN).order_by("pk")
    if not everything:
        drawn = drawn.exclude(pk__in=Measurement.objects.filter(sample__run=run, backend=backend).values("sample"))
    seen, total = 0, drawn.count()
    while batch := list(drawn.filter(pk__gt=last)[:MEASURED_AT_ONCE]):
        last = batch[-1].pk
        rows = [(sample.pk, _measure_sample(loaded, sample, backend)) for sample in batch]
        save_measurements(loaded, rows, backend=backend)
        done += sum(bool(values) for _, values in rows)
        seen += len(batch)
        progress(seen, total)
    if done:
        mark_stale(run.pk)
    return done


def _measure_sample(loaded: LoadedRun, sample: Sample, backend: str) -> dict[str, Any]:
    answer = answer_of(
        loaded,
        prompt_pk=sample.prompt_id,
        text=sample.answer,
        finish_reason=sample.finish_reason,
        completion_tokens=sample.completion_tokens,
    )
    drawing = sample.drawing if sample.verdict == Sample.Verdict.VALID else None
    return measure_answer(loaded, answer, Extraction(drawing, sample.reason, facts=sample.facts), backend=backend)


def answer_of(
    loaded: LoadedRun, *, prompt_pk: int, text: str, finish_reason: str, completion_tokens: int | None
) -> Answer:
    return Answer(
        text=text,
        finish_reason=finish_reason,
        completion_tokens=completion_tokens,
        max_tokens=loaded.suite.generation.max_tokens,
        prompt_facts=loaded.prompts[prompt_pk].facts,
        options=loaded.suite.format_options,
    )


def measure_answer(loaded: LoadedRun, answer: Answer, extraction: Extraction, *, backend: str = "") -> dict[str, Any]:
    """What the format measures; {} where it fails."""
    backend = backend or loaded.run.measure_backend
    try:
        return clean_json(_measure(loaded, answer, extraction, backend))
    except BackendMissing:
        raise  # no answer's fault: every other one would fail alike
    except Exception:
        log.exception("measure_failed", run=loaded.run.code, format=loaded.run.format, backend=backend)
        return {}


def _measure(loaded: LoadedRun, answer: Answer, extraction: Extraction, backend: str) -> dict[str, Any]:
    """A format's default backend has the limit of a reader; others load models first, and have a queue of their own."""
    task = Task(loaded.run.format, answer, backend=backend, extraction=extraction)
    if backend == loaded.format.measure_backends[0]:
        return dict(READER.run("measure", task))
    return measure(task)


def clean_json(value: Any) -> Any:
    """The value with every string fit for both databases."""
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, dict):
        return {clean_text(str(key))[0]: clean_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return value


def measured_inline(loaded: LoadedRun) -> bool:
    """Only a format's default backend is quick enough to run while drawing; others wait for the measure queue."""
    return loaded.run.measure_backend == loaded.format.measure_backends[0]


def save_measurements(loaded: LoadedRun, rows: Iterable[tuple[int, dict[str, Any]]], *, backend: str = "") -> None:
    """Measurements by sample; measuring again replaces what the same backend said before."""
    measured = {"backend": backend or loaded.run.measure_backend, "format_version": loaded.format.version}
    lines = [{"sample_id": sample_id, "values": values, **measured} for sample_id, values in rows if values]
    insert_rows(Measurement, lines, once=("sample_id", "backend"))
