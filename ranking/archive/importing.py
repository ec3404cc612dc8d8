"""An archive becomes a run of this site: in one transaction, whole or not at all. It never draws and nobody judges it further."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.utils.timezone import now

from benchsite.lib.file_errors import BadLine
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import clean_text
from generation.formats import format_names
from generation.models import (
    ARCHIVE_DIFFERS,
    UNFINISHED,
    Entrant,
    Event,
    LanguageModel,
    Measurement,
    Prompt,
    ProviderCall,
    Reading,
    Run,
    Sample,
    Team,
    default_team,
)
from generation.protocols import PROTOCOLS
from generation.reading.answers import CURATOR_FLAGS, PROVIDER_FLAGS, Read, read_answer
from generation.reading.measuring import measured_inline, save_measurements
from generation.reading.recounting import recount_run
from generation.runs.expansion import store_pictures
from generation.runs.loaded import LoadedRun, load_run
from generation.suites.model_facts import fault_of
from generation.suites.suite import Suite, without_pictures
from judging.models import Seat
from judging.provenance import import_reason
from ranking.archive.members import members_of
from ranking.archive.reading import Opened, open_archive
from ranking.archive.storing import ImportState, Where, fitting, made, store, time_of
from ranking.models import Counting

PROVIDER = "import"


def import_run(path: Path, *, reason: str, copy: bool = False, by: Any = None, progress: Progress = unwatched) -> Run:
    """A new run with the archive's leaderboard; with `copy` also where this site has that run already."""
    return import_archive(open_archive(path), reason=reason, copy=copy, by=by, progress=progress)


def import_archive(
    archive: Opened, *, reason: str, copy: bool = False, by: Any = None, progress: Progress = unwatched
) -> Run:
    """The same of an archive that is open, or of what shows itself as one."""
    reason = import_reason(reason)
    taken = Run.objects.filter(code=archive.run["code"]).exists()
    if taken and not copy:
        raise BadLine(
            archive.path.name,
            0,
            "",
            f"is run {archive.run['code']}, which is here already; a second one can come in as a copy (--copy, or “As a copy” on the page)",
        )
    total = sum(
        member["lines"] for member in archive.manifest["members"].values() if isinstance(member.get("lines"), int)
    )
    with transaction.atomic():
        run = _make_run(archive, keep_code=not taken, team=default_team(by))
        state = ImportState(archive, run, taken, progress, total)
        for load in (*LOADERS, *(member.load for member in members_of(run.protocols))):
            load(state)
        recounted = recount_run(run, by=by, reason="Archive of an earlier release.").changed
        facts = {
            "run": archive.run["code"],
            "made_at": archive.manifest.get("made_at"),
            "file": clean_text(archive.path.name)[0],
            "reread": True,
            "differ": state.differ,
            "recounted": recounted,
        }
        Event.objects.create(run=run, actor=by, verb=Event.Verb.IMPORT_RUN, reason=reason, facts=facts)
    return run


def _make_run(archive: Opened, *, keep_code: bool, team: Team | None) -> Run:
    about = archive.run
    try:
        Suite.from_dict(archive.suite)
    except Exception as error:  # a suite of another shape fails in as many ways as it has fields
        raise BadLine("suite.json", 0, "", f"is not a suite ({type(error).__name__}: {error})") from error
    if about["format"] not in format_names():
        raise BadLine("run.json", 0, "format", f"{about['format']!r} is not a format of this site")
    if not about["protocols"] or not set(map(str, about["protocols"])) <= set(PROTOCOLS):
        raise BadLine("run.json", 0, "protocols", "names a protocol that this site does not know")
    same = ("suite", "title", "label", "format", "protocols", "digest", "is_demo", "measure_backend", "spent_nano")
    values = {name: about[name] for name in same} | ({"code": about["code"]} if keep_code else {})
    run = Run(
        **fitting(Run, values, "run.json", 0),
        config=without_pictures(archive.suite),
        has_programs=bool(archive.suite.get("programs")),
        drawing_state=Run.Drawing.CANCELLED,
        was_adaptive=about.get(
            "adaptive_pairs", False
        ),  # its pairs are balanced here: its standings are in the archive
        judging_state=Run.Judging.NOT_OPEN if about["judging_state"] == "not_open" else Run.Judging.CLOSED,
        budget_nano=about["budget_nano"],
        created_at=time_of(about["created_at"]),
        finished_at=time_of(about["finished_at"]) or now(),
        scores_changed_at=now(),
        team=team,
    )
    store([(0, run)], "run.json")
    counting = Counting(run=run, **fitting(Counting, {"ties": about["ties"], "fails": about["fails"]}, "run.json", 0))
    counting.save()
    return run


