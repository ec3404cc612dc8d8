"""Restores a backup in one transaction, with every open run paused in that same transaction.

A restore forgets calls that were made and paid after the backup: their samples wait again. Workers may be running, so nothing
may be drawn until a person has read that and resumed the run; a second payment is then made knowingly.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import tempfile
import time
import zipfile
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import Sum
from django.utils.timezone import now

from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.operations.backups import (
    BLOCK,
    PAYLOAD,
    BackupError,
    Manifest,
    complaint,
    copy_pages,
    read_manifest,
    run_tool,
)
from generation.models import ProviderCall, Run
from generation.money import NANO
from judging.models import Vote

TRIES = 30
BUSY = ("lock timeout", "deadlock")  # what PostgreSQL says where others use the tables
# A run with nothing left to draw costs nothing; somebody would have to resume it for no reason.
DRAWING = """drawing_state = 'open' AND EXISTS (SELECT 1 FROM generation_sample WHERE generation_sample.run_id = generation_run.id
  AND generation_sample.state IN ('pending', 'asking'))"""
PAUSING = """
INSERT INTO generation_event (run_id, verb, subject, reason, facts, at)
  SELECT id, 'pause_run', '', :reason, '{"code": "restored"}', :at FROM generation_run WHERE :drawing;
UPDATE generation_run SET drawing_state = 'paused', paused_reason = :reason WHERE :drawing;
UPDATE generation_providercall SET outcome = 'unknown', ended_at = :at, error = 'restored',
  detail = 'In flight when the backup was made.' WHERE outcome = 'open';
UPDATE generation_sample SET state = 'pending', token = NULL, lease_until = NULL, failure = 'restored',
  failure_detail = 'In flight when the backup was made.' WHERE state = 'asking';
"""


@dataclass(frozen=True)
class Restored:
    """What a restore did: calls, their cost and votes that only the old database knew, and the runs it paused."""

    manifest: Manifest
    lost_calls: int | None
    lost_nano: int
    lost_votes: int
    paused: int
    migrated: bool


def restore(path: Path, *, overwrite: bool = False, progress: Progress = unwatched) -> Restored:
    """Replace the whole database with a backup's; the site and its workers may be running."""
    manifest = read_manifest(path)
    if manifest.engine != connection.vendor:
        raise BackupError(
            f"{path} is a backup of {manifest.engine} and this site runs on {connection.vendor}; "
            "take runs over one by one with `export all` and `import_run`."
        )
    older = _check_schema(path, manifest)
    if not overwrite and _has_runs():
        raise BackupError("This site has runs; a restore replaces all of it. Add --yes if that is what you want.")
    lost_calls, lost_nano, lost_votes = _lost_since(datetime.fromisoformat(manifest.made_at))
    script = pausing_script(manifest, lost_calls, lost_nano)
    (_restore_sqlite if connection.vendor == "sqlite" else _restore_postgres)(path, script, progress)
    connection.close()
    if older:
        call_command("migrate", verbosity=0)
    paused = Run.objects.filter(paused_reason__startswith=_opening(manifest)).count()
    return Restored(manifest, lost_calls, lost_nano, lost_votes, paused, older)


def _check_schema(path: Path, manifest: Manifest) -> bool:
    """Whether the backup is older than the code; a newer one is refused."""
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    stored = set(manifest.migrations)
    if unknown := sorted(stored - known):
        raise BackupError(f"{path} was made by a newer release (it has {unknown[0]}); upgrade first, then restore.")
    return stored != known


def _has_runs() -> bool:
    try:
        return Run.objects.exists()
    except DatabaseError:  # an empty database has no tables yet
        return False


def _lost_since(moment: datetime) -> tuple[int | None, int, int]:
    """What the current database has and the backup lacks; None if the current one cannot be read."""
    try:
        calls = ProviderCall.objects.filter(started_at__gt=moment)
        cost = calls.aggregate(sum=Sum("cost_nano", default=0))["sum"]
        return calls.count(), cost, Vote.objects.filter(voted_at__gt=moment).count()
    except DatabaseError:
        return None, 0, 0


def _opening(manifest: Manifest) -> str:
    return f"Restored from a backup of {manifest.made_at[:19].replace('T', ' ')} UTC"


