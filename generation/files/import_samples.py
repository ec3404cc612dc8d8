"""Drawings made outside come in: the seed's `database.jsonl`, a log of inspect_ai, or files named by model and subject.

All or nothing, unless the caller chooses to leave bad lines out; importing the same file again changes nothing.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.timezone import now

from benchsite.lib.file_errors import BadLine, BadLines
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import clean_text
from generation.files.drawing_files import read_folder, read_zip
from generation.files.inspect_logs import is_log, read_log
from generation.files.sample_lines import SampleLine, read_lines
from generation.models import Entrant, Event, LanguageModel, Prompt, Run, Sample
from generation.reading.answers import Read, read_answer
from generation.reading.measuring import measured_inline, save_measurements
from generation.runs.errors import keep_unfrozen, refuse_frozen, refuse_model_judge
from generation.runs.expansion import entrant_row
from generation.runs.loaded import LoadedRun, load_run
from generation.runs.staleness import mark_stale

PROVIDER = "import"
OUTSIDE = "drawn elsewhere and imported"
TRIES = 5  # of an import that meets another of the same samples
Key = tuple[int | None, str, int, int]


@dataclass(frozen=True)
class Imported:
    """What an import did: samples added, lines that were there already, lines left out, models that joined the run."""

    added: int
    same: int
    bad: list[BadLine]
    joined: list[str]


@dataclass(frozen=True)
class _Drawing:
    """One line with the rows it belongs to."""

    line: SampleLine
    prompt: Prompt
    program: Entrant | None

    @property
    def key(self) -> Key:
        program = self.program.pk if self.program else None
        return (program, self.line.model_id, self.prompt.pk, self.line.attempt)


def import_samples(
    stream: Iterable[bytes],
    *,
    run: Run,
    source: str = "file",
    by: Any = None,
    skip_bad: bool = False,
    progress: Progress = unwatched,
) -> Imported:
    """JSON Lines, one object per line: model_id, prompt_text, attempt_number, raw_output (category, program optional)."""
    lines, bad = read_lines(stream, source)
    return _import(lines, bad, run=run, source=source, by=by, skip_bad=skip_bad, progress=progress)


def import_folder(
    folder: Path, *, run: Run, by: Any = None, skip_bad: bool = False, progress: Progress = unwatched
) -> Imported:
    """Files below a folder that are named by model and subject."""
    lines, bad = read_folder(folder, run)
    return _import(lines, bad, run=run, source=folder.name, by=by, skip_bad=skip_bad, progress=progress)


def import_file(
    path: Path, *, run: Run, by: Any = None, skip_bad: bool = False, progress: Progress = unwatched
) -> Imported:
    """One file: JSON Lines, a log of inspect_ai, or a zip of what `import_folder` takes."""
    if is_log(path):
        lines, bad = read_log(path)
        return _import(lines, bad, run=run, source=path.name, by=by, skip_bad=skip_bad, progress=progress)
    if zipfile.is_zipfile(path) or path.suffix.lower() == ".zip":
        lines, bad = read_zip(path, run)
        return _import(lines, bad, run=run, source=path.name, by=by, skip_bad=skip_bad, progress=progress)
    with path.open("rb") as stream:
        return import_samples(stream, run=run, source=path.name, by=by, skip_bad=skip_bad, progress=progress)


class _Raced(Exception):
    """Somebody else stored an answer to a sample that this import found without one."""


def _import(lines: list[SampleLine], bad: list[BadLine], **options: Any) -> Imported:
    """What another import or a worker stores at the same moment is there already when this one looks again."""
    for _ in range(TRIES - 1):
        try:
            return _import_once(lines, bad, **options)
        except (IntegrityError, _Raced):
            continue
    return _import_once(lines, bad, **options)


def _import_once(
    lines: list[SampleLine], bad: list[BadLine], *, run: Run, source: str, by: Any, skip_bad: bool, progress: Progress
) -> Imported:
    refuse_frozen(run)
    refuse_model_judge(run)
    loaded = load_run(run.pk)
    placed, misplaced = _place(loaded, lines)
    stored, clashing = _split_stored(run, placed)
    bad = sorted([*bad, *misplaced, *clashing], key=lambda line: (line.file, line.line))
    if bad and not skip_bad:
        raise BadLines(bad)
    # Where a file says two things about one attempt, its first line counts. They are stored in one order, whatever the
    # file's: of two imports at once, neither waits for what the other will come to.
    unique = {drawing.key: drawing for drawing in reversed(placed) if drawing.key not in stored}
    unique = dict(sorted(unique.items(), key=lambda item: (item[0][0] or 0, *item[0][1:])))
    loaded = replace(loaded, more_names=tuple({drawing.line.model_id for drawing in placed}))
    read = {}
    for key, drawing in unique.items():
        read[key] = _read(loaded, drawing)
        progress(len(read), len(unique))
    known = set(run.models.values_list("model_id", flat=True))
    joined = sorted({drawing.line.model_id for drawing in unique.values()} - known)
    with transaction.atomic():
        _save(run, loaded, unique, read)
        keep_unfrozen(run)  # after the samples: workers lock the two in this order
        mark_stale(run.pk)
        facts = {"source": clean_text(source)[0], "added": len(unique), "bad": len(bad)}
        Event.objects.create(run=run, actor=by, verb=Event.Verb.IMPORT_SAMPLES, facts=facts)
    return Imported(len(unique), len(placed) - len(clashing) - len(unique), bad, joined)


def _place(loaded: LoadedRun, lines: list[SampleLine]) -> tuple[list[_Drawing], list[BadLine]]:
    """Each line with its prompt and program."""
    prompts: dict[str, list[Prompt]] = {}
    for prompt in loaded.prompts.values():
        prompts.setdefault(prompt.text, []).append(prompt)
    programs = {entrant.name: entrant for entrant in loaded.entrants.values() if entrant.is_program}
    placed, bad = [], []
    for line in lines:
        candidates = prompts.get(line.prompt_text, [])
        fitting = [prompt for prompt in candidates if line.category in (None, prompt.category)]
        if not candidates:
            bad.append(line.bad("prompt_text", "is not a prompt of this run"))
        elif not fitting:
            bad.append(line.bad("category", f"is not {candidates[0].category!r}, as in this run"))
        elif programs and line.program not in programs:
            bad.append(line.bad("program", "is not a program of this run"))
        elif programs and programs[line.program].runs_elsewhere and not programs[line.program].approved:
            bad.append(line.bad("program", "waits for a curator's approval"))
        else:
            placed.append(_Drawing(line, fitting[0], programs.get(line.program) if programs else None))
    return placed, bad


def _split_stored(run: Run, placed: list[_Drawing]) -> tuple[set[Key], list[BadLine]]:
    """What is stored already, and lines that say something else about it; a file may also contradict itself."""
    models = {drawing.line.model_id for drawing in placed}
    rows = Sample.objects.filter(run=run, model__model_id__in=models, state=Sample.State.DRAWN)
    fields = rows.values_list("entrant__model_id", "entrant_id", "model__model_id", "prompt_id", "attempt", "answer")
    answers: dict[Key, str] = {
        (None if of_model else entrant, model, prompt, attempt): answer
        for of_model, entrant, model, prompt, attempt, answer in fields
    }
    stored, bad = set(answers), []
    for drawing in placed:
        text = clean_text(drawing.line.text)[0]
        if answers.setdefault(drawing.key, text) != text:
            where = "that is stored for this attempt" if drawing.key in stored else "to it in an earlier line"
            bad.append(drawing.line.bad("raw_output", f"differs from the answer {where}"))
    return stored, bad


def _read(loaded: LoadedRun, drawing: _Drawing) -> Read:
    text, flags = clean_text(drawing.line.text)
    return read_answer(
        loaded,
        prompt_pk=drawing.prompt.pk,
        text=text,
        finish_reason=drawing.line.finish_reason,
        completion_tokens=drawing.line.completion_tokens,
        flags=flags,
        measure=measured_inline(loaded),
    )


def _save(run: Run, loaded: LoadedRun, drawings: dict[Key, _Drawing], read: dict[Key, Read]) -> None:
    """Fill samples that wait for an answer, and add those that nobody planned."""
    models = _models(run, loaded, [drawing.line for drawing in drawings.values()])
    entrants = {row.model_id: row for row in run.entrants.exclude(model=None)}
    places = ("entrant_id", "model_id", "prompt_id", "attempt", "pk")
    planned = {tuple(row[:4]): row[4] for row in run.samples.exclude(state=Sample.State.DRAWN).values_list(*places)}
    new, measured = {}, []
    for key, drawing in drawings.items():
        model = models[drawing.line.model_id]
        entrant = drawing.program or entrants[model.pk]
        fields = _fields(drawing, read[key])
        pk = planned.get((entrant.pk, model.pk, drawing.prompt.pk, drawing.line.attempt))
        if pk is None:
            place = {"entrant": entrant, "model": model, "prompt": drawing.prompt, "attempt": drawing.line.attempt}
            new[key] = Sample(run=run, **place, **fields)
        elif Sample.objects.filter(pk=pk, drawn_at=None).update(**fields) == 1:
            measured.append((pk, read[key].values))
        else:
            raise _Raced
    Sample.objects.bulk_create(new.values(), batch_size=500)
    save_measurements(loaded, [*measured, *((row.pk, read[key].values) for key, row in new.items())])


def _fields(drawing: _Drawing, read: Read) -> dict[str, Any]:
    return {
        **read.fields,
        "state": Sample.State.DRAWN,
        "token": None,
        "lease_until": None,
        "failure": "",
        "failure_detail": "",
        "drawn_at": now(),
        "imported": True,
        "raw": drawing.line.text.encode("utf-8", "surrogatepass"),
        "answer": clean_text(drawing.line.text)[0],
        "finish_reason": drawing.line.finish_reason,
        "completion_tokens": drawing.line.completion_tokens,
    }


def _models(run: Run, loaded: LoadedRun, lines: list[SampleLine]) -> dict[str, LanguageModel]:
    """The models by id; one that the run does not know yet joins it, as one that has no API: its note says so."""
    known = {row.model_id: row for row in run.models.all()}
    profile = {"name": PROVIDER, "base_url": ""}
    free = {"price_in_nano": 0, "price_out_nano": 0}
    for name in sorted({line.model_id for line in lines} - set(known)):
        own = [line for line in lines if line.model_id == name]
        label, note, made = (
            next((text for line in own if (text := getattr(line, field))), "") for field in ("label", "note", "made")
        )
        known[name] = LanguageModel.objects.create(
            run=run,
            model_id=name,
            label=label or name,
            note="; ".join(filter(None, [made or ("" if OUTSIDE in note else OUTSIDE), note])),
            provider=PROVIDER,
            profile=profile,
            **free,
        )
        if not any(entrant.is_program for entrant in loaded.entrants.values()):
            entrant_row(run, known[name]).save()
    return known
