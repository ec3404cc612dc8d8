"""The files that protocols add to a run's archive: each lists its own as `MEMBERS` in `archive.py` of its ranking room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

from django.db.models import Model

from benchsite.lib.progress_bar import Progress
from generation.models import Run
from generation.protocols import PROTOCOLS, module_in
from judging.files.exports import write_records
from ranking.archive.fields import LINES, Field

if TYPE_CHECKING:
    from ranking.archive.storing import ImportState


@dataclass(frozen=True, kw_only=True)
class Member:
    """A file of JSON lines: the table it holds, how rows are written, and what reads them back into a new run.

    - `rows(run)` gives the lines; where it is `listed`, `rows(run, queryset)` those of a page of the API, which has them
      under the file's name without `.jsonl`, as `manage.py export` does.
    - `write` is for an export in other fields than the archive's.
    - `optional`: written only where there are rows; archives without it are whole. `total` counts them, if not by `table`.
    - `always`: in every run's archive, as in those of the first release, not only where the run has the protocol.
    """

    name: str
    table: type[Model]
    fields: dict[str, Field]
    rows: Callable[..., Iterator[dict[str, Any]]]
    load: Callable[[ImportState], None]
    write: Callable[..., int] | None = None
    listed: bool = True
    always: bool = False
    optional: bool = False
    total: Callable[[Run], int] | None = None

    @property
    def kind(self) -> str:
        return self.name.removesuffix(".jsonl")

    def count(self, run: Run) -> int:
        return self.total(run) if self.total else self.table._default_manager.filter(run=run).count()

    def export(self, run: Run, stream: TextIO, *, format: Any, names: bool, progress: Progress) -> int:
        """Write them all as JSON lines or CSV and say how many."""
        if self.write:
            return self.write(run, stream, format=format, names=names, progress=progress)
        total, rows = self.count(run), map(_plain, self.rows(run))
        return write_records(
            rows, tuple(self.fields), stream, format=format, progress=lambda done: progress(done, total)
        )


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


def all_members() -> dict[str, list[Member]]:
    """Every protocol's files, by the protocol's name."""
    modules = {name: module_in(entry.ranking_room, "archive") for name, entry in PROTOCOLS.items()}
    return {name: list(module.MEMBERS) for name, module in modules.items() if module}


def members_of(protocols: list[str]) -> list[Member]:
    """The files in the archive of a run with these protocols, in the order in which they are written and read."""
    return [
        member for name, members in all_members().items() for member in members if member.always or name in protocols
    ]


def listed_members() -> dict[str, Member]:
    """What the API lists and `export` writes, by kind."""
    return {member.kind: member for members in all_members().values() for member in members if member.listed}


def lines_of(protocols: list[str]) -> dict[str, dict[str, Field]]:
    """The fields of every file of lines in the archive of a run with these protocols."""
    return LINES | {member.name: member.fields for member in members_of(protocols)}


def optional_files() -> set[str]:
    return {member.name for members in all_members().values() for member in members if member.optional}


def counts_of(run: Run) -> dict[str, int]:
    """Rows by kind: samples, and what its protocols add."""
    return {"samples": run.samples.count()} | {member.kind: member.count(run) for member in members_of(run.protocols)}
