"""An archive becomes a run of this site: in one transaction, whole or not at all. It never draws and nobody judges it further."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils.timezone import now

from generation.codes import ALPHABET
from generation.config import Suite
from generation.formats import FORMATS
from generation.models import Entrant, Event, LanguageModel, Measurement, Prompt, ProviderCall, Reading, Run, Sample
from judging.models import Grade, Matchup, Seat, Vote
from judging.tallies import rebuild_tallies
from ranking.archive_reading import Archive, ArchiveError, open_archive
from ranking.archive_storing import Where, fitting, guarded, portions, store
from ranking.models import Counting

PROTOCOLS = {"pairwise", "rubric", "automatic"}
PROVIDER = "import"
Line = tuple[int, dict[str, Any]]
Progress = Callable[[int, int], None]


@dataclass
class Desk:
    """One import at work: the new run, and where its rows are by the names the archive uses."""

    archive: Archive
    run: Run
    renames: bool
    progress: Progress
    total: int
    done: int = 0
    models: dict[str, int] = field(default_factory=dict)
    prompts: dict[str, int] = field(default_factory=dict)
    entrants: dict[str, int] = field(default_factory=dict)
    seats: dict[str, int] = field(default_factory=dict)

    def code(self, given: str) -> str:
        """Public ids stay, unless this site has the run already: then each becomes another, always the same one."""
        if not self.renames:
            return given
        number = int.from_bytes(blake2b(f"{self.run.code}|{given}".encode(), digest_size=16).digest())
        return "".join(ALPHABET[number // len(ALPHABET) ** place % len(ALPHABET)] for place in range(12))


def import_run(path: Path, *, copy: bool = False, by: Any = None, progress: Progress = lambda done, total: None) -> Run:
    """A new run with the archive's leaderboard; with `copy` also where this site has that run already."""
    archive = open_archive(path)
    taken = Run.objects.filter(code=archive.run["code"]).exists()
    if taken and not copy:
        raise ArchiveError(
            f"is run {archive.run['code']}, which is here already; add --copy for a second one", member=path.name
        )
    total = sum(said["lines"] for said in archive.manifest["members"].values() if isinstance(said.get("lines"), int))
    with transaction.atomic():
        run = _make_run(archive, keep_code=not taken)
        desk = Desk(archive, run, taken, progress, total)
        for load in LOADERS:
            load(desk)
        _count_seats(run)
        rebuild_tallies(run)
        facts = {"run": archive.run["code"], "made_at": archive.manifest.get("made_at"), "file": path.name}
        Event.objects.create(run=run, actor=by, verb="import_run", facts=facts)
    return run


def _make_run(archive: Archive, *, keep_code: bool) -> Run:
    said = archive.run
    try:
        Suite.from_dict(archive.suite)
    except Exception as error:  # a suite of another shape fails in as many ways as it has fields
        raise ArchiveError(f"is not a suite ({type(error).__name__}: {error})", member="suite.json") from error
    if said["format"] not in FORMATS:
        raise ArchiveError(f"{said['format']!r} is not a format of this site", member="run.json", field="format")
    if not said["protocols"] or not set(map(str, said["protocols"])) <= PROTOCOLS:
        raise ArchiveError("names a protocol that this site does not know", member="run.json", field="protocols")
    same = ("suite", "title", "label", "format", "protocols", "digest", "is_demo", "measure_backend", "spent_nano")
    values = {name: said[name] for name in same} | ({"code": said["code"]} if keep_code else {})
    run = Run(
        **fitting(Run, values, "run.json", 0),
        config=archive.suite,
        drawing_state=Run.Drawing.CANCELLED,
        judging_state=Run.Judging.NOT_OPEN if said["judging_state"] == "not_open" else Run.Judging.CLOSED,
        budget_nano=said["budget_nano"],
        created_at=_time(said["created_at"]),
        finished_at=_time(said["finished_at"]) or now(),
        scores_changed_at=now(),
    )
    store([(0, run)], "run.json")
    counting = Counting(run=run, **fitting(Counting, {"ties": said["ties"], "fails": said["fails"]}, "run.json", 0))
    counting.save()
    return run


def _load_models(desk: Desk) -> None:
    """Without addresses or keys: whoever made the archive must not choose where this site sends its key."""

    def make(row: dict[str, Any], where: Where) -> LanguageModel:
        profile = {"name": row["provider"], "base_url": "", "kind": PROVIDER}
        return LanguageModel(run=desk.run, profile=profile, **where.fitting(LanguageModel, row))

    desk.models = {row.model_id: row.pk for row in _made(desk, "models.jsonl", make)}


def _load_prompts(desk: Desk) -> None:
    def make(row: dict[str, Any], where: Where) -> Prompt:
        values = {**row, "key": row["prompt"], "code": desk.code(row["code"])}
        return Prompt(run=desk.run, **where.fitting(Prompt, values))

    desk.prompts = {row.key: row.pk for row in _made(desk, "prompts.jsonl", make)}