def _load_models(state: ImportState) -> None:
    """Without addresses or keys: whoever made the archive must not choose where this site sends its key."""

    def make(row: dict[str, Any], where: Where) -> LanguageModel:
        if fault := fault_of(row.get("facts", {})):
            raise where.error("facts", fault)
        profile = {"name": row["provider"], "base_url": "", "kind": PROVIDER}
        return LanguageModel(run=state.run, profile=profile, **where.fitting(LanguageModel, row))

    state.models = {row.model_id: row.pk for row in made(state, "models.jsonl", make)}


def _load_prompts(state: ImportState) -> None:
    def make(row: dict[str, Any], where: Where) -> Prompt:
        values = {**row, "key": row["prompt"], "code": state.code(row["code"])}
        return Prompt(run=state.run, **where.fitting(Prompt, values))

    state.prompts = {row.key: row.pk for row in made(state, "prompts.jsonl", make)}
    suite = Suite.from_dict(state.archive.suite)
    store_pictures(state.run, {entry.key: entry.image for entry in suite.prompts if entry.image})


def _load_entrants(state: ImportState) -> None:
    def make(row: dict[str, Any], where: Where) -> Entrant:
        model = where.known_or_null(state.models, "model_id")
        values = {**row, "name": row["entrant"], "code": state.code(row["code"])}
        values.pop("model_id")
        return Entrant(run=state.run, model_id=model, **where.fitting(Entrant, values))

    state.entrants = {row.name: row.pk for row in made(state, "entrants.jsonl", make)}


def _place(state: ImportState, row: dict[str, Any], where: Where) -> dict[str, Any]:
    return {
        "run": state.run,
        "entrant_id": where.known(state.entrants, "entrant"),
        "model_id": where.known(state.models, "model_id"),
        "prompt_id": where.known(state.prompts, "prompt"),
        "attempt": row["attempt_number"],
        "code": state.code(row["sample"]),
    }


def _read_row(loaded: LoadedRun, row: dict[str, Any], sample: Sample) -> Read:
    """The drawing is what our own reader makes of the answer, never what the archive says it is.

    Where the two differ, the sample is flagged and the archive's word is kept as an earlier reading.
    """
    kept = PROVIDER_FLAGS | CURATOR_FLAGS
    read = read_answer(
        loaded,
        prompt_pk=sample.prompt_id,
        text=sample.answer,
        finish_reason=sample.finish_reason,
        completion_tokens=sample.completion_tokens,
        flags=[flag for flag in row["flags"] if isinstance(flag, str) and flag in kept],
        measure=measured_inline(loaded),
    )
    if (row["valid"], row["sanitized_output"]) == (read.verdict == Sample.Verdict.VALID, read.drawing):
        return read
    return replace(read, flags=list(dict.fromkeys([*read.flags, ARCHIVE_DIFFERS])))


def _archived_reading(row: dict[str, Any], sample: Sample, where: Where) -> Reading:
    reading = {name: row[name] for name in ("reason", "detail", "flags", "facts", "format_version")}
    verdict = Sample.Verdict.VALID if row["valid"] else Sample.Verdict.INVALID
    values = {**reading, "verdict": verdict, "drawing": row["sanitized_output"]}
    return Reading(sample=sample, **where.fitting(Reading, values))


