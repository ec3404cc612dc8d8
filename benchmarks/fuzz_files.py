"""The importers that the fuzz bench reads: samples, votes, grades, trials and whole runs, from files of anybody's making."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.fuzz_readers import ANY, FOLDER, Reader, corpus, damaged, encoded, pieces
from generation.config import load_suite
from generation.import_lines import read_lines as read_sample_lines
from generation.suite import Suite
from ranking.archive_fields import FORMAT, MANIFEST, SCHEMA
from ranking.archive_reading import NEEDED, ArchiveError, open_archive
from ranking.grade_files import GradeFileError, read_grades
from ranking.science_birds_files import TrialFileError, read_trials
from ranking.vote_files import VoteFileError, read_votes

TRIALS = b"""program,model,target,trial,stability,similarity,diversity,baseline
one,m,A,1,0.5,0.25,0.1,no
one,m,A,2,1,0,0.2,no
"""


def sample_lines() -> Reader:
    good = {"model_id": "a/b", "prompt_text": "Draw a cat", "attempt_number": 1, "raw_output": "```\n/\\\n```"}
    more = {**good, "category": "c", "finish_reason": "stop", "completion_tokens": 3, "program": "p"}
    texts = [encoded("\n".join(json.dumps(line) for line in (good, more))), *corpus("json")]

    def read(raw: bytes) -> Any:
        return read_sample_lines(io.BytesIO(raw), "file")

    def check(raw: bytes) -> bool:
        lines, bad = read(raw)
        assert all(str(line) for line in bad)
        rows = [
            {**asdict(line), "attempt_number": line.attempt, "raw_output": line.text, "program": line.program}
            for line in lines
        ]
        again, worse = read_sample_lines(io.BytesIO(b"".join(json.dumps(row).encode() + b"\n" for row in rows)), "file")
        kept = [{**asdict(line), "number": 0} for line in again]
        assert not (rows and worse), "what was read is refused"
        assert kept == [{**asdict(line), "number": 0} for line in lines], "a line does not read as itself"
        return bool(lines)

    inputs = damaged(texts) | (ANY | pieces('{"a":', "[", "]", "}", '"', "1e999", "NaN")).map(encoded)
    return Reader("sample lines", inputs, read, check, ['{"a":', "[", "{}\n", '"', "\\u0000", "9"])


def votes() -> list[bytes]:
    good = {"left_model": "a", "right_model": "b", "outcome": "left"}
    full = {**good, "judge": "j", "prompt_text": "p", "category": "c", "left_attempt": 1, "right_attempt": 2}
    full |= {"voted_at": "2026-05-01T12:00:00+00:00", "response_ms": 900, "kind": "shared", "withdrawn": False}
    early = {**full, "voted_at": "0001-01-01T00:00:00+14:00"}
    return [encoded("\n".join(json.dumps(line) for line in lines)) for lines in ((good, full), (full, full), (early,))]


def vote_importer() -> Reader:
    """The database's importer up to the rows it would store."""
    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(
            USE_TZ=True,
            INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "generation", "judging"],
        )
        django.setup()
    from judging.imports import ImportRefusedError, read_lines

    path = FOLDER / "votes.jsonl"

    def read(raw: bytes) -> Any:
        path.write_bytes(raw)
        try:
            return read_lines(path)
        except ImportRefusedError as refused:
            assert str(refused)
            return None

    def check(raw: bytes) -> bool:
        lines = read(raw)
        if lines is None:
            return False
        for line in lines:
            if line.voted_at is not None:
                line.voted_at.astimezone(UTC)  # as databases do
        rows = [{**asdict(line), "voted_at": line.voted_at and line.voted_at.isoformat()} for line in lines]
        assert read(b"".join(json.dumps(row).encode() + b"\n" for row in rows)) == lines, (
            "a vote does not read as itself"
        )
        return True

    return Reader("vote importer", damaged(votes()) | ANY.map(encoded), read, check, ['{"a":', "[", "{}\n", '"'])


def vote_files() -> Reader:
    """`analyse`'s reader, as JSON Lines and as CSV."""
    table = b"left_model,right_model,outcome,judge\na,b,left,j\nb,c,tie,k\n"

    def read(raw: bytes) -> Any:
        found = []
        for name in ("votes.jsonl", "votes.csv"):
            path = FOLDER / name
            path.write_bytes(raw)
            try:
                found.append(read_votes(path, skip_bad=True).votes)
            except VoteFileError as error:
                assert str(error)
        return found

    def check(raw: bytes) -> bool:
        return any(len(found) for found in read(raw))

    inputs = damaged([*votes(), table]) | ANY.map(encoded)
    return Reader("vote files", inputs, read, check, ['{"a":', "[", "{}\n", '"', ",", "\n", "a,b,left\n"])


def refuses(name: str, error: type[Exception], load: Callable[[Path], Any], texts: Sequence[bytes]) -> Reader:
    """A reader of one file that either reads it or raises its own error, with a sentence."""
    path = FOLDER / name

    def read(raw: bytes) -> Any:
        path.write_bytes(raw)
        try:
            return load(path)
        except error as refused:
            assert str(refused), "refused without a word"
            return None

    def check(raw: bytes) -> bool:
        return read(raw) is not None

    inputs = damaged(texts) | ANY.map(encoded)
    return Reader(name, inputs, read, check, ['{"a":', "[", "{}\n", '"', ",", "\n"])


def graded_suite() -> Suite:
    from tests.generation.suite_files import write_suite

    return load_suite(write_suite(FOLDER / "graded"))


def grades(suite: Suite) -> bytes:
    prompt = next(entry for entry in suite.prompts if entry.subject or entry.key)
    stage = next(stage for stage in suite.rubric.stages if stage.key == prompt.category)
    row = {"judge": "j", "entrant": "e", "stage": stage.key, "subject": prompt.subject or prompt.key, "attempt": 1}
    rows = [row | {"dimension": dimension.key, "value": 5} for dimension in stage.dimensions]
    return encoded("\n".join(json.dumps(one) for one in rows))


def archive() -> bytes:
    """A zip as `export all` makes it, as far as its manifest; its rows are empty."""
    members = {name: b"{}" if name.endswith(".json") else b"" for name in sorted(NEEDED)}
    listed = {name: {"sha256": sha256(text).hexdigest(), "bytes": len(text)} for name, text in members.items()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr(MANIFEST, json.dumps({"format": FORMAT, "schema": SCHEMA, "members": listed}))
        for name, text in members.items():
            file.writestr(name, text)
    return packed.getvalue()


def archive_cut(whole: bytes) -> list[bytes]:
    """The archive from several places on, so that damage reaches its directory at the end, too."""
    return [whole, *(whole[at:] for at in range(0, len(whole), 700))]


IMPORTERS = (
    sample_lines(),
    vote_importer(),
    vote_files(),
    refuses("grades.jsonl", GradeFileError, partial(read_grades, suite=(SUITE := graded_suite())), [grades(SUITE)]),
    refuses("trials.csv", TrialFileError, read_trials, [TRIALS]),
    refuses("run.zip", ArchiveError, open_archive, archive_cut(archive())),
)
