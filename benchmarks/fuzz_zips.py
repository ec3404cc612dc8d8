"""The zips that the fuzz bench reads: a run's archive, from its directory to its last row, and a backup's manifest."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.fuzz_files import refuses
from benchmarks.fuzz_readers import ANY, FOLDER, Reader, damaged, encoded
from ranking.archive_fields import FORMAT, LINES, MANIFEST, RUN, SCHEMA, Field
from ranking.archive_reading import NEEDED, ArchiveError, open_archive

MEMBERS = sorted(LINES)


def zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return packed.getvalue()


def archive(**changed: bytes) -> bytes:
    """A zip as `export all` makes it, with a manifest that fits; its rows are empty but for those given."""
    members = dict.fromkeys(sorted(NEEDED), b"")
    members |= {"run.json": encoded(json.dumps(example(RUN))), "suite.json": b"{}", **changed}
    listed = {name: {"sha256": sha256(text).hexdigest(), "bytes": len(text)} for name, text in members.items()}
    return zipped({MANIFEST: encoded(json.dumps({"format": FORMAT, "schema": SCHEMA, "members": listed})), **members})


def example(fields: dict[str, Field]) -> dict[str, Any]:
    """A row that has nothing wrong: for each field the first of a few values that it takes."""
    values = ("text", 1, 0.5, True, "2026-05-01T12:00:00+00:00", [], {}, None)
    return {name: next(value for value in values if not field.fault(value)) for name, field in fields.items()}


def cut(whole: bytes) -> list[bytes]:
    """The zip from several places on, so that damage reaches its directory at the end, too."""
    return [whole, *(whole[at:] for at in range(0, len(whole), 700))]


def archive_rows() -> Reader:
    """Every kind of row; the first byte says which file of the archive holds it."""
    path = FOLDER / "rows.zip"

    def read(raw: bytes) -> Any:
        member = MEMBERS[raw[0] % len(MEMBERS)] if raw else MEMBERS[0]
        path.write_bytes(archive(**{member: raw[1:]}))
        try:
            return list(open_archive(path).rows(member))
        except ArchiveError as refused:
            assert str(refused), "refused without a word"
            return None

    def check(raw: bytes) -> bool:
        rows = read(raw)
        if rows:
            text = b"".join(encoded(json.dumps(row)) + b"\n" for _, row in rows)
            assert [row for _, row in read(raw[:1] + text)] == [row for _, row in rows], "a row does not read as itself"
        return bool(rows)

    texts = [bytes([at]) + encoded(json.dumps(example(LINES[name]))) for at, name in enumerate(MEMBERS)]
    return Reader("archive rows", damaged(texts) | ANY.map(encoded), read, check, ['{"a":', "[", "{}\n", '"', "9"])


def backup() -> Reader:
    from benchsite.backups import FORMAT, PAYLOAD, VERSION, BackupError, Manifest, read_manifest

    digest = sha256(b"rows").hexdigest()
    manifest = Manifest(FORMAT, VERSION, "sqlite", "2026-05-01T12:00:00+00:00", digest, 4, ["generation.0001"], 1, 2)
    said = encoded(json.dumps(asdict(manifest)))
    whole = zipped({"manifest.json": said, PAYLOAD["sqlite"]: b"rows"})

    def read(path: Path) -> Any:
        """A file that is no zip is taken for the manifest of one."""
        if not zipfile.is_zipfile(path):
            path.write_bytes(zipped({"manifest.json": path.read_bytes(), PAYLOAD["sqlite"]: b"rows"}))
        return read_manifest(path)

    return refuses("site.zip", BackupError, read, [said, said, *cut(whole)])


ZIPS = (refuses("run.zip", ArchiveError, open_archive, cut(archive())), archive_rows(), backup())
