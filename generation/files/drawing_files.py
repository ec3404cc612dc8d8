"""Drawings as files, a folder of them or a zip: each name says model, subject and attempt, and each file is a line.

`MODEL/SUBJECT.svg` or `MODEL/SUBJECT-2.svg` (a model's id may have slashes), or `MODEL__SUBJECT__2.svg`.
"""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from benchsite.lib.file_errors import BadLine
from benchsite.lib.files import BROKEN_ZIP
from benchsite.lib.text import decode
from generation.files.sample_lines import MOST_ATTEMPTS, NO_MODEL_NAME, SampleLine, is_model_name, slug
from generation.models import Prompt, Run

LARGEST_FILE = 8 * 2**20
LARGEST_ZIP = 256 * 2**20  # unpacked
FILE_NAME = re.compile(r"(?P<subject>.+?)(?:[-_ ](?P<attempt>\d{1,3}))?")


@dataclass(frozen=True)
class _File:
    """One drawing that is not read yet."""

    name: PurePosixPath
    size: int
    is_plain: bool
    read: Callable[[], bytes]


def read_folder(folder: Path, run: Run) -> tuple[list[SampleLine], list[BadLine]]:
    """Every .svg below a folder that can be read, and every one that cannot."""
    files = (
        _File(
            name=PurePosixPath(path.relative_to(folder)),
            size=path.lstat().st_size,
            is_plain=path.is_file() and not path.is_symlink(),
            read=path.read_bytes,
        )
        for path in sorted(folder.rglob("*.svg"))
    )
    return _read_files(files, run, f"{folder.name}", "folder")


def read_zip(path: Path, run: Run) -> tuple[list[SampleLine], list[BadLine]]:
    """As of a folder. Nothing is unpacked to the disk, and nothing that would be too large is unpacked at all."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = _drawings(archive)
            whole = sum(info.file_size for info in members)
            if whole > LARGEST_ZIP:
                return [], [
                    BadLine(path.name, 0, "", f"its drawings would unpack to {whole} bytes, over {LARGEST_ZIP}")
                ]
            return _read_files(_unpacked(archive, members, path.stem), run, path.name, "zip")
    except BROKEN_ZIP:
        return [], [BadLine(path.name, 0, "", "this is not a whole zip without a password; it may be cut short")]


def _drawings(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """What a folder would have; macOS adds a shadow of every file."""
    drawings = [info for info in archive.infolist() if info.filename.endswith(".svg")]
    drawings = [info for info in drawings if not info.filename.startswith("__MACOSX/")]
    return sorted(drawings, key=lambda info: info.filename)


def _unpacked(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], stem: str) -> Iterator[_File]:
    """A zip that was made of a folder, and has its name, holds that folder: it is no part of a model's name."""
    names = [PurePosixPath(info.filename.replace("\\", "/")) for info in members]
    wrapped = all(len(name.parts) > 1 and name.parts[0] == stem for name in names)
    for info, name in zip(members, names, strict=True):
        yield _File(
            name=name.relative_to(stem) if wrapped else name,
            size=info.file_size,
            is_plain=not stat.S_ISLNK(info.external_attr >> 16) and not name.is_absolute() and ".." not in name.parts,
            read=partial(archive.read, info),
        )


def _read_files(files: Iterable[_File], run: Run, source: str, kind: str) -> tuple[list[SampleLine], list[BadLine]]:
    subjects = {slug(name): prompt for prompt in run.prompts.all() for name in (prompt.subject, prompt.key) if name}
    lines: list[SampleLine] = []
    bad: list[BadLine] = []
    for number, file in enumerate(files, start=1):
        line = _read_file(file, number, subjects)
        if isinstance(line, BadLine):
            bad.append(line)
        else:
            lines.append(line)
    if not lines and not bad:
        bad.append(BadLine(source, 0, "", f"there is no .svg file in this {kind}"))
    return lines, bad


def _read_file(file: _File, number: int, subjects: dict[str, Prompt]) -> SampleLine | BadLine:
    name = file.name
    if not file.is_plain:
        return BadLine(str(name), 0, "", "this is not a plain file")
    if file.size > LARGEST_FILE:
        return BadLine(str(name), 0, "", f"the file is over {LARGEST_FILE} bytes")
    parts = name.stem.split("__") if len(name.parts) == 1 else [name.parent.as_posix(), name.stem]
    if len(parts) == 3 and parts[2].isdigit():
        parts = [parts[0], f"{parts[1]}-{parts[2]}"]
    if len(parts) != 2:
        return BadLine(str(name), 0, "", "the name does not say model and subject, as in MODEL/SUBJECT-1.svg")
    if not is_model_name(parts[0]):
        return BadLine(str(name), 0, repr(parts[0])[:60], NO_MODEL_NAME)
    match = FILE_NAME.fullmatch(parts[1])
    whole = subjects.get(slug(parts[1]))  # a subject may itself end in a number
    prompt = whole or (subjects.get(slug(match["subject"])) if match else None)
    if prompt is None:
        return BadLine(str(name), 0, "", f"no prompt of this run is about {parts[1]!r}")
    attempt = 1 if whole or not match or not match["attempt"] else int(match["attempt"])
    if not 1 <= attempt <= MOST_ATTEMPTS:
        return BadLine(str(name), 0, "", f"the attempt is not a whole number from 1 to {MOST_ATTEMPTS}")
    text, _ = decode(file.read())
    return SampleLine(number, parts[0], prompt.text, attempt, text, category=prompt.category, source=str(name))