def _load_entrants(desk: Desk) -> None:
    def make(row: dict[str, Any], where: Where) -> Entrant:
        model = where.known(desk.models, "model_id", optional=True)
        values = {**row, "name": row["entrant"], "code": desk.code(row["code"])}
        values.pop("model_id")
        return Entrant(run=desk.run, model_id=model, **where.fitting(Entrant, values))

    desk.entrants = {row.name: row.pk for row in _made(desk, "entrants.jsonl", make)}


def _place(desk: Desk, row: dict[str, Any], where: Where) -> dict[str, Any]:
    return {
        "run": desk.run,
        "entrant_id": where.known(desk.entrants, "entrant"),
        "model_id": where.known(desk.models, "model_id"),
        "prompt_id": where.known(desk.prompts, "prompt"),
        "attempt": row["attempt_number"],
        "code": desk.code(row["sample"]),
    }


READ = ("reason", "detail", "flags", "facts", "format_version")


def _load_samples(desk: Desk) -> None:
    def make(row: dict[str, Any], where: Where) -> Sample:
        same = (*READ, "finish_reason", "completion_tokens", "earlier_answers", "imported", "held", "excluded_reason")
        try:
            raw = base64.b64decode(row["raw_base64"] or "", validate=True)
        except (binascii.Error, ValueError):
            raise where.error("raw_base64", "is not base64") from None
        return Sample(
            **_place(desk, row, where),
            state=Sample.State.DRAWN,
            verdict=Sample.Verdict.VALID if row["valid"] else Sample.Verdict.INVALID,
            answer=row["raw_output"],
            raw=raw or row["raw_output"].encode(),
            drawing=row["sanitized_output"],
            drawn_at=_time(row["drawn_at"]),
            **where.fitting(Sample, {name: row[name] for name in same}),
        )

    def make_undrawn(row: dict[str, Any], where: Where) -> Sample:
        same = {name: row[name] for name in ("claims", "failure", "failure_detail")}
        state = Sample.State.FAILED if row["state"] == "failed" else Sample.State.CANCELLED
        return Sample(**_place(desk, row, where), state=state, **where.fitting(Sample, same))

    for _ in _made(desk, "database.jsonl", make):
        pass
    for _ in _made(desk, "undrawn.jsonl", make_undrawn):
        pass


def _load_of_samples(desk: Desk) -> None:
    """Calls, measures and old extractions: what refers to a sample and to nothing else."""

    def call(row: dict[str, Any], where: Where) -> ProviderCall:
        ended = _time(row["ended_at"]) or now()
        open_call = row["outcome"] == ProviderCall.Outcome.OPEN
        values = {**row, "outcome": ProviderCall.Outcome.UNKNOWN if open_call else row["outcome"]}
        values |= {"started_at": _time(row["started_at"]), "ended_at": ended}
        return ProviderCall(run=desk.run, token=uuid4(), lease_until=ended, **where.fitting(ProviderCall, values))

    def measure(row: dict[str, Any], where: Where) -> Measurement:
        return Measurement(**where.fitting(Measurement, {**row, "measured_at": _time(row["measured_at"])}))

    def reading(row: dict[str, Any], where: Where) -> Reading:
        return Reading(**where.fitting(Reading, {**row, "replaced_at": _time(row["replaced_at"])}))

    for member, make in (("calls.jsonl", call), ("measures.jsonl", measure), ("extractions.jsonl", reading)):
        for _ in _made(desk, member, make, samples=("sample",)):
            pass


def _load_judges(desk: Desk) -> None:
    """Seats without a user: nobody can log in as a judge of an archive."""

    def make(row: dict[str, Any], where: Where) -> Seat:
        values = {**row, "pseudonym": row["judge"], "is_unknown": row["unknown"], "is_simulated": row["simulated"]}
        values.pop("judge")
        return Seat(run=desk.run, **where.fitting(Seat, {**values, "joined_at": _time(row["joined_at"])}))

    desk.seats = {row.pseudonym: row.pk for row in _made(desk, "judges.jsonl", make)}


def _load_matchups(desk: Desk) -> None:
    repeats: list[tuple[int, str, str]] = []

    def make(row: dict[str, Any], where: Where) -> Matchup:
        code = desk.code(row["matchup"])
        if row["repeat_of"] is not None:
            repeats.append((where.line, code, desk.code(row["repeat_of"])))
        same = {name: row[name] for name in ("order", "kind", "state", "category", "key")}
        return Matchup(
            run=desk.run,
            code=code,
            seat_id=where.known(desk.seats, "judge"),
            prompt_id=where.known(desk.prompts, "prompt", optional=True),
            left_id=where.known(desk.entrants, "left_entrant"),
            right_id=where.known(desk.entrants, "right_entrant"),
            left_sample_id=row["left_sample"],
            right_sample_id=row["right_sample"],
            created_at=_time(row["created_at"]),
            opened_at=_time(row["opened_at"]),
            **where.fitting(Matchup, same),
        )

    for _ in _made(desk, "matchups.jsonl", make, samples=("left_sample", "right_sample")):
        pass
    for portion in portions(repeats):
        _link_repeats(desk, portion)


