"""A run's archive: one zip with everything, streamed, so that memory stays flat however many votes there are."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from datetime import datetime
from io import RawIOBase
from itertools import islice
from pathlib import Path
from typing import Any

import yaml
from django.utils.timezone import now

from benchsite.lib.database.snapshots import snapshot
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.version import VERSION, signed, stamped
from generation.models import Run
from generation.protocols import Protocol, load, protocols_of
from generation.runs.loaded import whole_config
from ranking.archive.fields import FORMAT, MANIFEST, RUN, SCHEMA, readme
from ranking.archive.lines import ROWS
from ranking.archive.members import counts_of, lines_of, members_of
from ranking.fitting import fit_options
from ranking.models import Counting, Fit

BLOCK = 500  # lines compressed at a time


class _Sink(RawIOBase):
    """What a zip is written to; `take` gives away what has gathered."""

    def __init__(self) -> None:
        self._gathered: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._gathered.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        return

    def take(self) -> Iterator[bytes]:
        gathered, self._gathered = self._gathered, []
        yield from gathered


def archive_chunks(run: Run, *, progress: Progress = unwatched) -> Iterator[bytes]:
    """The archive's bytes, portion by portion, all of one moment of the database."""
    sink, members, done = _Sink(), {}, 0
    made = now()
    with snapshot(), zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        total = sum(counts_of(run).values())
        for name, blocks in _members(run):
            digest, size, lines = hashlib.sha256(), 0, 0
            with archive.open(_info(name, made), "w", force_zip64=True) as member:
                for block, count in blocks:
                    member.write(block)
                    digest.update(block)
                    size, lines, done = size + len(block), lines + count, done + count
                    progress(done, total)
                    yield from sink.take()
            members[name] = {"bytes": size, "lines": lines, "sha256": digest.hexdigest()}
        archive.writestr(_info(MANIFEST, made), json.dumps(_manifest(run, made, members), indent=1))
    yield from sink.take()


def write_archive(run: Run, path: Path, *, progress: Progress = unwatched) -> int:
    """Write the archive to a file, whole or not at all; says how many bytes."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            size = sum(file.write(chunk) for chunk in archive_chunks(run, progress=progress))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return size


def _info(name: str, made: datetime) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, made.timetuple()[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _manifest(run: Run, made: datetime, members: dict[str, Any]) -> dict[str, Any]:
    about = {
        "format": FORMAT,
        "benchsite_version": VERSION,
        "schema": SCHEMA,
        "run": run.code,
        "suite": run.suite,
        "title": str(run),
    }
    return {**about, "made_at": made.isoformat(), "members": members}


def _members(run: Run) -> Iterator[tuple[str, Iterator[tuple[bytes, int]]]]:
    """Every file with its blocks: documents first, so that a reader sees at once what it is."""
    config = whole_config(run)
    written = ["README.md"]
    for name, text in _papers(run, config):
        written.append(name)
        yield name, iter([(text.encode(), 0)])
    members = [member for member in members_of(run.protocols) if not member.optional or member.count(run)]
    rows_of_files = ROWS | {member.name: member.rows for member in members}
    text = readme(str(run), written=[*written, *rows_of_files], lines=lines_of(run.protocols))
    yield "README.md", iter([(text.encode(), 0)])
    for name, rows in rows_of_files.items():
        yield name, _blocks(rows(run))


def _papers(run: Run, config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """One after the other, so that a download has begun while its leaderboards are computed."""
    yield "run.json", dumped(run_document(run), indent=1)
    yield "suite.json", dumped(config, indent=1)
    yield "suite.yaml", yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=120)
    yield from leaderboard_papers(run).items()


def _blocks(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[bytes, int]]:
    while portion := list(islice(rows, BLOCK)):
        yield "".join(f"{dumped(row)}\n" for row in portion).encode(), len(portion)


def dumped(value: Any, *, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, default=_time, indent=indent, allow_nan=False)


def _time(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(type(value).__name__)


def run_document(run: Run) -> dict[str, Any]:
    counting = Counting.objects.filter(run=run).first() or Counting(run=run)
    chosen = {"ties": counting.ties, "fails": counting.fails, "adaptive_pairs": run.was_adaptive}
    return {name: chosen[name] if name in chosen else getattr(run, name) for name in RUN}


def leaderboard_papers(run: Run) -> dict[str, str]:
    """The leaderboard of each protocol in every form it is written in; the first protocol's have plain names."""
    papers: dict[str, str] = {}
    for place, (name, entry) in enumerate(protocols_of(run).items()):
        result, tail = leaderboard_result(run, name, entry), f"-{name}" if place else ""
        forms = result.get("run", {})
        papers[f"leaderboard{tail}.json"] = (
            dumped(stamped({key: value for key, value in result.items() if key != "run"}), indent=1) + "\n"
        )
        papers |= {f"LEADERBOARD{tail}.md": signed(forms["md"])} if forms.get("md") else {}
        papers |= {f"standings{tail}.csv": forms["csv"]} if forms.get("csv") else {}
    return papers


def leaderboard_result(run: Run, protocol: str, entry: Protocol) -> dict[str, Any]:
    """The newest full fit if nothing changed since; else one from the tallies, which a million votes do not slow down."""
    fit = Fit.objects.filter(settings__until=None).newest(run, protocol, kind=Fit.Kind.FULL)
    if fit and (run.scores_changed_at is None or fit.read_at >= run.scores_changed_at):
        return fit.result
    return load(entry.analyse)(run, options=fit_options(run), full=not entry.slow)