def _load_samples(state: ImportState) -> None:
    loaded = load_run(state.run.pk)
    read_now: dict[str, Read] = {}  # by the sample's code, of one portion
    archived: list[tuple[int, Reading]] = []

    def make(row: dict[str, Any], where: Where) -> Sample:
        same = ("finish_reason", "completion_tokens", "earlier_answers", "questions", "imported", "excluded_reason")
        try:
            raw = base64.b64decode(row["raw_base64"] or "", validate=True)
        except (binascii.Error, ValueError):
            raise where.error("raw_base64", "is not base64") from None
        sample = Sample(
            **_place(state, row, where),
            state=Sample.State.DRAWN,
            answer=row["raw_output"],
            raw=raw or row["raw_output"].encode(),
            drawn_at=time_of(row["drawn_at"]),
            **where.fitting(Sample, {name: row[name] for name in same if name in row}),
        )
        read = read_now[sample.code] = _read_row(loaded, row, sample)
        # What signs itself is held here too, even if a curator of the other site released it: this site's decide anew.
        for name, value in {**read.fields, "held": read.held or row["held"]}.items():
            setattr(sample, name, value)
        if ARCHIVE_DIFFERS in sample.flags:
            archived.append((where.line, _archived_reading(row, sample, where)))
        return sample

    def make_undrawn(row: dict[str, Any], where: Where) -> Sample:
        names = ("claims", "failure", "failure_detail", "excluded_reason", "reason")
        same = {name: row[name] for name in names if name in row}
        if row["state"] in ("pending", "asking"):  # it counts for nothing there, so it must not count as missing here
            same["reason"] = UNFINISHED
        end = Sample.State.FAILED if row["state"] == "failed" else Sample.State.CANCELLED
        return Sample(**_place(state, row, where), state=end, **where.fitting(Sample, same))

    for sample in made(state, "database.jsonl", make):
        values = read_now.pop(sample.code).values
        if measured_inline(loaded):
            state.measured[sample.pk] = values
        store(archived, "database.jsonl")
        state.differ += len(archived)
        archived.clear()
    for _ in made(state, "undrawn.jsonl", make_undrawn):
        pass


def _load_of_samples(state: ImportState) -> None:
    """Calls, measures and old extractions: what refers to a sample and to nothing else."""

    def call(row: dict[str, Any], where: Where) -> ProviderCall:
        ended = time_of(row["ended_at"]) or now()
        open_call = row["outcome"] == ProviderCall.Outcome.OPEN
        values = {**row, "outcome": ProviderCall.Outcome.UNKNOWN if open_call else row["outcome"]}
        values |= {"started_at": time_of(row["started_at"]), "ended_at": ended}
        return ProviderCall(run=state.run, token=uuid4(), lease_until=ended, **where.fitting(ProviderCall, values))

    def measure(row: dict[str, Any], where: Where) -> Measurement | None:
        """The run's own backend measured anew while we read; what slower ones said is taken from the archive."""
        here = row["backend"] == state.run.measure_backend and row["sample_id"] in state.measured
        own = state.measured.pop(row["sample_id"]) if here else {}
        if here and not own and state.run.is_measured:
            return None
        values = {**row, "values": own or row["values"], "measured_at": time_of(row["measured_at"])}
        return Measurement(**where.fitting(Measurement, values))

    def reading(row: dict[str, Any], where: Where) -> Reading:
        return Reading(**where.fitting(Reading, {**row, "replaced_at": time_of(row["replaced_at"])}))

    for member, make in (("calls.jsonl", call), ("measures.jsonl", measure), ("extractions.jsonl", reading)):
        for _ in made(state, member, make, samples=("sample",)):
            pass
    save_measurements(load_run(state.run.pk), state.measured.items())


def _load_judges(state: ImportState) -> None:
    """Seats without a user: nobody can log in as a judge of an archive."""

    def make(row: dict[str, Any], where: Where) -> Seat:
        values = {**row, "pseudonym": row["judge"], "is_unknown": row["unknown"], "is_simulated": row["simulated"]}
        values.pop("judge")
        return Seat(run=state.run, **where.fitting(Seat, {**values, "joined_at": time_of(row["joined_at"])}))

    state.seats = {row.pseudonym: row.pk for row in made(state, "judges.jsonl", make)}


LOADERS = (
    _load_models,
    _load_prompts,
    _load_entrants,
    _load_samples,
    _load_of_samples,
    _load_judges,
)
