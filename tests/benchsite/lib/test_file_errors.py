"""What a reader is told of a bad file."""

from __future__ import annotations

import pytest

from benchsite.lib.file_errors import LONGEST, BadLine, BadLines, FileError


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (FileError("a.jsonl", 3, "judge", "is missing"), "a.jsonl, line 3, judge: is missing"),
        (FileError("a.jsonl", 0, "", "there is no vote in it."), "a.jsonl: there is no vote in it."),
        (BadLine("a.jsonl", 3, "judge", "is missing"), "a.jsonl:3: judge is missing."),
        (BadLine("a.zip", 0, "", "is no zip"), "a.zip: is no zip."),
        (BadLine("\x1b[2J", 0, "", "is no zip"), "␛[2J: is no zip."),
    ],
)
def test_sentence_names_file_line_and_field(error, sentence):
    assert str(error) == sentence


def test_three_of_many_bad_lines_are_said():
    error = BadLines([BadLine("a.jsonl", n, "", "is bad") for n in range(1, 6)])

    assert str(error) == "Nothing was imported. a.jsonl:1: is bad. a.jsonl:2: is bad. a.jsonl:3: is bad. And 2 more."
    assert len(error.bad) == 5


def test_sentence_is_never_as_long_as_the_file():
    assert len(str(BadLine("a.jsonl", 1, "x" * 10_000, "is not known"))) == LONGEST
