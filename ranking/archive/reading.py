"""Opening an archive from anywhere: every name, size, checksum and line is checked before a row is believed."""

from __future__ import annotations

import hashlib
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Protocol, cast

from benchsite.lib.file_errors import BadLine
from benchsite.lib.files import BROKEN_ZIP
from benchsite.lib.json_lines import JsonError, read_object
from generation.protocols import PROTOCOLS
from ranking.archive.fields import DOCUMENTS, FORMAT, MANIFEST, PAPER_NAME, RUN, SCHEMA, Field
from ranking.archive.members import lines_of, optional_files

LONGEST_LINE = 64 << 20
LARGEST_DOCUMENT = 32 << 20
# An honest archive of little text is small, and a large one does not shrink 200 times; a bomb does both.
LARGEST_SMALL = 1 << 30
LARGEST_RATIO = 200


class Opened(Protocol):
    """What an import reads: an archive, or something else read as one."""

    @property
    def path(self) -> Path: ...
    @property
    def manifest(self) -> dict[str, Any]: ...
    @property
    def run(self) -> dict[str, Any]: ...
    @property
    def suite(self) -> dict[str, Any]: ...
    def rows(self, member: str) -> Iterator[tuple[int, dict[str, Any]]]: ...


@dataclass(frozen=True)
class Archive:
    """An archive whose every byte was compared with its manifest."""

    path: Path
    manifest: dict[str, Any]
    run: dict[str, Any]
    suite: dict[str, Any]

    def rows(self, member: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """(line number, checked row) of a file; memory does not grow with it."""
        if member not in self.manifest["members"]:
            return
        fields = lines_of(list(PROTOCOLS))[member]
        with _opened(self.path) as archive, archive.open(member) as file:
            for number, line in enumerate(_lines(file, member), start=1):
                yield number, _row(line, fields, member, number)


def open_archive(path: Path, *, largest: int = LARGEST_SMALL) -> Archive:
    """Raises BadLine; nothing of an archive is ever written to a file by its own name."""
    with _opened(path) as archive:
        _check_names(archive, path, largest)
        manifest = _check_manifest(_document(archive, MANIFEST))
        _check_listed(manifest, [])
        _check_members(archive, manifest)
        run, suite = (_document(archive, name) for name in DOCUMENTS)
    _check_fields(run, RUN, "run.json", 0)
    _check_listed(manifest, run["protocols"])
    return Archive(path, manifest, run, suite)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The zip, with one message for every way it can be broken; encrypted members raise RuntimeError."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except BadLine:  # a ValueError too, and already clear
        raise
    except BROKEN_ZIP as error:
        raise _broken(path, error) from error


def _broken(path: Path, error: BaseException) -> BadLine:
    if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
        return BadLine(str(path), 0, "", f"cannot be read: {error.strerror}")
    return BadLine(path.name, 0, "", "is not a whole zip; it may be cut short or damaged")


def _check_names(archive: zipfile.ZipFile, path: Path, largest: int) -> None:
    names = [info.filename for info in archive.infolist()]
    seen = Counter(names)
    known = {MANIFEST, *DOCUMENTS, *lines_of(list(PROTOCOLS))}
    for name in seen:
        if name not in known and not PAPER_NAME.fullmatch(name):
            raise BadLine(name[:100], 0, "", "is not a file of a run's archive")
        if seen[name] > 1:
            raise BadLine(name, 0, "", "is in the archive twice")
    if MANIFEST not in names:
        raise BadLine(path.name, 0, "", "has no manifest.json, so it is not a run's archive")
    whole = sum(info.file_size for info in archive.infolist())
    if whole > max(largest, LARGEST_RATIO * path.stat().st_size):
        raise BadLine(path.name, 0, "", f"would unpack to {whole} bytes, which no run's archive of its size does")


def _document(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    if archive.getinfo(name).file_size > LARGEST_DOCUMENT:
        raise BadLine(name, 0, "", f"is over {LARGEST_DOCUMENT} bytes")
    return _object(archive.read(name), name, 0)


def _check_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    if manifest.get("format") != FORMAT:
        raise BadLine(MANIFEST, 0, "", "does not say that this is a run's archive")
    if manifest.get("schema") != SCHEMA:
        schema = manifest.get("schema")
        raise BadLine(
            MANIFEST, 0, "", f"has schema {schema!r} and this release reads {SCHEMA}; use the release that wrote it"
        )
    members = manifest.get("members")
    if not isinstance(members, dict) or not all(
        isinstance(member, dict) and isinstance(member.get("sha256"), str) and isinstance(member.get("bytes"), int)
        for member in members.values()
    ):
        raise BadLine(MANIFEST, 0, "", "does not list the files with their sizes and checksums")
    return manifest


def _check_listed(manifest: dict[str, Any], protocols: list[str]) -> None:
    if missing := sorted({*DOCUMENTS, *lines_of(protocols)} - optional_files() - set(manifest["members"])):
        raise BadLine(MANIFEST, 0, "", f"does not list {missing[0]}")


def _check_members(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
    inside = {info.filename for info in archive.infolist()} - {MANIFEST}
    if odd := sorted(inside.symmetric_difference(manifest["members"])):
        raise BadLine(odd[0], 0, "", "is in the archive or in its manifest, and not in both")
    for name, member in manifest["members"].items():
        with archive.open(name) as file:
            digest = hashlib.file_digest(cast(BufferedReader, file), "sha256").hexdigest()
        if digest != member["sha256"] or archive.getinfo(name).file_size != member["bytes"]:
            raise BadLine(name, 0, "", "differs from its checksum; take the archive again")


def _lines(file: Any, member: str) -> Iterator[bytes]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise BadLine(member, number, "", f"is over {LONGEST_LINE} bytes")
        yield line


def _row(line: bytes, fields: dict[str, Field], member: str, number: int) -> dict[str, Any]:
    row = _object(line, member, number)
    _check_fields(row, fields, member, number)
    return row


def _check_fields(row: dict[str, Any], fields: dict[str, Field], member: str, number: int) -> None:
    for name, field in fields.items():
        if name not in row:
            if not field.may_be_absent:
                raise BadLine(member, number, name, "is missing")
        elif fault := field.fault(row[name]):
            raise BadLine(member, number, name, fault)


def _object(data: bytes, member: str, number: int) -> dict[str, Any]:
    try:
        return read_object(data.decode())
    except UnicodeDecodeError:
        raise BadLine(member, number, "", "is not UTF-8") from None
    except JsonError as error:
        raise BadLine(member, number, "", str(error)) from None