def _link_repeats(desk: Desk, portion: list[tuple[int, str, str]]) -> None:
    codes = {code for _, *pair in portion for code in pair}
    found = {row.code: row for row in Matchup.objects.filter(run=desk.run, code__in=codes)}
    for line, code, original in portion:
        if original not in found:
            raise ArchiveError(
                "is not a matchup of this archive", member="matchups.jsonl", line=line, field="repeat_of"
            )
        found[code].repeat_of = found[original]
    guarded(
        lambda: Matchup.objects.bulk_update([found[code] for _, code, _ in portion], ["repeat_of"]),
        "matchups.jsonl",
        portion[0][0],
    )


def _load_votes(desk: Desk) -> None:
    for portion in portions(desk.archive.rows("votes.jsonl")):
        codes = {desk.code(row["matchup"]) for _, row in portion}
        found = {
            code: (pk, seat)
            for code, pk, seat in Matchup.objects.filter(run=desk.run, code__in=codes).values_list(
                "code", "pk", "seat_id"
            )
        }
        rows = []
        for line, row in portion:
            where = Where("votes.jsonl", line, row)
            pk, seat = where.found(found, "matchup", desk.code(row["matchup"]))
            if row["withdrawn"] != (row["withdrawn_at"] is not None):
                raise where.error("withdrawn", "does not agree with withdrawn_at")
            times = {name: _time(row[name]) for name in ("voted_at", "withdrawn_at")}
            same = {
                name: row[name]
                for name in ("outcome", "response_ms", "unblind", "imported", "left_breaks", "right_breaks")
            }
            rows.append((line, Vote(run=desk.run, matchup_id=pk, seat_id=seat, **times, **where.fitting(Vote, same))))
        store(rows, "votes.jsonl")
        _advance(desk, len(rows))


def _load_grades(desk: Desk) -> None:
    def make(row: dict[str, Any], where: Where) -> Grade:
        values = {name: row[name] for name in ("dimension", "value", "imported", "sample_id")}
        times = {name: _time(row[name]) for name in ("graded_at", "withdrawn_at")}
        return Grade(run=desk.run, seat_id=where.known(desk.seats, "judge"), **times, **where.fitting(Grade, values))

    for _ in _made(desk, "grades.jsonl", make, samples=("sample",)):
        pass


LOADERS = (
    _load_models,
    _load_prompts,
    _load_entrants,
    _load_samples,
    _load_of_samples,
    _load_judges,
    _load_matchups,
    _load_votes,
    _load_grades,
)


def _made(
    desk: Desk, member: str, make: Callable[[dict[str, Any], Where], Any], *, samples: tuple[str, ...] = ()
) -> Iterator[Any]:
    """Rows made of a file's lines and stored, portion by portion; `samples` are fields that name a sample."""
    for portion in portions(desk.archive.rows(member)):
        if samples:
            _resolve(desk, portion, member, samples)
        rows = [(line, make(row, Where(member, line, row))) for line, row in portion]
        store(rows, member)
        _advance(desk, len(rows))
        for _, row in rows:
            yield row


def _resolve(desk: Desk, portion: list[Line], member: str, fields: tuple[str, ...]) -> None:
    """Put each sample's row number in place of its public id."""
    codes = {desk.code(row[name]) for _, row in portion for name in fields if row[name] is not None}
    found = dict(Sample.objects.filter(run=desk.run, code__in=codes).values_list("code", "pk"))
    for line, row in portion:
        where = Where(member, line, row)
        for name in fields:
            if row[name] is not None:
                row[f"{name}_id"] = row[name] = where.found(found, name, desk.code(row[name]))


def _advance(desk: Desk, lines: int) -> None:
    desk.done += lines
    desk.progress(desk.done, max(desk.total, desk.done))


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _count_seats(run: Run) -> None:
    """What a seat keeps count of, from the rows."""
    shown = (
        run.matchups.order_by().values("seat").annotate(made=Max("order") + 1, void=Count("id", filter=Q(state="void")))
    )
    for row in shown:
        Seat.objects.filter(pk=row["seat"]).update(made=row["made"], void=row["void"])
    standing = (
        run.votes.filter(withdrawn_at=None).order_by().values("seat").annotate(voted=Count("id"), last=Max("voted_at"))
    )
    for row in standing:
        Seat.objects.filter(pk=row["seat"]).update(voted=row["voted"], last_vote_at=row["last"])
