"""The whole database in one file: a zip with a manifest and what the database's own tools wrote.

The key of the site (var/secret_key) and the suites are not in it; docs/operations.md says how to keep those.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils.timezone import now

from benchsite.lib.database.snapshots import snapshot
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.version import VERSION
from generation.models import ProviderCall, Run

FORMAT = "benchsite-backup"
SCHEMA = 1
PAYLOAD = {"sqlite": "database.sqlite3", "postgresql": "database.pgdump"}
BLOCK = 1 << 20
# What a damaged zip, or a manifest that is none, raises; an encrypted member and endlessly nested JSON are RuntimeErrors.
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, TypeError, KeyError, AttributeError)
PAGES = 2048


class BackupError(Exception):
    """Why a backup cannot be made or restored, in one sentence with how to fix it."""


@dataclass(frozen=True)
class Manifest:
    """What a backup says about itself."""

    format: str
    version: int
    engine: str
    made_at: str
    sha256: str
    size: int
    migrations: list[str]
    runs: int
    calls: int
    benchsite_version: str = ""  # older backups have none


def back_up(path: Path, *, overwrite: bool = False, progress: Progress = unwatched, pages: int = PAGES) -> Manifest:
    """Write a backup to `path`, all or nothing, while the site runs."""
    if path.exists() and not overwrite:
        raise BackupError(f"{path} exists; name another file, or add --yes to replace it.")
    if connection.vendor not in PAYLOAD:
        raise BackupError(
            f"Backups support SQLite and PostgreSQL, not {connection.vendor}; use the database's own tools."
        )
    facts = _facts()
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)  # it holds e-mail addresses and password hashes
        with (
            zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive,
            _dumped(progress, pages) as source,
        ):
            sha256, size = _copy_in(archive, source, progress)
            manifest = Manifest(
                FORMAT, SCHEMA, connection.vendor, **facts, sha256=sha256, size=size, benchsite_version=VERSION
            )
            archive.writestr("manifest.json", json.dumps(asdict(manifest), indent=1))
        part.replace(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)
    return manifest


def _facts() -> dict[str, Any]:
    applied = MigrationRecorder(connection).applied_migrations()
    return {
        "made_at": now().isoformat(),
        "migrations": sorted(f"{app}.{name}" for app, name in applied),
        "runs": Run.objects.count(),
        "calls": ProviderCall.objects.count(),
    }


def _copy_in(archive: zipfile.ZipFile, source: IO[bytes], progress: Progress) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    whole = os.fstat(source.fileno()).st_size  # 0 for a pipe: pg_dump does not announce its size
    with archive.open(PAYLOAD[connection.vendor], "w", force_zip64=True) as member:
        while block := source.read(BLOCK):
            digest.update(block)
            size += len(block)
            member.write(block)
            progress(size, whole)
    return digest.hexdigest(), size


@contextmanager
def _dumped(progress: Progress, pages: int) -> Iterator[IO[bytes]]:
    if connection.vendor == "sqlite":
        with tempfile.TemporaryDirectory(prefix="benchsite-backup-") as folder:
            copy = Path(folder) / "copy.sqlite3"
            connection.ensure_connection()
            # SQLite's online backup restarts whenever others write between two steps, unless a snapshot is held.
            with closing(sqlite3.connect(copy)) as target, snapshot():
                MigrationRecorder.Migration.objects.exists()  # a deferred transaction begins with what it reads
                copy_pages(connection.connection, target, progress, pages=pages)
            with copy.open("rb") as file:
                yield file
        return
    with (
        tempfile.TemporaryFile() as errors,
        run_tool("pg_dump", ["--format=custom"], stdout=True, stderr=errors) as tool,
    ):
        assert tool.stdout
        yield tool.stdout
        if tool.wait():
            raise BackupError(f"pg_dump failed: {complaint(errors)}")


def copy_pages(
    source: sqlite3.Connection, target: sqlite3.Connection, progress: Progress, *, pages: int = PAGES
) -> None:
    source.backup(target, pages=pages, progress=lambda _status, left, total: progress(total - left, total), sleep=0.05)


@contextmanager
def run_tool(
    name: str, options: list[str], *, stdin: bool = False, stdout: bool = False, stderr: IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """One of PostgreSQL's own tools on our database; the password is passed in the environment, never on the command line."""
    program = shutil.which(name)
    if not program:
        raise BackupError(
            f"{name} is not on the PATH. Install PostgreSQL's client tools, or run on another host: {by_hand(name)}"
        )
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    command, environment = [program, "--no-password", *options], _tool_environment()
    tool = subprocess.Popen(
        command, env=environment, stdin=pipe if stdin else none, stdout=pipe if stdout else none, stderr=stderr
    )
    try:
        yield tool
    finally:
        if tool.poll() is None:
            tool.kill()
        for stream in (tool.stdin, tool.stdout):
            if stream:
                with suppress(BrokenPipeError):  # what was still to be sent to a tool that has ended
                    stream.close()
        tool.wait()


def _tool_environment() -> dict[str, str]:
    options = connection.settings_dict
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    return {**os.environ, **{name: str(options[key]) for name, key in names.items() if options.get(key)}}


def by_hand(name: str) -> str:
    database = connection.settings_dict["NAME"]
    if name == "pg_dump":
        return f"pg_dump --format=custom --file={database}.pgdump {database}"
    return f"pg_restore --clean --if-exists --no-owner --single-transaction --dbname={database} {database}.pgdump"


def complaint(file: IO[bytes]) -> str:
    """The line that names the error; what follows is detail."""
    file.seek(0)
    lines = file.read().decode(errors="replace").strip().splitlines()
    return next((line for line in lines if "error:" in line.lower()), lines[-1] if lines else "no message")


def read_manifest(path: Path) -> Manifest:
    """The manifest of a backup whose payload is whole; every fault is one sentence."""
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read("manifest.json"))
            if document.get("format") != FORMAT:
                raise BackupError(f"{path} is not a backup of a site.")
            if document.get("version") != SCHEMA:
                raise BackupError(
                    f"{path} is a backup of version {document.get('version')}; this release reads {SCHEMA}."
                )
            manifest = Manifest(**document)
            with archive.open(PAYLOAD[manifest.engine]) as payload:
                digest = hashlib.file_digest(payload, "sha256")  # type: ignore[arg-type]  # zipfile's stubs forget readinto
                if digest.hexdigest() != manifest.sha256:
                    raise BackupError(f"{path} is damaged: its checksum differs. Take another backup.")
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror or error}.") from error
    except BROKEN as error:
        raise BackupError(f"{path} is not a whole backup ({type(error).__name__}); it may be cut short.") from error
    return manifest
