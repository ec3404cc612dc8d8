"""The readers of votes that the fuzz bench reads: people's and models', for the database and for `analyse`."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from benchmarks.fuzz.readers import ANY, FOLDER, Reader, assert_storable, damaged, encoded, refuses
from benchsite.lib.file_errors import FileError
from judging.files.model_vote_lines import ModelVoteLine, read_model_votes
from judging.files.vote_files import read_vote_lines
from ranking.pairwise.files.votes import read_votes


def votes() -> list[bytes]:
    good = {"left_model": "a", "right_model": "b", "outcome": "left"}
    full = {**good, "judge": "j", "prompt_text": "p", "category": "c", "left_attempt": 1, "right_attempt": 2}
    full |= {"voted_at": "2026-05-01T12:00:00+00:00", "response_ms": 900, "kind": "shared", "withdrawn": False}
    early = {**full, "voted_at": "0001-01-01T00:00:00+14:00"}
    return [encoded("\n".join(json.dumps(line) for line in lines)) for lines in ((good, full), (full, full), (early,))]


def vote_importer() -> Reader:
    """The database's importer up to the rows it would store."""
    path = FOLDER / "imported-votes.jsonl"

    def read(raw: bytes) -> Any:
        path.write_bytes(raw)
        try:
            return read_vote_lines(path)[0]
        except FileError as refused:
            assert str(refused)
            return None

    def check(raw: bytes) -> bool:
        lines = read(raw)
        if lines is None:
            return False
        for line in lines:
            if line.voted_at is not None:
                line.voted_at.astimezone(UTC)  # as databases do
        rows = [json.dumps(asdict(line), default=datetime.isoformat) for line in lines]
        assert read("\n".join(rows).encode()) == lines, "a vote does not read as itself"
        return True

    return Reader("vote importer", damaged(votes()) | ANY.map(encoded), read, check, ['{"a":', "[", "{}\n", '"'])


def vote_files() -> Reader:
    """`analyse`'s reader, as JSON Lines and as CSV."""
    table = b"left_model,right_model,outcome,judge\na,b,left,j\nb,c,tie,k\n"
    numbers = (
        b"left_model,right_model,outcome,left_attempt,right_attempt,response_ms\na,b,left,1,2,900\nb,c,tie,,3,0.5\n"
    )

    def read(raw: bytes) -> Any:
        votes_read = []
        for name in ("votes.jsonl", "votes.csv"):
            path = FOLDER / name
            path.write_bytes(raw)
            try:
                votes_read.append(read_votes(path, skip_bad=True).votes)
            except FileError as error:
                assert str(error)
        return votes_read

    def check(raw: bytes) -> bool:
        votes_read, again = read(raw), read(raw)
        assert [repr(one) for one in votes_read] == [repr(one) for one in again], "votes read otherwise the second time"
        return any(len(one) for one in votes_read)

    inputs = damaged([*votes(), table, numbers]) | ANY.map(encoded)
    return Reader("vote files", inputs, read, check, ['{"a":', "[", "{}\n", '"', ",", "\n", "a,b,left\n"])


def model_votes() -> list[bytes]:
    row = {
        "judge": "j",
        "model": "m",
        "left_model": "a",
        "right_model": "b",
        "prompt_text": "Draw a cat",
        "answer": "left",
    }
    more = {
        **row,
        "left_model": "b",
        "right_model": "a",
        "answer": None,
        "unreadable": "?",
        "cost_nano": 5,
        "version": 1,
    }
    return [encoded("\n".join(json.dumps(line) for line in (row, more)))]


def storable_model_votes(lines: list[ModelVoteLine]) -> None:
    assert_storable(text for line in lines for text in (line.judge, line.model, line.prompt_text, line.reason))


VOTES = (
    refuses("model_votes.jsonl", FileError, read_model_votes, model_votes(), holds=storable_model_votes),
    vote_importer(),
    vote_files(),
)
