"""The zips that the fuzz bench reads: a run's archive to its last row, a backup's manifest, drawings, and suites."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.fuzz.files import CONFIG, set_up_django
from benchmarks.fuzz.readers import ANY, FOLDER, YAML, Reader, assert_storable, damaged, encoded, refuses
from benchsite.lib.file_errors import FileError
from generation.protocols import PROTOCOLS
from generation.suites.yaml_source import SuiteError
from ranking.archive.fields import DOCUMENTS, FORMAT, MANIFEST, RUN, SCHEMA, Field

set_up_django()  # an archive's files are those of the tables that protocols keep

from ranking.archive.members import lines_of  # noqa: E402
from ranking.archive.reading import open_archive  # noqa: E402

LINES = lines_of(list(PROTOCOLS))
MEMBERS = sorted(LINES)


def zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return packed.getvalue()


def archive(**changed: bytes) -> bytes:
    """A zip as `export all` makes it, with a manifest that fits; its rows are empty but for those given."""
    members = dict.fromkeys(sorted((*DOCUMENTS, *LINES)), b"")
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
        except FileError as refused:
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
    from benchsite.operations.backups import FORMAT, PAYLOAD, SCHEMA, BackupError, Manifest, read_manifest

    digest = sha256(b"rows").hexdigest()
    manifest = Manifest(FORMAT, SCHEMA, "sqlite", "2026-05-01T12:00:00+00:00", digest, 4, ["generation.0001"], 1, 2)
    content = encoded(json.dumps(asdict(manifest)))
    whole = zipped({"manifest.json": content, PAYLOAD["sqlite"]: b"rows"})

    def read(path: Path) -> Any:
        """A file that is no zip is taken for the manifest of one."""
        if not zipfile.is_zipfile(path):
            path.write_bytes(zipped({"manifest.json": path.read_bytes(), PAYLOAD["sqlite"]: b"rows"}))
        return read_manifest(path)

    return refuses("site.zip", BackupError, read, [content, content, *cut(whole)])


def drawings() -> Reader:
    """Drawings named by model and subject, in a zip; what is no zip becomes a name in one, and a file in a folder."""
    from generation.files.drawing_files import read_folder, read_zip

    cat = SimpleNamespace(subject="cat", key="cat", text="Draw a cat", category="animal")
    run = SimpleNamespace(prompts=SimpleNamespace(all=lambda: [cat]))
    path, folder = FOLDER / "drawings.zip", FOLDER / "drawings"
    (folder / "m").mkdir(parents=True)

    def read(raw: bytes) -> Any:
        (folder / "m" / "cat-2.svg").write_bytes(raw)
        path.write_bytes(raw)
        if not zipfile.is_zipfile(path):
            path.write_bytes(zipped({raw.decode("utf-8", "replace").replace("\0", "")[:200] + ".svg": b"<svg/>"}))
        return read_zip(path, run), read_folder(folder, run)

    def check(raw: bytes) -> bool:
        (lines, bad), (kept, none) = read(raw)
        assert lines or bad, "nothing was said"
        assert all(str(line) for line in bad)
        assert_storable(text for line in (*lines, *kept) for text in (line.model_id, line.prompt_text))
        assert [line.attempt for line in kept] == [2] and not none, "a folder reads otherwise"
        return bool(lines)

    names = [b"m/cat", b"a/b/cat-3", b"m__cat__2", b"m/cat-2.svg"]
    whole = zipped({"m/cat.svg": b"<svg/>", "a/b/cat-2.svg": b"<svg>", "m__cat__3.svg": b""})
    return Reader(
        "drawings.zip", damaged([*names, *cut(whole)]) | ANY.map(encoded), read, check, ["m/", "cat-", "_", "<svg>"]
    )


def suites() -> Reader:
    """A suite as a curator sends it, in a zip."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    from generation.suites.uploads import read_suite

    folder = CONFIG / "pixel-art-lite"
    members = {path.name: path.read_bytes() for path in sorted(folder.glob("*.yaml"))}
    texts = [*members.values(), *cut(zipped(members))]

    def load(path: Path) -> Any:
        """What is no zip is taken for the models of a suite."""
        if not zipfile.is_zipfile(path):
            path.write_bytes(zipped({**members, "models.yaml": path.read_bytes()}))
        return read_suite([SimpleUploadedFile("suite.zip", path.read_bytes())], name="fuzz")

    return refuses("suite.zip", SuiteError, load, texts, YAML)


ZIPS = (refuses("run.zip", FileError, open_archive, cut(archive())), archive_rows(), backup(), drawings(), suites())