def pausing_script(manifest: Manifest, lost_calls: int | None, lost_nano: int) -> str:
    """SQL for both databases: runs that draw paused with the reason, calls in flight given up, their samples released.

    A worker that still waits for such a call may yet settle it: its answer is stored and its cost booked, as after a lapsed
    lease. A call made after the backup has no row any more, so its answer is dropped.
    """
    calls = "an unknown number of" if lost_calls is None else f"{lost_calls}"
    cost = "" if lost_calls is None else f" (US${lost_nano / NANO:.4f} in all runs)"
    reason = f"{_opening(manifest)}; {calls} calls made since{cost} may be lost. Resume to draw again what they drew."
    moment = now().strftime("%Y-%m-%d %H:%M:%S.%f")
    zone = "" if connection.vendor == "sqlite" else "+00"
    at, quoted = f"'{moment}{zone}'", "'" + reason.replace("'", "''") + "'"
    return PAUSING.replace(":drawing", DRAWING).replace(":reason", quoted).replace(":at", at)


def _restore_sqlite(path: Path, script: str, progress: Progress) -> None:
    """Paused in a copy first, then written over the live file page by page under one lock; others see old or new."""
    with tempfile.TemporaryDirectory(prefix="benchsite-restore-") as folder:
        copy = Path(folder) / "copy.sqlite3"
        with zipfile.ZipFile(path) as archive, archive.open(PAYLOAD["sqlite"]) as payload, copy.open("wb") as file:
            while block := payload.read(BLOCK):
                file.write(block)
        try:
            with closing(sqlite3.connect(copy)) as source:
                if source.execute("PRAGMA quick_check").fetchone() != ("ok",):
                    raise BackupError(f"{path} holds a damaged database. Take another backup.")
                source.executescript(script)
                source.commit()
                connection.ensure_connection()
                copy_pages(source, connection.connection, progress)
        except sqlite3.Error as error:
            raise BackupError(f"The database could not be restored: {error}.") from error


def _restore_postgres(path: Path, script: str, progress: Progress) -> None:
    """One transaction: drop our tables, load the dump, pause. Workers wait for its locks and continue with the new rows."""
    head = _emptying(connection.introspection.table_names())
    connection.close()
    with tempfile.TemporaryDirectory(prefix="benchsite-restore-") as folder:
        dump = Path(folder) / "dump"
        with zipfile.ZipFile(path) as archive, archive.open(PAYLOAD["postgresql"]) as payload, dump.open("wb") as file:
            shutil.copyfileobj(payload, file, BLOCK)
        for attempt in range(1, TRIES + 1):
            with tempfile.TemporaryFile() as errors:
                if _run_postgres(dump, head, script, errors, progress) == 0:
                    return
                message = complaint(errors)
            if not any(words in message for words in BUSY):
                raise BackupError(f"psql could not restore: {message}. Nothing was changed.")
            time.sleep(0.1 * random.uniform(1, attempt))
    raise BackupError(
        "The tables are constantly in use. Stop the workers, wait for long exports, and try again. Nothing was changed."
    )


def _emptying(tables: list[str]) -> str:
    """Workers take the same locks in other orders, so we wait for less than the second after which PostgreSQL
    picks somebody's transaction to break a deadlock: it is always the restore that gives way and retries."""
    if not tables:
        return ""
    names = ", ".join(f'"{name}"' for name in tables)
    return (
        f"SET LOCAL lock_timeout = '500ms';\nLOCK TABLE {names} IN ACCESS EXCLUSIVE MODE;\n"
        f"SET LOCAL lock_timeout = 0;\nDROP TABLE {names} CASCADE;\n"
    )


def _run_postgres(dump: Path, head: str, script: str, errors: IO[bytes], progress: Progress) -> int:
    quiet = ["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--single-transaction", "--file=-"]
    # Extensions belong to whoever set the server up: a plain owner may not touch them.
    reading = ["--no-owner", "--no-privileges", "--no-comments", "--schema=public", "--file=-", str(dump)]
    sent = 0
    with run_tool("psql", quiet, stdin=True, stderr=errors) as psql:
        assert psql.stdin
        try:
            psql.stdin.write(head.encode())
            with run_tool("pg_restore", reading, stdout=True, stderr=errors) as tool:
                assert tool.stdout
                while block := tool.stdout.read(BLOCK):
                    psql.stdin.write(block)
                    sent += len(block)
                    progress(sent, 0)
                if tool.wait():
                    return 1
            psql.stdin.write(b"SET search_path = public;\n" + script.encode())
            psql.stdin.close()
        except BrokenPipeError:
            pass
        return psql.wait()
